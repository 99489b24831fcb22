/* Figures of DCPI's Fig. 3, and differences against chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "query/profile_diff.h"
#include "query/variance.h"

static void near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.6f is not %.6f ± %g", value, expected, within);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared distances 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, by 7. */
static void textbook_example(void **state) {
    (void)state;
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct variance variance;
    variance_of(values, 8, &variance);
    near(variance.sum, 40, 0);
    near(variance.mean, 5, 0);
    near(variance.deviation, sqrt(32.0 / 7), 1e-12);
    near(variance.range, 7.0 / 40, 1e-12);
    assert_int_equal(variance.sets, 8);
}

/* The paper prints of each procedure the sum, mean, minimum, maximum and range of eight sets: any
 * eight values with its extremes and sum must give its range and mean. */
static void paper_rows(void **state) {
    (void)state;
    static const struct {
        double range, sum, mean, minimum, maximum;
    } ROWS[] = {{11.32, 441040, 55130.00, 38155, 88075},    /* smooth_ */
                {1.44, 72385, 9048.12, 8578, 9622},         /* fftb_ */
                {1.39, 71129, 8891.12, 8467, 9453},         /* fftf_ */
                {0.94, 4242079, 530259.87, 515253, 555180}, /* parmvr_ */
                {0.68, 378622, 47327.75, 46206, 48786},     /* putb_ */
                {0.65, 410929, 51366.13, 50420, 53110}};    /* vslvlp_ */
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double values[8] = {ROWS[i].minimum, ROWS[i].maximum};
        for (int k = 2; k < 8; k++)
            values[k] = (ROWS[i].sum - ROWS[i].minimum - ROWS[i].maximum) / 6;
        struct variance variance;
        variance_of(values, 8, &variance);
        near(100 * variance.range, ROWS[i].range, 0.0051);
        near(variance.mean, ROWS[i].mean, 0.0051);
    }
    near(100 * 441040.0 / 7144601, 6.17, 0.005); /* sum% */
}

static void sets_without_samples_count_as_zero(void **state) {
    (void)state;
    const double values[] = {0, 6, 0};
    struct variance variance;
    variance_of(values, 3, &variance);
    assert_int_equal(variance.sets, 1);
    near(variance.mean, 2, 0);
    near(variance.minimum, 0, 0);
    near(variance.range, 1, 0);
    variance_of(values, 1, &variance); /* nothing at all */
    near(variance.range, 0, 0);
    near(variance.deviation, 0, 0);
}

/* 100 → 200 samples: 100 over √300. As shares of 1000 and 2000 they are the same. */
static void changes_against_chance(void **state) {
    (void)state;
    near(diff_sigmas(100, 200, (double[2]){1, 1}, INFINITY), 100 / sqrt(300), 1e-12);
    near(diff_sigmas(200, 100, (double[2]){1, 1}, INFINITY), -100 / sqrt(300), 1e-12);
    near(diff_sigmas(100, 200, (double[2]){1e-3, 0.5e-3}, INFINITY), 0, 1e-12);
    near(diff_sigmas(0, 0, (double[2]){1, 1}, INFINITY), 0, 0);
    near(diff_sigmas(0, 9, (double[2]){1, 1}, INFINITY), 3, 1e-12);
    /* 0 in 3 seconds, 6000 in 6000: one a second, or 3 ± √3 (1 + 3/6000) where none came. */
    near(diff_sigmas(0, 6000, (double[2]){1. / 3, 1. / 6000}, INFINITY), sqrt(3), 1e-3);
    /* 900 and 950 of 1000: p = 0.925, σ = √(p (1 − p) 2/1000). */
    near(diff_sigmas(900, 950, (double[2]){0.1, 0.1}, 100), 0.05 / sqrt(0.925 * 0.075 * 0.002),
         1e-12);
    /* Everything, twice: nothing varies. */
    near(diff_sigmas(10, 20, (double[2]){10, 5}, 100), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(textbook_example),
                                       cmocka_unit_test(paper_rows),
                                       cmocka_unit_test(sets_without_samples_count_as_zero),
                                       cmocka_unit_test(changes_against_chance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
