/* Costs and interaction costs of times worked by hand, and the recursion of §2.2 against the sums
 * that icost.c computes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/icost.h"

static void expect_near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-6))
        fail_msg("%.15g is not %.15g", value, expected);
}

/* Times in the order of the sets: {}, a, b, ab. */
static void expect_pair(const double *times, double a, double b, double pair) {
    double icosts[4];
    icost_all(times, 2, icosts);
    expect_near(icost_cost(times, 1), a);
    expect_near(icost_cost(times, 2), b);
    expect_near(icost_cost(times, ICOST_PAIR), a + b + pair);
    for (uint32_t set = 0; set < 4; set++)
        expect_near(icosts[set], icost(times, set));
    expect_near(icosts[0], 0);
    expect_near(icosts[ICOST_PAIR], pair);
    /* The icosts and what nothing removes are the whole time. */
    expect_near(icosts[1] + icosts[2] + icosts[3] + times[3], times[0]);
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

/* Three misses of 100 cycles side by side: 100 until all are gone.
 *   costs: 0 of each and of each pair, abc 100
 *   icosts: 0 of each pair, abc 100 − 0 − 0 = 100
 * b and c one after the other, both beside a of 150: t = max(a, b + c).
 *   times: {} 200, a 200, b 150, ab 100, c 150, ac 100, bc 150, abc 0
 *   costs: a 0, b 50, ab 100, c 50, ac 100, bc 50, abc 200
 *   icosts: ab 100 − 50 = 50, ac 50, bc 50 − 100 = −50, abc 200 − (50 + 50 + 50 + 50 − 50) = 50 */
static void three_misses_by_hand(void **state) {
    (void)state;
    expect_near(icost((double[]){100, 100, 100, 100, 100, 100, 100, 0}, 7), 100);
    static const double times[] = {200, 200, 150, 100, 150, 100, 150, 0};
    static const double expected[] = {0, 0, 50, 50, 50, 50, -50, 50};
    for (uint32_t set = 0; set < 8; set++)
        expect_near(icost(times, set), expected[set]);
}

static void sums_equal_the_recursion(void **state) {
    (void)state;
    enum { CATEGORIES = 8, SETS = 1 << CATEGORIES };
    double times[SETS], recursive[SETS], icosts[SETS];
    srand(5);
    for (int round = 0; round < 20; round++) {
        for (uint32_t set = 0; set < SETS; set++)
            times[set] = rand() % 1000000;
        icost_all(times, CATEGORIES, icosts);
        double sum = times[SETS - 1];
        for (uint32_t set = 0; set < SETS; set++) {
            recursive[set] = times[0] - times[set];
            for (uint32_t part = 0; part < set; part++)
                if ((part & set) == part)
                    recursive[set] -= recursive[part];
            expect_near(icosts[set], recursive[set]);
            expect_near(icost(times, set), recursive[set]);
            sum += icosts[set];
        }
        expect_near(sum, times[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_misses_by_hand),
        cmocka_unit_test(three_misses_by_hand),
        cmocka_unit_test(sums_equal_the_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
