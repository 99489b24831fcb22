/* Errors of profiles and cycle stacks against hand-worked ones; the floor that chance leaves;
 * correlation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribute/profile_error.h"

#define COUNT(cells) (sizeof(cells) / sizeof *(cells))

static void expect_near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-12))
        fail_msg("%.15g is not %.15g", value, expected);
}

static struct reduced_profile reduce(const struct pics_cell *cells, uint64_t count,
                                     const struct units *units, uint32_t events) {
    struct reduced_profile reduced;
    assert_true(profile_reduce(cells, count, units, events, &reduced));
    return reduced;
}

static double error_of(const struct pics_cell *cells, uint64_t count, const struct pics_cell *truth,
                       uint64_t truth_count, const struct units *units, uint32_t events) {
    struct reduced_profile profile = reduce(cells, count, units, events);
    struct reduced_profile reference = reduce(truth, truth_count, units, events);
    double error = profile_error(&profile, &reference);
    reduced_profile_free(&profile);
    reduced_profile_free(&reference);
    return error;
}

/* Four instructions in two basic blocks of one function: {0, 1} and {2, 3}. The truth gives them
 * 40, 10, 30 and 20 cycles; the profile, of ten samples, 3, 3, 0 and 4, scaled by 10:
 *
 *   instruction: min(30,40) + min(30,10) + min(0,30) + min(40,20) = 30+10+0+20 = 60: E = 40 %
 *   basic block: min(60,50) + min(40,50) = 90: E = 10 %;  function: 0. */
static void grains(void **state) {
    (void)state;
    static const struct pics_cell truth[] = {{0, 0, 40}, {1, 0, 10}, {2, 0, 30}, {3, 0, 20}};
    static const struct pics_cell profile[] = {{0, 0, 3}, {1, 0, 3}, {3, 0, 4}};
    static const uint32_t block_of[] = {0, 0, 1, 1}, function_of[] = {0, 0, 0, 0};
    struct units blocks = {block_of, 4, 2}, functions = {function_of, 4, 1};
    expect_near(error_of(profile, COUNT(profile), truth, COUNT(truth), NULL, 0), 0.4);
    expect_near(error_of(profile, COUNT(profile), truth, COUNT(truth), &blocks, 0), 0.1);
    expect_near(error_of(profile, COUNT(profile), truth, COUNT(truth), &functions, 0), 0);
}

/* Instruction 0 spent 60 cycles with ST-L1, 20 with ST-L1 and ST-TLB; instruction 1 spent 20
 * without. A profiler that cannot see ST-TLB reports 70 of ST-L1 and 30 of Base:
 *
 *   all events: min(70,60) + 0 + min(30,20) = 80: E = 20 %
 *   against the truth without ST-TLB (80 and 20): min(70,80) + min(30,20) = 90: E = 10 %
 *   without stacks: the same 10 %. */
static void stacks_are_masked_then_merged(void **state) {
    (void)state;
    static const struct pics_cell truth[] = {
        {0, PSV_ST_L1, 60}, {0, PSV_ST_L1 | PSV_ST_TLB, 20}, {1, 0, 20}};
    static const struct pics_cell profile[] = {{0, PSV_ST_L1, 70}, {1, 0, 30}};
    expect_near(error_of(profile, 2, truth, 3, NULL, 511), 0.2);
    expect_near(error_of(profile, 2, truth, 3, NULL, PSV_ST_L1), 0.1);
    expect_near(error_of(profile, 2, truth, 3, NULL, 0), 0.1);
}

/* At block grain the stacks of a block's instructions are summed by signature: ST-L1 of 1 and 0
 * become one component, so blame for the wrong load of a block is no error. */
static void stacks_by_block(void **state) {
    (void)state;
    static const struct pics_cell truth[] = {{0, 0, 10}, {0, PSV_ST_L1, 50}, {1, 0, 40}};
    static const struct pics_cell profile[] = {{0, 0, 50}, {1, PSV_ST_L1, 50}};
    static const uint32_t block_of[] = {0, 0};
    struct units blocks = {block_of, 2, 1};
    /* By instruction min(50,10) = 10 of 100. */
    expect_near(error_of(profile, 2, truth, 3, NULL, 511), 0.9);
    expect_near(error_of(profile, 2, truth, 3, &blocks, 511), 0);
}

static void reduction_sorts_and_sums(void **state) {
    (void)state;
    /* Instructions 5 and 6 lie behind the map: units of their own after its two. */
    static const struct pics_cell cells[] = {{0, 3, 1}, {1, 0, 2},  {1, 1, 4},
                                             {2, 3, 8}, {5, 0, 16}, {6, 0, 32}};
    static const uint32_t unit_of[] = {1, 0, 1};
    struct units units = {unit_of, 3, 2};
    static const struct pics_cell expected[] = {
        {0, 0, 2}, {0, 1, 4}, {1, 1, 9}, {4, 0, 16}, {5, 0, 32}};
    struct reduced_profile reduced = reduce(cells, COUNT(cells), &units, 1);
    assert_int_equal(reduced.total, 63);
    assert_int_equal(reduced.count, COUNT(expected));
    for (uint64_t i = 0; i < reduced.count; i++) {
        assert_int_equal(reduced.cells[i].insn, expected[i].insn);
        assert_int_equal(reduced.cells[i].psv, expected[i].psv);
        assert_int_equal(reduced.cells[i].units, expected[i].units);
    }
    reduced_profile_free(&reduced);
}

