/* Figures of a validation by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/validation.h"

static void expect_near(double value, double expected) {
    if (fabs(value - expected) > 1e-12)
        fail_msg("%.15g is not %.15g", value, expected);
}

/* 2000 instructions in 3000 cycles; 30 misses are 15 of 1000; 420 units of 2000 instructions are
 * half a cycle of 2000. */
static void figures_are_per_instruction(void **state) {
    (void)state;
    struct slice_record record = {
        .instructions = 2000, .cycles = 3000, .states = {1000, 1500, 500}};
    record.parts[PART_COMBINED] = 420;
    record.counted.memory.l1d.misses = 30;
    record.counted.branch.conditional_wrong = 1;
    record.counted.branch.indirect_wrong = 2;
    record.counted.branch.returns_wrong = 4;
    struct metrics metrics;
    metrics_of(&record, &metrics);
    expect_near(metrics.values[METRIC_CPI], 1.5);
    expect_near(metrics.values[METRIC_STATES + STATE_COMPUTING], 0.5);
    expect_near(metrics.values[METRIC_STATES + STATE_STALLED], 0.75);
    expect_near(metrics.values[METRIC_STATES + STATE_FLUSHED], 0.25);
    expect_near(metrics.values[METRIC_STATES + STATE_DRAINED], 0);
    expect_near(metrics.values[METRIC_PARTS + PART_COMBINED], 0.00025);
    expect_near(metrics.values[METRIC_L1D], 15);
    expect_near(metrics.values[METRIC_BRANCHES], 3.5);
    expect_near(metrics.values[METRIC_LLC], 0);
}

static void errors_are_relative(void **state) {
    (void)state;
    expect_near(validation_error(1.1, 1.0), 0.1);
    expect_near(validation_error(0.5, 1.0), -0.5);
    expect_near(validation_error(0, 0), 0);
}

/* Region 2 was not captured; 3 began 7 instructions early. */
static void markers_are_counted(void **state) {
    (void)state;
    char trace[] = "x.ctrace";
    struct region regions[] = {{.id = 1, .first = 100, .trace = trace},
                               {.id = 2, .first = 200},
                               {.id = 3, .first = 300, .trace = trace, .skew = -7},
                               {.id = 4, .first = 400, .trace = trace, .skew = 3}};
    struct region_list list = {.regions = regions, .region_count = 4};
    struct marker_check check;
    marker_check(&list, &check);
    assert_true(check.checked);
    assert_true(check.in_order);
    assert_int_equal(check.captured, 3);
    assert_int_equal(check.moved, 2);
    assert_int_equal(check.largest, -7);
    assert_int_equal(check.region, 2);
    regions[3].skew = -200;
    marker_check(&list, &check);
    assert_false(check.in_order);
    regions[0].trace = regions[2].trace = regions[3].trace = NULL;
    marker_check(&list, &check);
    assert_false(check.checked);
}

/* What was captured says most; else the longest warm-up. */
static void verdict_is_of_what_was_captured(void **state) {
    (void)state;
    struct validation validation = {.trials = {{.warm_up = 1000},
                                               {.warm_up = 100000},
                                               {.warm_up = 10},
                                               {.warm_up = 1, .captured = true}},
                                    .trial_count = 4};
    assert_ptr_equal(validation_verdict(&validation), &validation.trials[3]);
    validation.trial_count = 3;
    assert_ptr_equal(validation_verdict(&validation), &validation.trials[1]);
    validation.trial_count = 0;
    assert_null(validation_verdict(&validation));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_per_instruction),
        cmocka_unit_test(errors_are_relative),
        cmocka_unit_test(markers_are_counted),
        cmocka_unit_test(verdict_is_of_what_was_captured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
