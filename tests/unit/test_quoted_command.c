/* Commands as they are shown and kept, and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/quoted_command.h"

static void is_quoted_as(char *const *words, const char *expected) {
    char *text = quoted_command(words), *program = quoted_command_program(expected);
    assert_string_equal(text, expected);
    assert_true(quoted_command_is(text));
    assert_string_equal(program, *words);
    free(text);
    free(program);
}

/* Only what a shell would read otherwise has quotes. */
static void words_are_quoted_where_they_must_be(void **state) {
    (void)state;
    is_quoted_as((char *[]){"gzip", "-9", "/a/b_c.d", NULL}, "gzip -9 /a/b_c.d");
    is_quoted_as((char *[]){"python3", "-c", "print(1)", NULL}, "python3 -c 'print(1)'");
    is_quoted_as((char *[]){"/a/my program", "it's", "", NULL}, "'/a/my program' 'it'\\''s' ''");
    is_quoted_as((char *[]){"sh", "-c", "a\n\tb \\ ' c", NULL}, "sh -c $'a\\n\\tb \\\\ \\047 c'");
}

/* Words that were only joined, as a shell would not read them; a quotation that was cut off. */
static void other_texts_are_told(void **state) {
    (void)state;
    assert_true(quoted_command_is("gzip -9 a"));
    assert_false(quoted_command_is("python3 -c print(1)"));
    assert_false(quoted_command_is("echo it's"));
    assert_false(quoted_command_is("a  b"));
    assert_false(quoted_command_is("sh -c 'a"));
    assert_false(quoted_command_is("sh -c $'\\"));
    assert_false(quoted_command_is("a 'b'"));
}

static void program_is(const char *command, const char *expected) {
    char *program = quoted_command_program(command);
    assert_string_equal(program, expected);
    free(program);
}

static void a_program_is_the_first_word(void **state) {
    (void)state;
    program_is("'/a/my program' x", "/a/my program");
    program_is("/a/b", "/a/b");
    program_is("/a/it's print(1)", "/a/it's"); /* of a trace of an earlier version */
    program_is("", "");
}

/* Words that were quoted, and the same joined. */
static void joined_words_are_the_same_command(void **state) {
    (void)state;
    static const char *const SAME[][2] = {
        {"gzip -9 -c a", "gzip -9 -c a"},
        {"perl -e 'my $x = \"a b\"' 'a'\\''b'", "perl -e my $x = \"a b\" a'b"},
        {"sh -c $'a\\n\\tb \\\\ \\047 c'", "sh -c a\n\tb \\ ' c"},
        {"a ''", "a "},
        {"a 'it'\\''s' print(1)", "a 'it'\\''s' print(1)"},
    };
    static const char *const OTHER[][2] = {
        {"gzip -9", "gzip -9 -c"}, {"gzip", ""}, {"a '", "a b"}, {"a $'\\", "a "}}; /* cut off */
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        assert_true(quoted_command_same(SAME[i][0], SAME[i][1]));
        assert_true(quoted_command_same(SAME[i][1], SAME[i][0]));
    }
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++) {
        assert_false(quoted_command_same(OTHER[i][0], OTHER[i][1]));
        assert_false(quoted_command_same(OTHER[i][1], OTHER[i][0]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted_where_they_must_be),
        cmocka_unit_test(other_texts_are_told),
        cmocka_unit_test(a_program_is_the_first_word),
        cmocka_unit_test(joined_words_are_the_same_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
