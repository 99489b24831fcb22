/* Cycles under several layouts, by hand: how far they lie apart, and two programs' difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/compared_run.h"
#include "query/layout_spread.h"

static struct layout_cycles exactly(uint64_t cycles) {
    return (struct layout_cycles){.known = true, .cycles = cycles};
}

/* 1000, 1040, not known, 980: in the median 1000, from layout 3 to layout 1 60, which is 6 %. */
static void least_median_and_most(void **state) {
    (void)state;
    const struct layout_cycles layouts[] = {exactly(1000), exactly(1040), {0}, exactly(980)};
    struct layout_spread spread;
    assert_true(layout_spread_of(layouts, 4, &spread));
    assert_int_equal(spread.count, 3);
    assert_int_equal(spread.least, 3);
    assert_int_equal(spread.most, 1);
    assert_float_equal(spread.median, 1000, 0);
    assert_float_equal(spread.percent, 6, 1e-12);
    assert_float_equal(spread.half_interval, 0, 0);
}

/* Layouts move the first by 10 %, and the second with it: under each it takes 1 % more, but for the
 * last pair, of which one is not known. The interval of six is all of them. */
static void what_layouts_have_in_common_cancels(void **state) {
    (void)state;
    struct layout_cycles before[7], after[7] = {0};
    for (int i = 0; i < 7; i++)
        before[i] = exactly(i % 2 ? 1000 : 1100);
    for (int i = 0; i < 6; i++)
        after[i] = exactly(i % 2 ? 1010 : 1111);
    struct layout_difference difference;
    assert_true(layout_difference_of(before, after, 7, &difference));
    assert_int_equal(difference.count, 6);
    assert_float_equal(difference.percent.median, 1, 1e-9);
    assert_float_equal(layout_difference_low(&difference), 1, 1e-9);
    assert_float_equal(layout_difference_high(&difference), 1, 1e-9);
}

/* Estimates of ± 3 % and ± 4 %, of the same regions under all layouts: ± 5 % of the difference,
 * whatever their number. */
static void estimates_leave_open_what_they_do(void **state) {
    (void)state;
    struct layout_cycles before[8], after[8];
    for (int i = 0; i < 8; i++) {
        before[i] = after[i] = exactly(1000);
        before[i].half_interval = 30;
        after[i].half_interval = 40;
    }
    struct layout_difference difference;
    assert_true(layout_difference_of(before, after, 8, &difference));
    assert_float_equal(difference.estimate, 5, 1e-9);
    assert_float_equal(layout_difference_low(&difference), -5, 1e-9);
    assert_float_equal(layout_difference_high(&difference), 5, 1e-9);
    after[3].half_interval = -1;
    assert_true(layout_difference_of(before, after, 8, &difference));
    assert_float_equal(difference.estimate, -1, 0);
}

static struct error error;

static void join(struct compared_run *run, uint64_t offset, uint64_t first, uint64_t second) {
    const struct compared_place place = {
        .image = "a",
        .function = "work",
        .text = "nop",
        .offset = offset,
        .cost = {.units = first + second, .executions = 2, .causes = {first, second}}};
    assert_true(compared_run_join(run, &place, &error));
}

/* An instruction of 10 + 4 units in one run and 11 + 4 in the next takes 11 + 4 of them, halves
 * being rounded up; one that only the second has, half of its 6. The whole is what the parts sum
 * to. */
static void runs_have_a_mean(void **state) {
    (void)state;
    struct compared_run run = {0};
    join(&run, 0x10, 10, 4);
    compared_run_next(&run);
    join(&run, 0x20, 6, 0);
    join(&run, 0x10, 11, 4);
    compared_run_next(&run);
    run.elapsed = 41;
    assert_int_equal(run.count, 2);
    assert_int_equal(run.all.units, 35);
    compared_run_average(&run);
    assert_int_equal(run.places[0].cost.units, 15);
    assert_int_equal(run.places[0].cost.causes[0], 11);
    assert_int_equal(run.places[0].cost.executions, 2);
    assert_int_equal(run.places[1].cost.units, 3);
    assert_int_equal(run.places[1].cost.executions, 1);
    assert_int_equal(run.all.units, 18);
    assert_int_equal(run.elapsed, 21);
    compared_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(least_median_and_most),
                                       cmocka_unit_test(what_layouts_have_in_common_cancels),
                                       cmocka_unit_test(estimates_leave_open_what_they_do),
                                       cmocka_unit_test(runs_have_a_mean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
