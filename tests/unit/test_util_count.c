/* Counts as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/count.h"

static void suffixes_are_thousands(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t count;
        char behind;
    } examples[] = {{"0", 0, 0},
                    {"17", 17, 0},
                    {"2K", 2000, 0},
                    {"3m", 3000000, 0},
                    {"1G,", 1000000000, ','},
                    {"5T", 5000000000000, 0},
                    {"1.5M", 1500000, 0},
                    {"0.25k", 250, 0},
                    {"2.000000000001T", 2000000000001, 0},
                    {"1.5", 1, '.'},
                    {"1.M", 1, '.'},
                    {"1.2345K", 1, '.'},
                    {"12x", 12, 'x'},
                    {"4KB", 4000, 'B'}};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        uint64_t count;
        const char *end;
        assert_int_equal(count_read(examples[i].text, &count, &end), COUNT_READ);
        assert_int_equal(count, examples[i].count);
        assert_int_equal(*end, examples[i].behind);
    }
}

static void what_is_no_count_is_told(void **state) {
    (void)state;
    static const char *const none[] = {"", " 1", "-1", "+1", "K", "x", "0x10"};
    uint64_t count;
    const char *end;
    for (size_t i = 0; i + 1 < sizeof none / sizeof *none; i++) {
        assert_int_equal(count_read(none[i], &count, &end), COUNT_NONE);
        assert_ptr_equal(end, none[i]);
    }
    assert_int_equal(count_read("0x10", &count, &end), COUNT_READ);
    assert_string_equal(end, "x10");
    assert_int_equal(count_read("18446744073709551615", &count, &end), COUNT_READ);
    assert_true(count == UINT64_MAX);
    assert_int_equal(count_read("18446744073709551616", &count, &end), COUNT_TOO_LARGE);
    assert_int_equal(count_read("18446744073710K", &count, &end), COUNT_READ);
    assert_int_equal(count_read("18446744073710M", &count, &end), COUNT_TOO_LARGE);
    assert_int_equal(count_read("18446744.1T", &count, &end), COUNT_TOO_LARGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffixes_are_thousands),
        cmocka_unit_test(what_is_no_count_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
