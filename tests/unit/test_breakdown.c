/* Costs and interaction costs of times worked by hand, the definition of §2.2 against the fast
 * transform, ranking, and Table IX's error. */
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

static void expect_pair(const double *cycles, double a, double b, double pair) {
    struct breakdown breakdown = breakdown_of(2, cycles);
    double icosts[4];
    breakdown_icosts(&breakdown, icosts);
    expect_near(breakdown_cost(&breakdown, 1), a);
    expect_near(breakdown_cost(&breakdown, 2), b);
    expect_near(breakdown_cost(&breakdown, 3), a + b + pair);
    for (uint32_t set = 0; set < 4; set++)
        expect_near(icosts[set], breakdown_icost(&breakdown, set));
    expect_near(icosts[0], 0);
    expect_near(icosts[3], pair);
    /* The icosts and what nothing removes are the whole time. */
    expect_near(icosts[1] + icosts[2] + icosts[3] + cycles[3], cycles[0]);
    breakdown_free(&breakdown);
}

/* §2.2: two misses of 100 cycles ... */
static void two_misses_by_hand(void **state) {
    (void)state;
    /* ... side by side: the time stays 100 until both are gone. */
    expect_pair((double[]){100, 100, 100, 0}, 0, 0, 100);
    /* ... one after the other, beside 100 cycles of ALU operations: 100 when either is gone. */
    expect_pair((double[]){200, 100, 100, 100}, 100, 100, -100);
    /* ... one after the other, beside nothing: each costs its own. */
    expect_pair((double[]){200, 100, 100, 0}, 100, 100, 0);
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

static void transform_equals_recursion(void **state) {
    (void)state;
    enum { SETS = 256 };
    double cycles[SETS], recursive[SETS], icosts[SETS];
    srand(5);
    for (int round = 0; round < 20; round++) {
        for (uint32_t set = 0; set < SETS; set++)
            cycles[set] = rand() % 1000000;
        struct breakdown breakdown = breakdown_of(8, cycles);
        breakdown_icosts(&breakdown, icosts);
        double sum = cycles[SETS - 1];
        for (uint32_t set = 0; set < SETS; set++) {
            recursive[set] = cycles[0] - cycles[set];
            for (uint32_t part = 0; part < set; part++)
                if ((part & set) == part)
                    recursive[set] -= recursive[part];
            expect_near(icosts[set], recursive[set]);
            expect_near(breakdown_icost(&breakdown, set), recursive[set]);
            sum += icosts[set];
        }
        expect_near(sum, cycles[0]);
        breakdown_free(&breakdown);
    }
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
        cmocka_unit_test(two_misses_by_hand),
        cmocka_unit_test(three_chains_by_hand),
        cmocka_unit_test(transform_equals_recursion),
        cmocka_unit_test(what_was_not_measured_is_not_known),
        cmocka_unit_test(breakdowns_add_up),
        cmocka_unit_test(error_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
