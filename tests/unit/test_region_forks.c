/* Regions that processes simulate again with idealisations: whose turn it is, and what they save,
 * worked by hand. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/core.h"
#include "simulate/region_forks.h"

static const uint32_t IDEALS[] = {IDEAL_DMISS, IDEAL_BMISP};

/* A region that takes so many cycles, and with the idealisation whose turn it is so many. */
static uint64_t simulate(struct region_forks *forks, uint64_t from, uint64_t cycles,
                         uint64_t with_first, uint64_t with_second) {
    const uint32_t ideal = region_forks_begin(forks, from);
    if (ideal == IDEAL_DMISS)
        region_forks_end(forks, with_first > 0, from + with_first);
    if (ideal == IDEAL_BMISP)
        region_forks_end(forks, with_second > 0, from + with_second);
    if (ideal)
        abort(); /* they have not come back */
    region_forks_end(forks, true, from + cycles);
    return from + cycles;
}

/* The first saves 10 of 100 cycles, then 20: 15 % of both. The second regions are 5 cycles beside
 * that on either side: 1.96 × √(2 × 50 / 1) / 200. The other one saves a quarter of each of its
 * own. */
static void what_they_save(void **state) {
    (void)state;
    struct region_forks *forks = region_forks_new(IDEALS, 2, 1, 4, 2);
    uint64_t cycle = 1000;
    double saving, interval;
    cycle = simulate(forks, cycle, 100, 90, 1);
    cycle = simulate(forks, cycle, 200, 1, 150);
    cycle = simulate(forks, cycle, 100, 80, 1);
    simulate(forks, cycle, 200, 1, 150);
    assert_true(region_forks_saving(forks, IDEAL_DMISS, &saving, &interval));
    assert_float_equal(saving, 0.15, 1e-12);
    assert_float_equal(interval, 0.098, 1e-12);
    assert_true(region_forks_saving(forks, IDEAL_BMISP, &saving, &interval));
    assert_float_equal(saving, 0.25, 1e-12);
    assert_float_equal(interval, 0, 1e-12);
    assert_false(region_forks_saving(forks, IDEAL_WIN, &saving, &interval));
    region_forks_free(forks);
}

/* Both in each region, one process at a time; what takes longer saves less than nothing. */
static void all_in_each_region(void **state) {
    (void)state;
    struct region_forks *forks = region_forks_new(IDEALS, 2, 9, 2, 1);
    double saving, interval;
    simulate(forks, simulate(forks, 0, 100, 90, 110), 100, 90, 110);
    assert_true(region_forks_saving(forks, IDEAL_DMISS, &saving, &interval));
    assert_float_equal(saving, 0.1, 1e-12);
    assert_true(region_forks_saving(forks, IDEAL_BMISP, &saving, &interval));
    assert_float_equal(saving, -0.1, 1e-12);
    region_forks_free(forks);
}

/* What did not come to its end is not counted; of fewer than half of its regions nothing is told.
 */
static void a_process_that_does_not_end(void **state) {
    (void)state;
    double saving, interval;
    for (uint64_t lost = 1; lost <= 3; lost++) {
        struct region_forks *forks = region_forks_new(IDEALS, 1, 1, 4, 2);
        uint64_t cycle = 0;
        for (uint64_t i = 0; i < 4; i++)
            cycle = simulate(forks, cycle, 100, i < lost ? 0 : 90, 0);
        assert_int_equal(region_forks_saving(forks, IDEAL_DMISS, &saving, &interval), lost <= 2);
        if (lost <= 2)
            assert_float_equal(saving, 0.1, 1e-12);
        region_forks_free(forks);
    }
}

/* One that hangs is ended with the rest. */
static void what_is_under_way_is_ended(void **state) {
    (void)state;
    struct region_forks *forks = region_forks_new(IDEALS, 2, 2, 2, 2);
    if (region_forks_begin(forks, 0))
        for (;;)
            pause();
    region_forks_end(forks, true, 100);
    region_forks_free(forks);
}

/* Beyond those that were planned, nothing is made. */
static void a_region_too_many(void **state) {
    (void)state;
    struct region_forks *forks = region_forks_new(IDEALS, 1, 1, 2, 2);
    double saving, interval;
    uint64_t cycle = 0;
    for (uint64_t i = 0; i < 3; i++)
        cycle = simulate(forks, cycle, 100, i < 2 ? 50 : 1, 0);
    assert_true(region_forks_saving(forks, IDEAL_DMISS, &saving, &interval));
    assert_float_equal(saving, 0.5, 1e-12);
    region_forks_free(forks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_they_save),
        cmocka_unit_test(all_in_each_region),
        cmocka_unit_test(a_process_that_does_not_end),
        cmocka_unit_test(what_is_under_way_is_ended),
        cmocka_unit_test(a_region_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
