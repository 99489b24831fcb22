/* The clock of each run, from readings between the runs: by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>

#include "study/host_runs.h"

static struct host_runs three(double first, double second, double third) {
    return (struct host_runs){.count = 3,
                              .runs = {{.user = first}, {.user = second}, {.user = third}}};
}

static void assert_cycles(const struct host_runs *runs, const double *cycles) {
    assert_int_equal(runs->count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(runs->runs[i].cycles == cycles[i]);
}

/* 4 4 1 4, their median 4: the runs beside the 1 would have had 2.5, and the second the least. */
static void a_clock_that_was_misread_is_left_out(void **state) {
    (void)state;
    struct host_runs runs = three(5, 5.5, 6);
    host_runs_conclude(&runs, (const double[]){4, 4, 1, 4});
    assert_cycles(&runs, (const double[]){20, 22, 24});
    assert_int_equal(runs.least, 0);
}

/* 4 4 2 2, their median 3: the first run was at 4, the last at 2, the one between at 3. */
static void a_clock_that_changed_is_followed(void **state) {
    (void)state;
    struct host_runs runs = three(5, 6, 11);
    host_runs_conclude(&runs, (const double[]){4, 4, 2, 2});
    assert_cycles(&runs, (const double[]){20, 18, 22});
    assert_int_equal(runs.least, 1);
}

static void assert_between(const struct host_run *run, double low, double high) {
    if (!(fabs(run->cycles_low - low) < 1e-4 && fabs(run->cycles_high - high) < 1e-4))
        fail_msg("%g to %g is not %g to %g", run->cycles_low, run->cycles_high, low, high);
}

/* Ticks of 0.25 s: ten in each run, at a clock of 4. Of the first 5 are the user's, a share of
 * 0.236593 to 0.763407 of 2.5 s; of the second all, from 0.722467 on; the third took no time. */
static void ticks_tell_the_users_share(void **state) {
    (void)state;
    struct host_runs runs = three(1.25, 2.5, 0);
    const double clocks[] = {4, 4, 4, 4};
    runs.runs[0].system = 1.25;
    runs.tick = 0.25;
    host_runs_conclude(&runs, clocks);
    assert_between(&runs.runs[0], 2.36593, 7.63407);
    assert_between(&runs.runs[1], 7.22467, 10);
    assert_between(&runs.runs[2], 0, 0);
    runs.tick = 0;
    host_runs_conclude(&runs, clocks);
    assert_between(&runs.runs[0], 5, 5);
}

static void none_was_timed(void **state) {
    (void)state;
    struct host_runs runs = {0};
    host_runs_conclude(&runs, (const double[]){4});
    assert_int_equal(runs.least, 0);
}

static void interrupt(void *context, const struct progress *progress) {
    (void)progress;
    watch_interrupt(context, SIGTERM);
}

/* After the first of three runs: it is kept, and nothing is sampled. */
static void an_interrupt_is_told(void **state) {
    (void)state;
    static struct watch watch;
    static struct host_runs runs;
    static char *command[] = {"true", NULL};
    struct kept_input input = {0};
    struct error error = {0};
    int status = 0;
    watch.observe = interrupt;
    watch.context = &watch;
    if (!kept_input_start(&input, &error))
        fail_msg("%s", error.message);
    const struct host_runs_request request = {
        .watch = &watch, .command = command, .input = &input, .runs = 3};
    if (!host_runs_go(&runs, &request, &status, &error))
        fail_msg("%s", error.message);
    assert_int_equal(runs.wanted, 3);
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.sampled, 0);
    assert_int_equal(runs.session_count, 0);
    assert_string_equal(runs.unsampled, "interrupted before a run with samples");
    host_runs_free(&runs);
    kept_input_free(&input);
    temporaries_free(&watch.temporaries);
}

/* Of 1 1 3 3 the mean is twice the least; 5 was interrupted. */
static void what_a_neighbour_takes(void **state) {
    (void)state;
    struct host_neighbour neighbour = {0};
    assert_true(isnan(host_neighbour_slowdown(&neighbour)));
    const double stretches[] = {1, 3, 5, 1, 3};
    for (int i = 0; i < 5; i++)
        host_neighbour_add(&neighbour, stretches[i]);
    assert_true(host_neighbour_slowdown(&neighbour) == 2);
    host_neighbour_free(&neighbour);
    assert_true(isnan(host_neighbour_slowdown(&neighbour)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_was_misread_is_left_out),
        cmocka_unit_test(a_clock_that_changed_is_followed),
        cmocka_unit_test(ticks_tell_the_users_share),
        cmocka_unit_test(none_was_timed),
        cmocka_unit_test(an_interrupt_is_told),
        cmocka_unit_test(what_a_neighbour_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
