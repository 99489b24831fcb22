/* The command that links a program under a layout: what it writes, and the order of its objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "study/relinked.h"

static void as_typed_under_layout_0(void **state) {
    (void)state;
    static const char *const WANTED[] = {"cc", "-o", "/t/p", "a.o", "-Wl,-seed=0", "b.o", "-lm"};
    char **words = relinking_words("cc -o {} a.o -Wl,-seed={n} b.o  -lm", "/t/p", 0);
    assert_non_null(words);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(words[i], WANTED[i]);
    assert_null(words[7]);
    relinking_free_words(words);
}

/* What is no object stays in its place; of three objects all six orders come, each the same every
 * time. */
static void objects_in_every_order(void **state) {
    (void)state;
    unsigned seen = 0;
    for (uint32_t layout = 1; layout < 40; layout++) {
        char **words = relinking_words("cc a.o -x b.o c.o .o -o {}", "p", layout);
        char **again = relinking_words("cc a.o -x b.o c.o .o -o {}", "p", layout);
        assert_string_equal(words[2], "-x");
        assert_string_equal(words[5], ".o");
        assert_string_equal(words[7], "p");
        const int first = words[1][0] - 'a', second = words[3][0] - 'a';
        assert_int_equal(first + second + words[4][0] - 'a', 3);
        assert_true(first != second);
        seen |= 1u << (3 * first + second);
        for (size_t i = 0; words[i]; i++)
            assert_string_equal(words[i], again[i]);
        relinking_free_words(words);
        relinking_free_words(again);
    }
    assert_int_equal(__builtin_popcount(seen), 6);
}

static void what_goes_wrong_is_told(void **state) {
    (void)state;
    struct error error;
    assert_false(relinked("/nowhere/cc -o {}", "/tmp/p", 1, &error));
    assert_non_null(strstr(error.message, "cannot run"));
    assert_false(relinked("false {}", "/tmp/p", 3, &error));
    assert_non_null(strstr(error.message, "under layout 3"));
    assert_false(relinked("true {}", "/nowhere/p", 3, &error));
    assert_non_null(strstr(error.message, "has not written"));
    assert_false(relinked("   ", "/tmp/p", 1, &error));
    assert_non_null(strstr(error.message, "no command"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_typed_under_layout_0),
                                       cmocka_unit_test(objects_in_every_order),
                                       cmocka_unit_test(what_goes_wrong_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
