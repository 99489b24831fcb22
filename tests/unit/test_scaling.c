/* Counters that take turns: samples stand for more events than lie between two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "live/scaling.h"

static uint64_t scaled(uint64_t period, uint64_t enabled, uint64_t running) {
    const struct live_event_times times = {.enabled = enabled, .running = running};
    return live_event_scaled_period(period, &times);
}

/* 1000 events apart, counted 43 ms of 100: 1000 / 0.43 = 2325.6. */
static void periods_grow_as_time_is_missing(void **state) {
    (void)state;
    assert_int_equal(scaled(1000, 100, 43), 2326);
    assert_int_equal(scaled(1000, 100000000, 25000000), 4000);
    assert_int_equal(scaled(1, 3, 1), 3);
    assert_int_equal(scaled(1000, 100, 100), 1000);
    assert_int_equal(scaled(1000, 99, 100), 1000); /* clocks are not read at once */
    assert_int_equal(scaled(1000, 100, 0), 1000);  /* no samples then */
    assert_int_equal(scaled(1000, 0, 0), 1000);
}

/* Two events on four processors' time. From save to save: counted half and all; then half, less
 * a hundredth, which is not followed; then a quarter. */
static void what_was_sampled_since_the_last_save(void **state) {
    (void)state;
    struct live_scaling scaling = {0};
    const struct live_event events[2] = {{.kind = LIVE_CYCLES, .period = 1000},
                                         {.kind = LIVE_HARDWARE, .period = 300}};
    struct live_event stored[2];
    struct live_event_times times[2] = {{.enabled = 400, .running = 200},
                                        {.enabled = 400, .running = 400}};
    assert_true(live_scaling_find(&scaling, events, times, 2, stored));
    assert_int_equal(stored[0].period, 2000);
    assert_int_equal(stored[1].period, 300);
    /* It could not be saved: all is as before. */
    assert_true(live_scaling_find(&scaling, events, times, 2, stored));
    live_scaling_saved(&scaling, events, times, 2, stored);

    times[0] = (struct live_event_times){.enabled = 400 + 10000, .running = 200 + 4950};
    times[1] = (struct live_event_times){.enabled = 10400, .running = 10400};
    assert_false(live_scaling_find(&scaling, events, times, 2, stored));
    assert_int_equal(stored[0].period, 2000);
    live_scaling_saved(&scaling, events, times, 2, stored);

    times[0].enabled += 400, times[0].running += 100;
    times[1].enabled += 400, times[1].running += 400;
    assert_true(live_scaling_find(&scaling, events, times, 2, stored));
    assert_int_equal(stored[0].period, 4000);
    assert_int_equal(stored[1].period, 300);
    live_scaling_saved(&scaling, events, times, 2, stored);
    /* Sampled half as often since. */
    const struct live_event slower[2] = {{.kind = LIVE_CYCLES, .period = 2000},
                                         {.kind = LIVE_HARDWARE, .period = 600}};
    times[0].enabled += 400, times[0].running += 200;
    times[1].enabled += 400, times[1].running += 400;
    assert_true(live_scaling_find(&scaling, slower, times, 2, stored));
    assert_int_equal(stored[0].period, 4000);
    assert_int_equal(stored[1].period, 600);
    live_scaling_saved(&scaling, slower, times, 2, stored);
    /* A processor has gone, and its times with it. */
    times[0].enabled -= 800, times[0].running -= 400;
    live_scaling_find(&scaling, slower, times, 2, stored);
    assert_int_equal(stored[0].period, 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(periods_grow_as_time_is_missing),
                                       cmocka_unit_test(what_was_sampled_since_the_last_save)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
