/* Times as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/duration.h"

static void units_are_those_of_a_clock(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } examples[] = {{"0", 0},        {"17", 17},     {"250ms", 0.25},  {"30s", 30},    {"10m", 600},
                    {"10 min", 600}, {"1.5h", 5400}, {"30d", 2592000}, {"2w", 1209600}};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        double seconds;
        assert_true(duration_read(examples[i].text, &seconds));
        assert_true(seconds == examples[i].seconds);
    }
}

static void what_is_no_time_is_refused(void **state) {
    (void)state;
    static const char *const none[] = {
        "",    " 1",  "-1",  "+1",   "h",    "1x", "1.2.3s",
        "inf", "nan", "1e3", "0x10", "1h30", ".",  "11111111111111111111111111111111111s"};
    double seconds;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(duration_read(none[i], &seconds));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_those_of_a_clock),
        cmocka_unit_test(what_is_no_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
