/* The median, and the interval that its ranks give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/median.h"

static void of_even_and_odd_counts(void **state) {
    (void)state;
    double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2};
    assert_float_equal(median_of(odd, 3), 5, 0);
    assert_float_equal(median_of(even, 4), 2.5, 0);
}

static struct median_interval interval(size_t count) {
    double values[100];
    for (size_t i = 0; i < count; i++)
        values[i] = (double)((i * 37) % count) + 1; /* 1 to count, in another order */
    return median_interval_of(values, count);
}

/* 1 - 2 / 2^n between the ends: 0.9375 of five, 0.96875 of six. One place further in it is
 * 1 - 2 (1 + n) / 2^n: of eight 0.9297, of nine 0.9609; two places, 1 - 2 (1 + n + n (n-1)/2) /
 * 2^n: of eleven 0.9346, of twelve 0.9614; of ten it is still one place, 0.9785. */
static void by_rank(void **state) {
    (void)state;
    static const struct {
        size_t count;
        double low, high, confidence;
    } KNOWN[] = {{1, 1, 1, 0},
                 {2, 1, 2, 0.5},
                 {5, 1, 5, 0.9375},
                 {6, 1, 6, 0.96875},
                 {8, 1, 8, 0.9921875},
                 {9, 2, 8, 0.9609375},
                 {10, 2, 9, 0.978515625},
                 {12, 3, 10, 0.96142578125}};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        const struct median_interval found = interval(KNOWN[i].count);
        assert_float_equal(found.low, KNOWN[i].low, 0);
        assert_float_equal(found.high, KNOWN[i].high, 0);
        assert_float_equal(found.confidence, KNOWN[i].confidence, 1e-12);
        assert_float_equal(found.median, ((double)KNOWN[i].count + 1) / 2, 0);
    }
}

/* Of 100 the 40th and the 61st: the normal approximation is 50 ± 9.8 + half a place. */
static void of_many(void **state) {
    (void)state;
    const struct median_interval found = interval(100);
    assert_float_equal(found.low, 40, 0);
    assert_float_equal(found.high, 61, 0);
    assert_true(found.confidence > 0.95 && found.confidence < 0.97);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_even_and_odd_counts),
                                       cmocka_unit_test(by_rank), cmocka_unit_test(of_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
