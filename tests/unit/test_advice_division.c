/* What a multiplication in place of a division saves, by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/advice_division.h"

/* Divisions take 14 cycles and keep their unit for 8, multiplications 3 and 1, of two units; of
 * floating point 13 and 5, 3 and 1, of one. */
static struct machine machine = {
    .pools = {{.units = 1}, {.units = 2}, {.units = 4}},
    .core = {.dispatch_width = 4},
    .classes = {[OP_INT_DIV] = {.pool = 0, .latency = 14, .interval = 8},
                [OP_INT_MUL] = {.pool = 1, .latency = 3, .interval = 1},
                [OP_INT_ALU] = {.pool = 2, .latency = 1, .interval = 1},
                [OP_FP_DIV] = {.pool = 0, .latency = 13, .interval = 5},
                [OP_FP_MUL] = {.pool = 0, .latency = 3, .interval = 1}}};

static void check(enum operation operation, double cycles, double divisions, double saved) {
    const double found = advice_division_saving(&machine, operation, cycles, divisions);
    assert_true(fabs(found - saved) < 1e-9);
}

/* 100 divisions, each of which waits for the one before: of 14 cycles 3 + 3 + 1 + 1 are left. */
static void latency(void **state) {
    (void)state;
    check(OP_INT_DIV, 1400, 100, 100 * (14 - 8));
    check(OP_FP_DIV, 1300, 100, 100 * (13 - 3));
    check(OP_INT_DIV, 850, 100, 100 * (14 - 8)); /* a part is hidden, but more than the unit's 8 */
}

/* Independent ones: the divider takes one in 8 cycles; two multipliers two products in one. */
static void throughput(void **state) {
    (void)state;
    check(OP_INT_DIV, 800, 100, 800 - 100);
    check(OP_FP_DIV, 500, 100, 500 - 100);
    check(OP_INT_DIV, 160, 100, 160 - 20); /* most of it hidden behind other work */
}

static void nothing_to_save(void **state) {
    (void)state;
    struct machine fast = machine;
    check(OP_INT_DIV, 0, 0, 0);
    fast.classes[OP_INT_DIV] = (struct machine_class){.latency = 4, .interval = 1};
    assert_true(advice_division_saving(&fast, OP_INT_DIV, 400, 100) == 0);
    assert_true(advice_division_saving(&fast, OP_INT_DIV, 100, 100) == 0);
}

/* Ten instructions a round with one division of 5 cycles: 5.2 cycles, all of the divider's, of
 * which 10 / 4 = 2.5 to dispatch them are left. With 6 cycles it waits for something else. */
static void bound_by_the_divider(void **state) {
    (void)state;
    double left = 0;
    struct divided_loop loop = {.cycles = 520, .instructions = 1000, .floating = 100};
    assert_true(advice_divider_bound(&machine, &loop, &left) && fabs(left - 250 / 520.) < 1e-9);
    loop.cycles = 600;
    assert_false(advice_divider_bound(&machine, &loop, &left));
    loop = (struct divided_loop){.cycles = 800, .instructions = 300, .integer = 100};
    assert_true(advice_divider_bound(&machine, &loop, &left) && fabs(left - 100 / 800.) < 1e-9);
    loop.integer = 0;
    assert_false(advice_divider_bound(&machine, &loop, &left));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(latency), cmocka_unit_test(throughput),
                                       cmocka_unit_test(nothing_to_save),
                                       cmocka_unit_test(bound_by_the_divider)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
