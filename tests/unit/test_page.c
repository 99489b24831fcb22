/* The page of a report: how text wraps on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/page.h"
#include "util/ascii_stream.h"

/* What is written on a page of so many columns. */
struct written {
    struct page page;
    char *text;
    size_t size;
};

static struct written *begin(unsigned columns) {
    struct written *written = calloc(1, sizeof *written);
    assert_non_null(written);
    written->page = page_of(open_memstream(&written->text, &written->size), false);
    written->page.columns = written->page.table_columns = columns;
    return written;
}

static void expect(struct written *written, const char *text) {
    fclose(ascii_stream_behind(written->page.file));
    assert_string_equal(written->text, text);
    free(written->text);
    free(written);
}

static void no_terminal_is_100_columns_wide(void **state) {
    (void)state;
    struct written *written;
    unsetenv("COLUMNS");
    written = begin(0);
    assert_int_equal(page_of(written->page.file, false).columns, 100);
    assert_int_equal(page_of(written->page.file, false).table_columns, 200);
    setenv("COLUMNS", "72", 1);
    assert_int_equal(page_of(written->page.file, false).columns, 72);
    assert_int_equal(page_of(written->page.file, false).table_columns, 72);
    assert_int_equal(page_of(written->page.file, true).columns, 72);
    assert_true(page_of(written->page.file, true).table_columns > 10000);
    setenv("COLUMNS", "7", 1);
    assert_int_equal(page_of(written->page.file, false).columns, 40);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(page_of(written->page.file, false).columns, 100);
    unsetenv("COLUMNS");
    expect(written, "");
}

/* "one two three" has 13 columns, with " - " 16: with 15 the last word goes on under the first. */
static void text_wraps_at_words(void **state) {
    (void)state;
    struct written *written = begin(16);
    page_wrap(&written->page, "one two three four", NULL, " - ", "   ");
    expect(written, " - one two three\n   four\n");
    written = begin(15);
    page_wrap(&written->page, "one two three four", NULL, " - ", "   ");
    expect(written, " - one two\n   three four\n");
}

/* One column each; where the page of another is given its file, too. */
static void signs_are_those_of_the_locale(void **state) {
    (void)state;
    static const char SIGNS[] = "±1.5 µs ██▌ ▁▃█ │├└ ab… Größe";
    setenv("LC_ALL", "C", 1);
    struct written *written = begin(100);
    page_wrap(&written->page, SIGNS, NULL, "", "");
    const struct page again = page_of(written->page.file, false);
    page_wrap(&again, "a…", NULL, "", "");
    setenv("LC_ALL", "de_DE.utf8", 1);
    fputs("·\n", page_of(again.file, false).file);
    expect(written, "~1.5 us ### .-# ||` ab~ Größe\na~\n·\n");
    written = begin(100);
    page_wrap(&written->page, SIGNS, NULL, "", "");
    unsetenv("LC_ALL");
    expect(written, "±1.5 µs ██▌ ▁▃█ │├└ ab… Größe\n");
}

/* "saves 11.2" has 10 columns, "saves 11.2 %" 12. */
static void a_figure_keeps_its_unit(void **state) {
    (void)state;
    struct written *written = begin(12);
    page_wrap(&written->page, "saves 11.2 %. More", NULL, "", "");
    expect(written, "saves\n11.2 %. More\n");
    written = begin(11);
    page_print(&written->page, "5 %% of it");
    expect(written, "5 % of it\n");
    written = begin(11);
    page_wrap(&written->page, "it took 12 ms, in 1.5 M steps of 3 each", NULL, "", "");
    expect(written, "it took\n12 ms, in\n1.5 M steps\nof 3 each\n");
}

/* Copied line by line into a shell, it is the same command: no line ends within quotes, and each
 * but the last ends with a backslash, for which there is room. */
static void a_command_that_wraps_can_be_copied(void **state) {
    (void)state;
    const char *next = "culprit sim -- sh -c 'sleep 1; true' x";
    struct written *written = begin(24);
    page_wrap(&written->page, next, next, "next: ", "  ");
    expect(written, "next: culprit sim -- \\\n  sh -c \\\n  'sleep 1; true' x\n");
    const char *quote = "c 'it'\\''s one' two";
    written = begin(12);
    page_wrap(&written->page, quote, quote, "", "  ");
    expect(written, "c \\\n  'it'\\''s one' \\\n  two\n");
}

static void a_note_ends_with_a_command(void **state) {
    (void)state;
    const char *note = "to have them: cd 'a b' && make";
    struct written *written = begin(20);
    page_wrap(&written->page, note, strstr(note, "cd"), "- ", "  ");
    expect(written, "- to have them: cd \\\n  'a b' && make\n");
}

/* What is quoted in prose is a command to be copied; an apostrophe quotes nothing. */
static void quoted_commands_stay_whole(void **state) {
    (void)state;
    struct written *written = begin(24);
    page_wrap(&written->page, "gone (see 'culprit epochs list'), its owner's too", NULL, "", "  ");
    expect(written, "gone (see\n  'culprit epochs list'),\n  its owner's too\n");
    written = begin(16);
    page_wrap(&written->page, "the daemons' store isn't ours", NULL, "", "");
    expect(written, "the daemons'\nstore isn't ours\n");
}

static void titles_are_cut(void **state) {
    (void)state;
    struct written *written = begin(20);
    page_title(&written->page, "a command of 24 columns", false);
    page_title(&written->page, "a command of 24 columns", true);
    expect(written, "a command of 24 col…\na command… (partial)\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_terminal_is_100_columns_wide),
        cmocka_unit_test(text_wraps_at_words),
        cmocka_unit_test(signs_are_those_of_the_locale),
        cmocka_unit_test(a_figure_keeps_its_unit),
        cmocka_unit_test(a_command_that_wraps_can_be_copied),
        cmocka_unit_test(a_note_ends_with_a_command),
        cmocka_unit_test(quoted_commands_stay_whole),
        cmocka_unit_test(titles_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
