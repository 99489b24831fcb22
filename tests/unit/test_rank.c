/* Spearman's rank correlation, worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/rank.h"

static void is(double found, double expected) {
    if (!(fabs(found - expected) < 1e-12))
        fail_msg("%f, not %f", found, expected);
}

static void order_alone_counts(void **state) {
    (void)state;
    is(rank_correlation((double[]){1, 2, 3}, (double[]){10, 1000, 1001}, 3), 1);
    is(rank_correlation((double[]){1, 2, 3}, (double[]){3, 2, -1}, 3), -1);
    /* Ranks 1 2 3 4 and 2 1 4 3 differ by 1 each: 1 − 6 × 4 / (4 × (16 − 1)) = 0.6. */
    is(rank_correlation((double[]){1, 2, 3, 4}, (double[]){6, 5, 8, 7}, 4), 0.6);
}

/* Ranks 1 2.5 2.5 4 and 1 2 3 4, less their mean 2.5: −1.5 0 0 1.5 and −1.5 −0.5 0.5 1.5. Sum of
 * products 4.5; of squares 4.5 and 5: 4.5 / √22.5. */
static void equal_values_share_a_rank(void **state) {
    (void)state;
    is(rank_correlation((double[]){1, 5, 5, 9}, (double[]){1, 2, 3, 4}, 4), 4.5 / sqrt(22.5));
}

static void nothing_is_said_of_what_has_no_order(void **state) {
    (void)state;
    assert_true(isnan(rank_correlation((double[]){1, 2}, (double[]){1, 2}, 2)));
    assert_true(isnan(rank_correlation((double[]){4, 4, 4}, (double[]){1, 2, 3}, 3)));
    assert_true(isnan(rank_correlation((double[]){1, 2, 3}, (double[]){4, 4, 4}, 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_alone_counts),
        cmocka_unit_test(equal_values_share_a_rank),
        cmocka_unit_test(nothing_is_said_of_what_has_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
