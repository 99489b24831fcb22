/* Effects of settings, fronts and formulas, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/design_summary.h"
#include "util/arithmetic.h"
#include "util/factorial.h"

/* Factors A and B of two levels each: a1b1 1, a1b2 3, a2b1 5, a2b2 11. The mean is 5. Means: a1 2,
 * a2 8; b1 3, b2 7. So the effects are -3 and +3; -2 and +2. Interaction at a1b1: 1 - (5 - 3 - 2) =
 * 1; at a1b2: 3 - (5 - 3 + 2) = -1, and so on. Squares: 4 x 9 = 36, 4 x 4 = 16, 4 x 1 = 4; in all
 * (1 - 5)^2 + (3 - 5)^2 + 0 + (11 - 5)^2 = 56. */
static void of_two_by_two(void **state) {
    (void)state;
    static const double VALUES[] = {1, 3, 5, 11};
    struct factorial of = {.factor_count = 2, .levels = {2, 2}, .values = VALUES};
    struct error error;
    assert_true(factorial_find(&of, &error));
    assert_float_equal(of.mean, 5, 1e-12);
    assert_float_equal(of.squares, 56, 1e-12);
    assert_float_equal(of.effects[0][0], -3, 1e-12);
    assert_float_equal(of.effects[0][1], 3, 1e-12);
    assert_float_equal(of.effects[1][0], -2, 1e-12);
    assert_float_equal(of.effects[1][1], 2, 1e-12);
    assert_int_equal(of.pair_count, 1);
    assert_float_equal(of.pairs[0].largest, 1, 1e-12);
    assert_int_equal(of.pairs[0].levels[0], 0);
    assert_int_equal(of.pairs[0].levels[1], 0);
    assert_float_equal(of.shares[0], 36.0 / 56, 1e-12);
    assert_float_equal(of.shares[1], 16.0 / 56, 1e-12);
    assert_float_equal(of.pairs[0].share, 4.0 / 56, 1e-12);
    assert_float_equal(of.rest, 0, 1e-12);
    factorial_free(&of);
}

/* A factor of one level says nothing; one of three: 0, 0, 6 in the mean, 2 in all: -2, -2, +4. The
 * other factor adds 1 to everything at its second level: +-0.5, without an interaction. */
static void of_one_three_and_two(void **state) {
    (void)state;
    static const double VALUES[] = {-0.5, 0.5, -0.5, 0.5, 5.5, 6.5};
    struct factorial of = {.factor_count = 3, .levels = {1, 3, 2}, .values = VALUES};
    struct error error;
    assert_true(factorial_find(&of, &error));
    assert_float_equal(of.effects[0][0], 0, 1e-12);
    assert_float_equal(of.effects[1][0], -2, 1e-12);
    assert_float_equal(of.effects[1][1], -2, 1e-12);
    assert_float_equal(of.effects[1][2], 4, 1e-12);
    assert_float_equal(of.effects[2][1], 0.5, 1e-12);
    assert_int_equal(of.pair_count, 1); /* of the second and third */
    assert_int_equal(of.pairs[0].factors[0], 1);
    assert_float_equal(of.pairs[0].share, 0, 1e-12);
    assert_float_equal(of.shares[1] + of.shares[2], 1, 1e-12);
    factorial_free(&of);
}

/* +1 where an even number of the three factors are at their second level, else -1: no effect, no
 * interaction of two, all of three. */
static void of_three_together(void **state) {
    (void)state;
    static const double VALUES[] = {1, -1, -1, 1, -1, 1, 1, -1};
    struct factorial of = {.factor_count = 3, .levels = {2, 2, 2}, .values = VALUES};
    struct error error;
    assert_true(factorial_find(&of, &error));
    for (int i = 0; i < 3; i++) {
        assert_float_equal(of.shares[i], 0, 1e-12);
        assert_float_equal(of.pairs[i].share, 0, 1e-12);
    }
    assert_float_equal(of.rest, 1, 1e-12);
    factorial_free(&of);
}

static void of_equal_values(void **state) {
    (void)state;
    static const double VALUES[] = {7, 7, 7, 7};
    struct factorial of = {.factor_count = 2, .levels = {2, 2}, .values = VALUES};
    struct error error;
    assert_true(factorial_find(&of, &error));
    assert_float_equal(of.shares[0] + of.pairs[0].share + of.rest, 0, 0);
    factorial_free(&of);
}

/* Cost 1: 1.0; cost 2: 1.5 and 1.2; cost 3: 1.5, no faster than for 2; cost 4: 2. One was not done,
 * one has no cost; two that are alike are both on the front. */
static void the_front(void **state) {
    (void)state;
    static const double COSTS[] = {1, 2, 2, 3, 4, 1, NAN, 4};
    static const double SPEEDS[] = {1.0, 1.5, 1.2, 1.5, 2, 0, 9, 2};
    static const bool FRONT[] = {true, true, false, false, true, false, false, true};
    bool front[8];
    pareto_front(COSTS, SPEEDS, 8, front);
    for (int i = 0; i < 8; i++)
        assert_int_equal(front[i], FRONT[i]);
}

/* ---- formulas ---- */

static bool key(void *context, const char *name, double *value, struct error *error) {
    (void)context;
    *value = !strcmp(name, "core.rob") ? 128 : 256 * 1024;
    return !strcmp(name, "core.rob") || !strcmp(name, "l2.size") || error_set(error, "no %s", name);
}

static double value(const char *text) {
    struct error error = {0};
    double result = NAN;
    if (!arithmetic_value(text, key, NULL, &result, &error))
        print_error("%s\n", error.message);
    return result;
}

static void formulas(void **state) {
    (void)state;
    assert_float_equal(value("l2.size/1K + 2*core.rob"), 512, 0);
    assert_float_equal(value(" 2 * (3 - 1) - -4 / 8 "), 4.5, 0);
    assert_float_equal(value("8 / 4 / 2"), 1, 0); /* from the left */
    assert_float_equal(value("10 - 4 - 3"), 3, 0);
    assert_float_equal(value("1.5K"), 1536, 0);
}

static void says(const char *text, const char *message) {
    struct error error = {0};
    double result;
    assert_false(arithmetic_value(text, key, NULL, &result, &error));
    assert_string_equal(error.message, message);
}

static void wrong_formulas(void **state) {
    (void)state;
    says("1 +", "1 +: character 4: a number, a name or ( should be here");
    says("(1 + 2", "(1 + 2: character 1: this is not closed");
    says("2 core.rob", "2 core.rob: character 3: an operator should be here");
    says("1 + core.robe", "1 + core.robe: character 5: no core.robe");
    says("1/(2-2)", "1/(2-2): character 2: a division by 0");
    says("3KB", "3KB: character 1: no number");
    says("", ": character 1: a number, a name or ( should be here");
    char deep[400];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    struct error error;
    double result;
    assert_false(arithmetic_value(deep, key, NULL, &result, &error));
    assert_non_null(strstr(error.message, "nested too deeply"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_by_two),     cmocka_unit_test(of_one_three_and_two),
        cmocka_unit_test(of_three_together), cmocka_unit_test(of_equal_values),
        cmocka_unit_test(the_front),         cmocka_unit_test(formulas),
        cmocka_unit_test(wrong_formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
