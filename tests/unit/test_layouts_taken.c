/* What is said of a study of layouts when it has ended, and which command follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "report/layouts_taken.h"

static void runs_that_are_missing_are_noted(void **state) {
    (void)state;
    struct layouts_report report = {0};
    layouts_note(&report, &(struct layouts_run){.count = 10, .taken = {10}});
    assert_int_equal(report.report.note_count, 0);
    layouts_note(&report, &(struct layouts_run){.count = 10, .taken = {4}, .signal = 2, .lost = 1});
    assert_int_equal(report.report.note_count, 2);
    assert_string_equal(report.report.notes[0], "interrupted after 4 of 10 layouts");
    assert_string_equal(report.report.notes[1],
                        "under 1 layout the program went another way, which is left out");
    report_free(&report.report);
}

static void the_worst_layout_is_explained_next(void **state) {
    (void)state;
    char *words[] = {"culprit explain", NULL, NULL, "--", "./a prog", NULL};
    struct layouts_report report = {.spread = {.most = 7, .least_cycles = 100, .most_cycles = 120}};
    char *next = layouts_next(&report, 5, words);
    assert_non_null(next);
    assert_string_equal(next, "culprit explain --repeatable --layout 7 -- './a prog'");
    free(next);
    report.relinked = true;
    assert_null(layouts_next(&report, 5, words));
    report.relinked = false;
    report.spread.most_cycles = 100;
    assert_null(layouts_next(&report, 5, words));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_that_are_missing_are_noted),
                                       cmocka_unit_test(the_worst_layout_is_explained_next)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
