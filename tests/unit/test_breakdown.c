/* Breakdowns of times worked by hand, ranking, sums, and Table IX's error. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/breakdown.h"

static void expect_near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-6))
        fail_msg("%.15g is not %.15g", value, expected);
}

static const char *const NAMES[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* With these times, in the order of the sets: {}, a, b, ab, c ... */
static struct breakdown breakdown_of(uint32_t count, const double *cycles) {
    struct breakdown breakdown;
    struct error error;
    assert_true(breakdown_init(&breakdown, count, NAMES, &error));
    memcpy(breakdown.cycles, cycles, breakdown_sets(&breakdown) * sizeof *cycles);
    return breakdown;
}

/* Three chains side by side, of 9, 7 and 4 cycles, of categories a, b and c: the time is the
 * longest that is left.
 *   costs: a 9 − 7 = 2, b 0, c 0, ab 9 − 4 = 5, ac 2, bc 0, abc 9
 *   icosts: ab 5 − 2 = 3, ac 0, bc 0, abc 9 − (2 + 3) = 4 */
static void three_chains_by_hand(void **state) {
    (void)state;
    struct breakdown breakdown = breakdown_of(3, (double[]){9, 7, 9, 4, 9, 7, 9, 0});
    static const double expected[] = {0, 2, 0, 3, 0, 0, 0, 4};
    double icosts[8];
    breakdown_icosts(&breakdown, icosts);
    for (uint32_t set = 0; set < 8; set++)
        expect_near(icosts[set], expected[set]);
    uint32_t sets[8];
    assert_int_equal(breakdown_rank(&breakdown, icosts, 1, 3, sets), 7);
    assert_int_equal(sets[0], 7);
    assert_int_equal(sets[1], 3);
    assert_int_equal(sets[2], 1);
    assert_int_equal(sets[3], 2); /* the rest are 0: by number */
    assert_int_equal(breakdown_rank(&breakdown, icosts, 2, 2, sets), 3);
    assert_int_equal(sets[0], 3);
    char name[16];
    assert_string_equal(breakdown_set_name(&breakdown, 7, name, sizeof name), "a+b+c");
    assert_string_equal(breakdown_set_name(&breakdown, 5, name, 3), "a+");
    assert_string_equal(breakdown_set_name(&breakdown, 0, name, sizeof name), "nothing");
    breakdown_free(&breakdown);
}

/* t({a, c}) is not known: nor are the icosts of ac and abc; all others are. */
static void what_was_not_measured_is_not_known(void **state) {
    (void)state;
    struct breakdown breakdown = breakdown_of(3, (double[]){9, 7, 9, 4, 9, NAN, 9, 0});
    double icosts[8];
    breakdown_icosts(&breakdown, icosts);
    for (uint32_t set = 0; set < 8; set++) {
        assert_int_equal(isnan(icosts[set]) != 0, set == 5 || set == 7);
        assert_int_equal(isnan(breakdown_icost(&breakdown, set)) != 0, set == 5 || set == 7);
    }
    uint32_t sets[8];
    assert_int_equal(breakdown_rank(&breakdown, icosts, 1, 3, sets), 5);
    breakdown_free(&breakdown);
}

/* Sums of t(S) have the sums of costs. */
static void breakdowns_add_up(void **state) {
    (void)state;
    struct breakdown one = breakdown_of(1, (double[]){10, 4}),
                     other = breakdown_of(1, (double[]){100, 70}), sum;
    struct error error;
    one.instructions = 5;
    other.instructions = 50;
    assert_true(breakdown_init(&sum, 1, NAMES, &error));
    assert_true(isnan(sum.cycles[0]));
    breakdown_clear(&sum);
    breakdown_add(&sum, &one);
    breakdown_add(&sum, &other);
    expect_near(breakdown_cost(&sum, 1), 36);
    assert_int_equal(sum.instructions, 55);
    breakdown_free(&one);
    breakdown_free(&other);
    breakdown_free(&sum);
}

/* Three categories a, b, c over 100 cycles, of two breakdowns, the second over 200:
 *                a     b     c    ab    ac    bc
 *   reference   20    10     4    +8    -3    -1   percent
 *   measured    21     8    10    +4    +3    +3   percent
 * Of the sets a, b, c and ab, c is under 5 %; the errors of the others are 1/20, 2/10 and 4/8.
 * Measured as 10 %, c is a false alarm. Pairs over 2 % in either: ab, whose sign is the same, ac,
 * whose sign is not, and bc, which is only measured to be so large, with the other sign. */
static void error_by_hand(void **state) {
    (void)state;
    struct breakdown reference = breakdown_of(3, (double[]){100, 80, 90, 62, 96, 79, 87, 60});
    struct breakdown measured = breakdown_of(3, (double[]){200, 158, 184, 134, 180, 132, 158, 120});
    static const uint32_t sets[] = {1, 2, 4, 3};
    struct breakdown_error error = breakdown_compare(&reference, &measured, sets, 4);
    expect_near(error.mean, (0.05 + 0.2 + 0.5) / 3);
    expect_near(error.largest, 0.5);
    assert_int_equal(error.sets, 3);
    assert_int_equal(error.false_alarms, 1);
    assert_int_equal(error.pairs, 3);
    assert_int_equal(error.same_sign, 1);
    measured.cycles[3] = NAN;
    error = breakdown_compare(&reference, &measured, sets, 4);
    expect_near(error.mean, (0.05 + 0.2) / 2);
    assert_int_equal(error.sets, 2);
    assert_int_equal(error.pairs, 2);
    breakdown_free(&reference);
    breakdown_free(&measured);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_chains_by_hand),
        cmocka_unit_test(what_was_not_measured_is_not_known),
        cmocka_unit_test(breakdowns_add_up),
        cmocka_unit_test(error_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