static void ends_of_the_scale(void **state) {
    (void)state;
    static const struct pics_cell one[] = {{0, 0, 7}}, other[] = {{1, 0, 3}};
    expect_near(error_of(one, 1, one, 1, NULL, 0), 0);
    expect_near(error_of(one, 1, other, 1, NULL, 0), 1);
    expect_near(error_of(one, 0, one, 1, NULL, 0), 1); /* no sample */
    expect_near(error_of(one, 1, one, 0, NULL, 0), 0); /* no cycle */
    /* Totals near 2^63 do not overflow: a third off. */
    static const struct pics_cell large[] = {{0, 0, UINT64_C(6) << 60}, {1, 0, UINT64_C(3) << 60}};
    static const struct pics_cell even[] = {{0, 0, 1}, {1, 0, 2}};
    expect_near(error_of(even, 2, large, 2, NULL, 0), 1.0 / 3);
}

/* Shares 1/4, 1/4, 1/2: Σ √p = 1/2 + 1/2 + 1/√2, squared 1 + √2 + 1/2. Four even shares: K = 4. */
static void floor_of_chance(void **state) {
    (void)state;
    static const struct pics_cell cells[] = {{0, 0, 10}, {1, 0, 10}, {2, 0, 20}};
    static const struct pics_cell even[] = {{0, 0, 5}, {1, 0, 5}, {2, 0, 5}, {3, 0, 5}};
    struct reduced_profile three = reduce(cells, 3, NULL, 0), four = reduce(even, 4, NULL, 0);
    expect_near(profile_spread(&three), 1.5 + sqrt(2));
    expect_near(profile_spread(&four), 4);
    reduced_profile_free(&three);
    reduced_profile_free(&four);
    /* 0.3989 √(4/40000) = 0.3989 %; for 1 %: 4 × 39.89² = 6366.2 samples. */
    expect_near(error_floor(4, 40000), 0.003989422804014327);
    assert_int_equal(error_samples(4, 0.01), 6367);
    expect_near(error_floor(4, 0), 1);
    expect_near(error_floor(1e9, 10), 1);
    assert_int_equal(error_samples(0, 0.01), 1);
}

/* Chance, in fact: N samples of K equal cells. The mean error must be the floor. */
static void floor_is_what_chance_leaves(void **state) {
    (void)state;
    enum { CELLS = 100, SAMPLES = 10000, RUNS = 200 };
    struct pics_cell truth[CELLS], drawn[CELLS];
    for (uint32_t i = 0; i < CELLS; i++)
        truth[i] = (struct pics_cell){i, 0, 1};
    uint64_t random = 1;
    double sum = 0;
    for (int run = 0; run < RUNS; run++) {
        for (uint32_t i = 0; i < CELLS; i++)
            drawn[i] = (struct pics_cell){i, 0, 0};
        for (int i = 0; i < SAMPLES; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            drawn[(random >> 33) % CELLS].units++;
        }
        sum += error_of(drawn, CELLS, truth, CELLS, NULL, 0);
    }
    /* 0.0399 ± 3 %: the mean of 200 runs is far closer. */
    double mean = sum / RUNS, floor = error_floor(CELLS, SAMPLES);
    assert_true(fabs(mean - floor) < 0.03 * floor);
}

/* x 1 2 3 4, y 2 4 5 9: means 2.5 and 5; Σ dx dy = 4.5 + 0.5 + 0 + 6 = 11; Σ dx² = 5; Σ dy² = 26.
 */
static void correlation(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3, 4}, y[] = {2, 4, 5, 9}, down[] = {8, 6, 4, 2};
    static const double flat[] = {3, 3, 3, 3};
    expect_near(pearson_correlation(x, y, 4), 11 / sqrt(130));
    expect_near(pearson_correlation(x, down, 4), -1);
    assert_true(isnan(pearson_correlation(x, flat, 4)));
    assert_true(isnan(pearson_correlation(x, y, 1)));
    double ones[54], ramp[54]; /* 54 × 1/54 is not 1 exactly: the mean is not either */
    for (int i = 0; i < 54; i++) {
        ones[i] = 1;
        ramp[i] = i;
    }
    assert_true(isnan(pearson_correlation(ones, ramp, 54)));
    assert_true(isnan(pearson_correlation(ramp, ones, 54)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grains),
        cmocka_unit_test(stacks_are_masked_then_merged),
        cmocka_unit_test(stacks_by_block),
        cmocka_unit_test(reduction_sorts_and_sums),
        cmocka_unit_test(ends_of_the_scale),
        cmocka_unit_test(floor_of_chance),
        cmocka_unit_test(floor_is_what_chance_leaves),
        cmocka_unit_test(correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
