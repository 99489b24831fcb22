/* Names of files that follow from those of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "util/file_name.h"

static void without_folder(void **state) {
    (void)state;
    assert_string_equal(file_base_name("/usr/bin/gzip"), "gzip");
    assert_string_equal(file_base_name("gzip"), "gzip");
    assert_string_equal(file_base_name("/gzip"), "gzip");
    assert_string_equal(file_base_name("bin/"), "bin/"); /* names no file */
    assert_string_equal(file_base_name(""), "");
}

static void with_an_ending(void **state) {
    (void)state;
    char name[NAME_MAX + 1];
    assert_true(file_name_from("dir/gzip.ctrace", ".ctrace", ".bb", name));
    assert_string_equal(name, "gzip.bb");
    assert_true(file_name_from("gzip", NULL, ".bb", name));
    assert_string_equal(name, "gzip.bb");
    assert_false(file_name_from("dir/", NULL, ".bb", name));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_folder),
        cmocka_unit_test(with_an_ending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
