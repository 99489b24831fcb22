/* The readings of IMAGE:NAME. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/image_name.h"

/* Expected: "IMAGE NAME, IMAGE NAME", in their order. */
static void expect(const char *text, const char *expected) {
    char all[256] = "";
    for (struct image_name reading = {.name = NULL}; image_name_next(&reading, text);) {
        strcat(strcat(all, *all ? ", " : ""), reading.image);
        strcat(strcat(all, " "), reading.name);
    }
    assert_string_equal(all, expected);
}

static void one_colon(void **state) {
    (void)state;
    expect("libc.so.6:memcpy", "libc.so.6 memcpy");
    expect("/lib/libc.so.6:memcpy", "/lib/libc.so.6 memcpy");
    expect("memcpy", "");
    expect("image:", "image ");
    expect(":name", "");
}

static void colons_of_names(void **state) {
    (void)state;
    expect("std::sort", "");
    expect("program:std::sort", "program std::sort");
    expect("-[View draw:]", "-[View draw ]");
    expect("app:-[View draw:]", "app -[View draw:], app:-[View draw ]");
    expect("a:::b", "");
}

static void too_long(void **state) {
    (void)state;
    char *text = calloc(PATH_MAX + 3, 1);
    assert_non_null(text);
    memset(text, 'i', PATH_MAX - 1);
    strcpy(text + PATH_MAX - 1, ":n");
    struct image_name reading = {.name = NULL};
    assert_true(image_name_next(&reading, text));
    assert_int_equal(strlen(reading.image), PATH_MAX - 1);
    strcpy(text + PATH_MAX - 1, "i:n");
    reading.name = NULL;
    assert_false(image_name_next(&reading, text));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_colon),
        cmocka_unit_test(colons_of_names),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests_name("image_name", tests, NULL, NULL);
}
