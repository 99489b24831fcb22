/* Probabilities of counts, against sums that can be done by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/binomial.h"

static void near(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.15g is not %.15g", value, expected);
}

/* Ten coins: 8, 9 and 10 heads come in 45 + 10 + 1 of 1024 ways. */
static void coins(void **state) {
    (void)state;
    near(binomial_at_least(8, 10, 0.5), 56. / 1024, 1e-12);
    near(binomial_at_least(0, 10, 0.5), 1, 0);
    near(binomial_at_least(10, 10, 0.5), 1. / 1024, 1e-12);
    near(binomial_at_least(11, 10, 0.5), 0, 0);
    near(binomial_two_sided(8, 10, 0.5), 2 * 56. / 1024, 1e-12);
    near(binomial_two_sided(2, 10, 0.5), 2 * 56. / 1024, 1e-12);
    near(binomial_two_sided(5, 10, 0.5), 1, 0);
}

/* The sum of all terms from k on, each from its logarithm. */
static double by_terms(int k, int n, double p) {
    double sum = 0;
    for (int i = k; i <= n; i++)
        sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) +
                   (n - i) * log1p(-p));
    return sum;
}

static void against_the_terms(void **state) {
    (void)state;
    static const struct {
        int k, n;
        double p;
    } CASES[] = {{1, 40, 0.001}, {30, 100, 0.1},     {500, 1000, 0.4},
                 {3, 7, 0.9},    {900, 10000, 0.05}, {60, 20000, 0.002}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        near(binomial_at_least(CASES[i].k, CASES[i].n, CASES[i].p),
             by_terms(CASES[i].k, CASES[i].n, CASES[i].p), 1e-9);
}

/* Of nothing, of certainty, and far out, where nothing may become NAN. */
static void at_the_edges(void **state) {
    (void)state;
    near(binomial_two_sided(0, 100, 0), 1, 0);
    near(binomial_two_sided(100, 100, 1), 1, 0);
    near(binomial_two_sided(3, 100, 0), 0, 0);
    assert_true(binomial_two_sided(90000, 100000, 0.1) < 1e-300);
    assert_true(binomial_two_sided(0, 1e9, 1e-12) > 0.99);
}

/* Points of the tables: 18.307 of 10 degrees is exceeded with 5 %, 135.807 of 100 with 1 %. */
static void chi_square(void **state) {
    (void)state;
    near(chi_square_at_least(18.307, 10), 0.05, 0.01);
    near(chi_square_at_least(135.807, 100), 0.01, 0.01);
    near(chi_square_at_least(0, 5), 1, 0);
    near(chi_square_at_least(7.815, 3), 0.05, 0.03);
}

/* 5 of 10: 0.5 ± 1.96 / 1.38415 × √(0.025 + 0.0096037); 10 of 10: from 1 / (1 + 1.96² / 10). */
static void intervals_of_probabilities(void **state) {
    (void)state;
    const struct binomial_interval half = binomial_interval95(5, 10);
    near(half.low, 0.236593, 1e-5);
    near(half.high, 0.763407, 1e-5);
    const struct binomial_interval all = binomial_interval95(10, 10);
    near(all.low, 0.722467, 1e-5);
    near(all.high, 1, 1e-12);
    const struct binomial_interval none = binomial_interval95(0, 10);
    near(none.high, 1 - 0.722467, 1e-5);
    assert_true(none.low >= 0 && none.low < 1e-12);
    const struct binomial_interval unknown = binomial_interval95(0, 0);
    assert_true(unknown.low == 0 && unknown.high == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(coins), cmocka_unit_test(against_the_terms),
                                       cmocka_unit_test(at_the_edges), cmocka_unit_test(chi_square),
                                       cmocka_unit_test(intervals_of_probabilities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
