/* Keys of an INI file are handed over with their sections; of several mistakes the first is told,
 * with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "study/ini_file.h"

/* Writes down what it is given; a key "bad" is a mistake. */
static bool take(void *context, const char *section, const char *key, const char *value,
                 struct error *error) {
    char *taken = context;
    const size_t length = strlen(taken);
    snprintf(taken + length, 400 - length, "%s.%s=%s ", section, key, value);
    return strcmp(key, "bad") != 0 || error_set(error, "bad %s", value);
}

/* What was taken of a text; the error lacks the name of the file. */
static const char *read_text(const char *text, struct error *error) {
    static char taken[400];
    char path[64];
    const int descriptor = memfd_create("ini", MFD_CLOEXEC);
    assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const struct ini_file file = {.path = path, .section = "pair", .take = take, .context = taken};
    *taken = 0;
    *error = (struct error){0};
    const bool good = ini_file_read(&file, error);
    assert_int_equal(good, !error->message[0]);
    if (!good) {
        assert_memory_equal(error->message, path, strlen(path));
        memmove(error->message, error->message + strlen(path),
                strlen(error->message + strlen(path)) + 1);
    }
    close(descriptor);
    return taken;
}

static void keys_are_handed_over_with_their_sections(void **state) {
    (void)state;
    struct error error;
    assert_string_equal(read_text("a = 1\n[one]\nb = 2 3\n; no key\n[two]\nb =\n", &error),
                        ".a=1 one.b=2 3 two.b= ");
    assert_string_equal(error.message, "");
    assert_string_equal(read_text("", &error), "");
    assert_string_equal(error.message, "");
}

static void the_first_mistake_is_told(void **state) {
    (void)state;
    struct error error;
    assert_string_equal(read_text("[one]\nbad = 1\nbad = 2\nneither\n", &error), "one.bad=1 ");
    assert_string_equal(error.message, ":2: bad 1");
    read_text("[one]\nneither\nbad = 2\n", &error);
    assert_string_equal(error.message, ":2: neither [pair], key = value nor ; comment");
}

/* 198 bytes and a newline are read, and not one more. */
static void a_line_that_is_too_long_is_told(void **state) {
    (void)state;
    struct error error;
    char text[400];
    snprintf(text, sizeof text, "[one]\nb = %0194d\nc = 1\n", 7);
    assert_non_null(strstr(read_text(text, &error), "7 one.c=1 "));
    assert_string_equal(error.message, "");
    snprintf(text, sizeof text, "[one]\nb = %0195d\nc = 1\n", 7);
    assert_string_equal(read_text(text, &error), "");
    assert_string_equal(error.message, ":2: longer than 198 bytes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_handed_over_with_their_sections),
        cmocka_unit_test(the_first_mistake_is_told),
        cmocka_unit_test(a_line_that_is_too_long_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
