/* The sampling schedule by example, its invariants, and the interval worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate/sampling.h"

/* full 10, window 2, warm 3, two periods a level:
 *   0-9   simulate, weight 1
 *   level 1, period 4: 10-11 warm 12-13 simulate | 14-15 warm 16-17 simulate
 *   level 2, period 8: 18-20 skip 21-23 warm 24-25 simulate | 26-28 29-31 32-33
 *   level 3, period 16: 34-44 skip 45-47 warm 48-49 simulate | ... */
static const struct sampling EXAMPLE = {.full = 10, .window = 2, .warm = 3, .windows = 2};

static void schedule_by_example(void **state) {
    (void)state;
    static const struct {
        uint64_t end, weight;
        enum sampling_action action;
    } expected[] = {
        {10, 1, SAMPLING_SIMULATE}, {12, 2, SAMPLING_WARM},     {14, 2, SAMPLING_SIMULATE},
        {16, 2, SAMPLING_WARM},     {18, 2, SAMPLING_SIMULATE}, {21, 4, SAMPLING_SKIP},
        {24, 4, SAMPLING_WARM},     {26, 4, SAMPLING_SIMULATE}, {29, 4, SAMPLING_SKIP},
        {32, 4, SAMPLING_WARM},     {34, 4, SAMPLING_SIMULATE}, {45, 8, SAMPLING_SKIP},
        {48, 8, SAMPLING_WARM},     {50, 8, SAMPLING_SIMULATE}, {61, 8, SAMPLING_SKIP},
    };
    uint64_t position = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        for (; position < expected[i].end; position++) {
            struct sampling_step step = sampling_step(&EXAMPLE, position);
            assert_int_equal(step.action, expected[i].action);
            assert_int_equal(step.end, expected[i].end);
            assert_int_equal(step.weight, expected[i].weight);
            assert_int_equal(step.weight, 1u << step.level);
        }
    }
}

/* At the end of every level the weighted windows stand for exactly what has run. */
static void weights_represent_everything(void **state) {
    (void)state;
    const struct sampling sampling = {
        .full = 50000000, .window = 1000000, .warm = 2000000, .windows = 32};
    uint64_t position = 0, represented = 0, simulated = 0;
    uint32_t level = 0;
    while (level < 20) {
        struct sampling_step step = sampling_step(&sampling, position);
        assert_true(step.end > position);
        if (step.level != level) {
            assert_int_equal(represented, position);
            level = step.level;
        }
        if (step.action == SAMPLING_SIMULATE) {
            represented += (step.end - position) * step.weight;
            simulated += step.end - position;
        }
        position = step.end;
    }
    assert_int_equal(simulated, 50000000 + 19 * 32 * 1000000ull);
}

/* 4 million instructions before a window are warmed, or all there are: nothing is skipped before
 * the periods are longer than that, at level 5. */
static void default_warms_long(void **state) {
    (void)state;
    const struct sampling sampling = sampling_default();
    uint64_t position = 0, warmed = 0, skipped = 0;
    for (uint32_t level = 0; level < 10;) {
        struct sampling_step step = sampling_step(&sampling, position);
        level = step.level;
        uint64_t length = step.end - position;
        if (step.action == SAMPLING_WARM) {
            warmed = length;
        } else if (step.action == SAMPLING_SKIP) {
            skipped = length;
        } else if (level > 0) {
            uint64_t others = (step.weight - 1) * length;
            assert_int_equal(warmed, others < 4000000 ? others : 4000000);
            assert_int_equal(skipped, others - warmed);
            assert_true(skipped == 0 || level >= 5);
            warmed = skipped = 0;
        }
        position = step.end;
    }
}

static void everything_is_one_step(void **state) {
    (void)state;
    struct sampling everything = sampling_everything();
    struct sampling_step step = sampling_step(&everything, 123456789012345);
    assert_int_equal(step.action, SAMPLING_SIMULATE);
    assert_int_equal(step.end, UINT64_MAX);
    assert_int_equal(step.weight, 1);
}

