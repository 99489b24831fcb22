/* Quantiles of the Erlang distribution, against those known in closed form or from tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/erlang.h"

/* One event: exponential. */
static void of_one_event(void **state) {
    (void)state;
    assert_true(fabs(erlang_quantile(1, 0.5) - log(2)) < 1e-12);
    assert_true(fabs(erlang_quantile(1, 0.01) - log(100)) < 1e-12);
    assert_true(fabs(erlang_quantile(1, 0.99) + log(0.99)) < 1e-12);
}

/* Half of what chi squared has with twice as many degrees of freedom: its upper 5 % are 9.4877 of
 * 4, 18.3070 of 10 and 124.3421 of 100, its medians 3.3567 of 4 and 9.3418 of 10. */
static void as_tables_of_chi_squared_have_it(void **state) {
    (void)state;
    assert_true(fabs(2 * erlang_quantile(2, 0.05) - 9.4877) < 5e-5);
    assert_true(fabs(2 * erlang_quantile(5, 0.05) - 18.3070) < 5e-5);
    assert_true(fabs(2 * erlang_quantile(50, 0.05) - 124.3421) < 5e-5);
    assert_true(fabs(2 * erlang_quantile(2, 0.5) - 3.3567) < 5e-5);
    assert_true(fabs(2 * erlang_quantile(5, 0.5) - 9.3418) < 5e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_one_event),
                                       cmocka_unit_test(as_tables_of_chi_squared_have_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
