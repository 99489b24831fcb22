/* The tables of Python's functions: calls are told only where all of them were counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/python_report.h"

/* Of a run of 1000 cycles, in which a function of 400 was entered 77 times. */
static char *text_of(const struct simulation *simulation) {
    struct python_row row = {.function = "squares",
                             .path = "work.py",
                             .line = 18,
                             .units = 400 * CYCLE_UNITS,
                             .executions = 200,
                             .calls = 77};
    const struct python_rows rows = {.lines = &row,
                                     .functions = &row,
                                     .line_count = 1,
                                     .function_count = 1,
                                     .line_total = 1,
                                     .function_total = 1,
                                     .units = row.units};
    const struct report report = {.simulation = simulation, .python = &rows};
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const struct page page = page_of(file, false);
    python_report_draw(&report, &page);
    fclose(file);
    return text;
}

static void assert_calls(const struct simulation *simulation, bool told) {
    char *text = text_of(simulation);
    assert_non_null(strstr(text, "squares"));
    if ((strstr(text, "calls  Python function") != NULL) != told ||
        (strstr(text, " 77 ") != NULL) != told)
        fail_msg("%s", text);
    free(text);
}

static void calls_are_told_where_all_was_simulated(void **state) {
    (void)state;
    struct simulation simulation = {.cycles = 1000};
    assert_calls(&simulation, true);
    simulation.regions.count = 20;
    assert_calls(&simulation, false);
    simulation.regions.count = 0;
    simulation.levels = 3;
    assert_calls(&simulation, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_told_where_all_was_simulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