/* Instructions 100 to 199, warmed by 30 before them; and from 20 on, where there are but 20. */
static void region_stops(void **state) {
    (void)state;
    static const struct {
        uint64_t at, end;
        enum sampling_action action;
    } expected[] = {{0, 70, SAMPLING_SKIP},
                    {70, 100, SAMPLING_WARM},
                    {99, 100, SAMPLING_WARM},
                    {100, 200, SAMPLING_SIMULATE},
                    {200, UINT64_MAX, SAMPLING_STOP}};
    struct sampling region = sampling_region(100, 200, 30);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct sampling_step step = sampling_step(&region, expected[i].at);
        assert_int_equal(step.action, expected[i].action);
        assert_int_equal(step.end, expected[i].end);
        assert_int_equal(step.weight, 1);
        assert_int_equal(step.level, 0);
    }
    region = sampling_region(20, 50, 30);
    assert_int_equal(sampling_step(&region, 0).action, SAMPLING_WARM);
    assert_int_equal(sampling_step(&region, 0).end, 20);
}

static void absurd_positions_end(void **state) {
    (void)state;
    struct sampling_step step = sampling_step(&EXAMPLE, UINT64_MAX - 1);
    assert_true(step.end > UINT64_MAX - 1);
}

/* Level 1 (weight 2): 10, 14: s² = 8. Level 2 (weight 4): 20, 20, 26: s² = 12.
 * Var = 4·2·8·(1/2) + 16·3·12·(3/4) = 32 + 432 = 464; 3 degrees of freedom, t = 3.182. */
static void interval_by_hand(void **state) {
    (void)state;
    struct sampling_spread spread = {0};
    assert_true(sampling_interval(&spread) == 0);
    sampling_observe(&spread, 1, 10);
    assert_true(sampling_interval(&spread) == -1);
    sampling_observe(&spread, 1, 14);
    sampling_observe(&spread, 2, 20);
    sampling_observe(&spread, 2, 20);
    sampling_observe(&spread, 2, 26);
    assert_int_equal(sampling_windows(&spread), 5);
    assert_true(fabs(sampling_interval(&spread) - 3.182 * sqrt(464)) < 0.03 * sqrt(464));
}

/* A level with a lone window takes the pooled spread: level 1 as above (s² = 8, 1 degree of
 * freedom), level 2 one window: Var = 32 + 16·1·8·(3/4) = 128; t = 12.706. */
static void lone_window_takes_pooled_spread(void **state) {
    (void)state;
    struct sampling_spread spread = {0};
    sampling_observe(&spread, 1, 10);
    sampling_observe(&spread, 1, 14);
    sampling_observe(&spread, 2, 1000);
    assert_true(fabs(sampling_interval(&spread) - 12.706 * sqrt(128)) < 1e-6);
}

/* Two parts of a run, observed apart and added, are as if observed together. */
static void spreads_add_up(void **state) {
    struct sampling_spread whole = {.level = {{0}}}, parts[2] = {{.level = {{0}}}};
    (void)state;
    for (int i = 0; i < 20; i++) {
        double cycles = 1000 + 37 * (i % 7) + (i < 8 ? 0 : 400);
        uint32_t level = (uint32_t)i % 3;
        sampling_observe(&whole, level, cycles);
        sampling_observe(&parts[i >= 8], level, cycles);
    }
    sampling_spread_add(&parts[0], &parts[1]);
    assert_int_equal(sampling_windows(&parts[0]), sampling_windows(&whole));
    for (int level = 0; level < 3; level++) {
        assert_int_equal(parts[0].level[level].windows, whole.level[level].windows);
        assert_float_equal(parts[0].level[level].mean, whole.level[level].mean, 1e-9);
        assert_float_equal(parts[0].level[level].squares, whole.level[level].squares, 1e-6);
    }
    assert_float_equal(sampling_interval(&parts[0]), sampling_interval(&whole), 1e-6);
    struct sampling_spread none = {.level = {{0}}};
    sampling_spread_add(&none, &whole);
    assert_float_equal(sampling_interval(&none), sampling_interval(&whole), 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads_add_up),
        cmocka_unit_test(default_warms_long),
        cmocka_unit_test(schedule_by_example),
        cmocka_unit_test(weights_represent_everything),
        cmocka_unit_test(everything_is_one_step),
        cmocka_unit_test(region_stops),
        cmocka_unit_test(absurd_positions_end),
        cmocka_unit_test(interval_by_hand),
        cmocka_unit_test(lone_window_takes_pooled_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
