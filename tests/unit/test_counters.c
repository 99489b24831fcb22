/* Counting a command by the kernel's own events, which need no hardware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "live/counters.h"

static const int OWN[3] = {0, 0, 0};

static void need(enum counted_event event) {
    if (counters_have(event))
        return;
    printf("this machine does not count that (kernel.perf_event_paranoid?)\n");
    skip();
}

/* A shell and its child touch hundreds of pages. */
static void a_command_is_counted(void **state) {
    (void)state;
    need(COUNTED_FAULTS);
    char *const command[] = {"sh", "-c", "true | cat", NULL};
    const enum counted_event faults = COUNTED_FAULTS;
    uint64_t count = 0;
    struct error error = {0};
    if (!counters_run(command, OWN, &faults, &count, 1, &error))
        fail_msg("%s", error.message);
    assert_in_range(count, 50, 100000);
}

static void cycles_need_hardware(void **state) {
    (void)state;
    need(COUNTED_CYCLES);
    char *const command[] = {"true", NULL};
    const enum counted_event events[] = {COUNTED_CYCLES, COUNTED_INSTRUCTIONS};
    uint64_t counts[2] = {0};
    struct error error = {0};
    assert_true(counters_run(command, OWN, events, counts, 2, &error));
    assert_in_range(counts[0], 1000, 1000000000);
    assert_in_range(counts[1], 1000, 1000000000);
}

static void a_command_that_is_none(void **state) {
    (void)state;
    need(COUNTED_FAULTS);
    char *const command[] = {"/nonexistent/program", NULL};
    const enum counted_event faults = COUNTED_FAULTS;
    uint64_t count;
    struct error error = {0};
    assert_false(counters_run(command, OWN, &faults, &count, 1, &error));
    assert_non_null(strstr(error.message, "/nonexistent/program"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_counted),
        cmocka_unit_test(cycles_need_hardware),
        cmocka_unit_test(a_command_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
