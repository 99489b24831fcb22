/* Words that come of other words: a command's, and what traces of a list begin with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "region/region_traces.h"
#include "study/compare_run.h"

static void arguments_follow_the_words_of_a_command(void **state) {
    (void)state;
    char *arguments[] = {"-c", "a b", NULL}, *copy;
    char **command = compare_command("gzip -9", arguments, &copy);
    assert_non_null(command);
    assert_string_equal(command[0], "gzip");
    assert_string_equal(command[1], "-9");
    assert_string_equal(command[2], "-c");
    assert_string_equal(command[3], "a b"); /* one word */
    assert_null(command[4]);
    free(command);
    free(copy);
    command = compare_command(" ", NULL, &copy);
    assert_non_null(command);
    assert_null(command[0]);
    free(command);
    free(copy);
}

static void what_traces_of_a_list_begin_with(void **state) {
    (void)state;
    static const char *const NAMES[][2] = {{"lists/gzip.csv", "gzip"},
                                           {"gzip.regions.csv", "gzip"},
                                           {"gzip.regions", "gzip"},
                                           {"a.b/gzip", "gzip"},
                                           {".csv", ".csv"}};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char *prefix = region_traces_prefix(NAMES[i][0]);
        assert_non_null(prefix);
        assert_string_equal(prefix, NAMES[i][1]);
        free(prefix);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arguments_follow_the_words_of_a_command),
                                       cmocka_unit_test(what_traces_of_a_list_begin_with)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
