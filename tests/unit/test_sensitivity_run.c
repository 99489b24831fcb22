/* A trace simulated on every machine of a sensitivity study. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/sensitivity_run.h"
#include "temporary.h"
#include "unit/straight_trace.h"

static char path[TEMPORARY_BYTES];

static int make_trace(void **state) {
    (void)state;
    const int file = mkstemp(temporary_name(path, "sensitivity"));
    return file >= 0 && close(file) == 0 && straight_trace_write(path) ? 0 : -1;
}

static int remove_trace(void **state) {
    (void)state;
    return unlink(path);
}

struct tried {
    struct watch watch;
    struct input_options input;
    struct machine_options options;
    struct machine_choice machines;
    struct sensitivity_run run;
    struct error error;
};

static bool try(struct tried *tried, const char *parameter) {
    int status = 0;
    struct sensitivity_run *run = &tried->run;
    tried->input = (struct input_options){.trace = path, .thread = -1};
    tried->options.machine = "boom-tea";
    run->watch = &tried->watch;
    run->input = &tried->input;
    run->machines = &tried->machines;
    run->jobs = 1;
    return machine_choice_load(&tried->machines, &tried->options, &tried->error) &&
           sensitivity_add(&run->study, parameter, &tried->error) &&
           sensitivity_run_begin(run, &tried->error) &&
           sensitivity_run_go(run, &status, &tried->error);
}

static void every_value_is_simulated(void **state) {
    (void)state;
    static struct tried tried;
    if (!try(&tried, "core.rob=64,128"))
        fail_msg("%s", tried.error.message);
    assert_int_equal(tried.run.study.run_count, 2);
    assert_int_equal(tried.run.instructions, STRAIGHT_INSNS);
    assert_false(tried.run.partial);
    assert_string_equal(tried.run.machine->name, "boom-tea");
    for (int i = 0; i < 2; i++)
        assert_int_equal(tried.run.study.runs[i].instructions, STRAIGHT_INSNS);
    sensitivity_run_free(&tried.run);
}

static void what_makes_no_machine_is_an_error(void **state) {
    (void)state;
    static struct tried tried;
    assert_false(try(&tried, "core.rob=64,0"));
    assert_non_null(strstr(tried.error.message, "core.rob"));
    sensitivity_run_free(&tried.run);
}

static void nothing_is_an_error_after_an_interrupt(void **state) {
    (void)state;
    static struct tried tried = {.watch = {.signal = SIGINT}};
    assert_false(try(&tried, "core.rob=64,128"));
    assert_non_null(strstr(tried.error.message, "interrupted"));
    sensitivity_run_free(&tried.run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_value_is_simulated),
                                       cmocka_unit_test(what_makes_no_machine_is_an_error),
                                       cmocka_unit_test(nothing_is_an_error_after_an_interrupt)};
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
