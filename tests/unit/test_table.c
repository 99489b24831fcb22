/* Tables on pages of several widths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/table.h"

struct written {
    struct page page;
    char *text;
    size_t size;
};

static struct table *begin(struct written *written, unsigned columns) {
    written->page = page_of(open_memstream(&written->text, &written->size), false);
    written->page.columns = written->page.table_columns = columns;
    return table_new(&written->page);
}

static void expect(struct written *written, struct table *table, const char *text) {
    table_print(table);
    table_free(table);
    fclose(written->page.file);
    assert_string_equal(written->text, text);
    free(written->text);
}

/* Needs 5 + 1 + 18 + 2 + 11 + 1 + 4 = 42 columns. */
static struct table *functions(struct written *written, unsigned columns) {
    static const struct table_column COLUMNS[] = {
        {"share", TABLE_FIGURE, .gap = 0},
        {"function", TABLE_NAME, .gap = 1, .least = 10},
        {"source", TABLE_PATH, .gap = 2, .least = 6, .rank = 1},
        {"misp", TABLE_FIGURE, .gap = 1, .rank = 2}};
    struct table *table = begin(written, columns);
    table_columns(table, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    static const char *const rows[][4] = {{"61.2", "Index<Hash>::probe", "a/probe.c:1", "7.0"},
                                          {"4.0", "Index<Tree>::probe", "b.c:22", "0.1"}};
    for (int row = 0; row < 2; row++)
        for (int cell = 0; cell < 4; cell++)
            table_cell(table, rows[row][cell]);
    table_line(table, "  3 more");
    return table;
}

static void what_fits_is_whole(void **state) {
    (void)state;
    struct written written;
    struct table *table = functions(&written, 42);
    assert_true(table_fits(table));
    expect(&written, table,
           "share function            source      misp\n"
           " 61.2 Index<Hash>::probe  a/probe.c:1  7.0\n"
           "  4.0 Index<Tree>::probe  b.c:22       0.1\n"
           "  3 more\n");
}

/* No more than it needs. */
static void a_wide_page_is_not_filled(void **state) {
    (void)state;
    struct written written;
    struct table *table = functions(&written, 200);
    expect(&written, table,
           "share function            source      misp\n"
           " 61.2 Index<Hash>::probe  a/probe.c:1  7.0\n"
           "  4.0 Index<Tree>::probe  b.c:22       0.1\n"
           "  3 more\n");
}

/* Text has 20 columns, tables what they need. */
static void a_table_may_be_wider_than_text(void **state) {
    (void)state;
    struct written written;
    struct table *table = functions(&written, 20);
    written.page.table_columns = PAGE_WIDE;
    assert_true(table_fits(table));
    expect(&written, table,
           "share function            source      misp\n"
           " 61.2 Index<Hash>::probe  a/probe.c:1  7.0\n"
           "  4.0 Index<Tree>::probe  b.c:22       0.1\n"
           "  3 more\n");
}

/* 20 for each of two columns that need 50 and 23. The name takes but 11 of them when its parameters
 * are gone; the path gets the others and is whole. */
static void what_short_names_leave_goes_to_others(void **state) {
    (void)state;
    struct written written;
    struct table *table = begin(&written, 42);
    table_column(table, "function", TABLE_NAME, .gap = 0, .least = 10);
    table_column(table, "image", TABLE_PATH, .gap = 2, .least = 10);
    table_cell(table, "space::fold(std::vector<int>&, std::string const&)");
    table_cell(table, "/usr/lib/x86_64/libc.so");
    expect(&written, table,
           "function     image\n"
           "space::fold  /usr/lib/x86_64/libc.so\n");
}

/* 5 + 1 + 10 + 2 + 6 + 1 + 4 = 29 are the least, 5 are left: the source, narrower, gets 4 of them,
 * the function the last. */
static void names_and_paths_share_what_is_left(void **state) {
    (void)state;
    struct written written;
    struct table *table = functions(&written, 34);
    assert_true(table_fits(table));
    expect(&written, table,
           "share function     source     misp\n"
           " 61.2 …sh>::probe  …probe.c:1  7.0\n"
           "  4.0 …ee>::probe  b.c:22      0.1\n"
           "  3 more\n");
}

/* Below the least, the column with the highest rank goes first. */
static void the_least_columns_are_left_out(void **state) {
    (void)state;
    struct written written;
    struct table *table = functions(&written, 28);
    assert_false(table_fits(table));
    expect(&written, table,
           "share function    source\n"
           " 61.2 …h>::probe  …probe.c:1\n"
           "  4.0 …e>::probe  b.c:22\n"
           "  3 more\n");
}

/* Nothing is left to leave out: what can be cut is, the figures stay. */
static void figures_are_never_cut(void **state) {
    (void)state;
    struct written written;
    struct table *table = functions(&written, 11);
    expect(&written, table,
           "share func…\n"
           " 61.2 …Has…\n"
           "  4.0 …Tre…\n"
           "  3 more\n");
}

static void lists_end_where_the_room_does(void **state) {
    (void)state;
    struct written written;
    struct table *table = begin(&written, 20);
    table_column(table, "no", TABLE_FIGURE, .gap = 0);
    table_column(table, "stack", TABLE_LIST, .gap = 1, .least = 8);
    table_cell(table, "1");
    table_cell(table, "ST-L1 8.6\nBase 3.1\nFL 0.1");
    table_cell(table, "2");
    table_cell(table, "Base 99.9");
    expect(&written, table, "no stack\n 1 ST-L1 8.6 …\n 2 Base 99.9\n");
}

/* 4 + 2 + 9 + 2 + 6 would be 23 columns. */
static struct table *with_an_empty_column(struct written *written, unsigned columns) {
    struct table *table = begin(written, columns);
    table_column(table, "line", TABLE_WORD, .gap = 0);
    table_column(table, "text", TABLE_TEXT, .gap = 2, .least = 4);
    table_column(table, "caller", TABLE_NAME, .gap = 2, .least = 6);
    table_cell(table, "a:1");
    table_cell(table, "total = 0");
    table_cell(table, "");
    return table;
}

static void an_empty_column_gives_its_room(void **state) {
    (void)state;
    struct written written;
    struct table *table = with_an_empty_column(&written, 22);
    expect(&written, table, "line  text\na:1   total = 0\n");
    table = with_an_empty_column(&written, 23);
    expect(&written, table, "line  text       caller\na:1   total = 0\n");
}

/* The widths are those of the first rows, and the heading comes once. */
static void long_tables_are_printed_while_they_are_filled(void **state) {
    (void)state;
    struct written written;
    struct table *table = begin(&written, 20);
    table_column(table, "n", TABLE_FIGURE, .gap = 0);
    table_column(table, "name", TABLE_TEXT, .gap = 1);
    for (unsigned i = 0; i < TABLE_MEASURED + 2; i++) {
        table_figure(table, "%u", i % 10);
        table_cell(table, i < TABLE_MEASURED ? "four" : "longer");
    }
    table_print(table);
    table_free(table);
    fclose(written.page.file);
    assert_true(strncmp(written.text, "n name\n0 four\n1 four\n", 21) == 0);
    assert_non_null(strstr(written.text, "5 four\n6 lon…\n7 lon…\n"));
    assert_null(strstr(written.text + 1, "n name"));
    free(written.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_whole),
        cmocka_unit_test(a_wide_page_is_not_filled),
        cmocka_unit_test(a_table_may_be_wider_than_text),
        cmocka_unit_test(what_short_names_leave_goes_to_others),
        cmocka_unit_test(names_and_paths_share_what_is_left),
        cmocka_unit_test(the_least_columns_are_left_out),
        cmocka_unit_test(figures_are_never_cut),
        cmocka_unit_test(lists_end_where_the_room_does),
        cmocka_unit_test(an_empty_column_gives_its_room),
        cmocka_unit_test(long_tables_are_printed_while_they_are_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
