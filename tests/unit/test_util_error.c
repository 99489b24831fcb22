/* Error messages: prefixes, errno, truncation without overflow. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "util/array.h"
#include "util/error.h"

static void messages(void **state) {
    (void)state;
    struct error error = {0};
    assert_false(error_set(&error, "%s: line %d", "a.ini", 7));
    assert_string_equal(error.message, "a.ini: line 7");
    assert_false(error_prefix(&error, "machine %s", "zen4"));
    assert_string_equal(error.message, "machine zen4: a.ini: line 7");
    errno = ENOENT;
    assert_false(error_errno(&error, "%s", "missing"));
    assert_string_equal(error.message, "missing: No such file or directory");
}

/* Whether a limit of the process is behind it, which the user can raise. */
static void file_limit(void **state) {
    (void)state;
    struct error error = {0};
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    errno = EFBIG;
    if (before.rlim_cur == RLIM_INFINITY) {
        error_errno(&error, "a.ctrace");
        assert_string_equal(error.message, "a.ctrace: File too large");
    }
    const struct rlimit limit = {.rlim_cur = 10240, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = EFBIG;
    error_errno(&error, "a.ctrace");
    setrlimit(RLIMIT_FSIZE, &before);
    assert_string_equal(error.message,
                        "a.ctrace: File too large, the limit is 10240 bytes (raise it: ulimit -f)");
}

/* What a message quotes of a damaged file: white space that ends lines is a space, what would steer
 * a terminal (ESC, DEL, the C1 control U+009B, a byte that is no UTF-8) a question mark. */
static void one_line(void **state) {
    (void)state;
    struct error error = {0};
    error_set(&error, "near \"%s\"", "CREATE\n\t TABLE\r\n x\x1b[31m\x7f\xc2\x9b\x9b µ é ");
    assert_string_equal(error.message, "near \"CREATE  TABLE  x?[31m???? µ é \"");
    error_prefix(&error, "a\nb.db");
    assert_string_equal(error.message, "a b.db: near \"CREATE  TABLE  x?[31m???? µ é \"");
    error_set(&error, "%s", "\xf0\x9f\x98"); /* cut within a character */
    assert_string_equal(error.message, "???");
}

static void truncated(void **state) {
    (void)state;
    struct error error;
    char lengthy[4096];
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    error_set(&error, "%s", lengthy);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    error_prefix(&error, "%s", lengthy);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    errno = EIO;
    error_errno(&error, "%s", lengthy);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void arrays(void **state) {
    (void)state;
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(array_reserve((void **)&items, &capacity, i + 1, sizeof *items));
        items[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    /* A size that overflows changes nothing. */
    size_t before = capacity;
    assert_false(array_reserve((void **)&items, &capacity, SIZE_MAX / 2, sizeof *items));
    assert_int_equal(capacity, before);
    free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages), cmocka_unit_test(file_limit),
                                       cmocka_unit_test(one_line), cmocka_unit_test(truncated),
                                       cmocka_unit_test(arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
