/* Names of functions in a column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/short_name.h"
#include "util/text.h"

enum { MOST = 8 };

/* The names, and behind them as they should be shown in so many columns. */
static void expect(unsigned columns, size_t count, const char *const names[][2]) {
    const char *shown[MOST];
    struct arena arena = {0};
    for (size_t i = 0; i < count; i++)
        shown[i] = names[i][0];
    assert_true(short_names(shown, count, columns, &arena));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(shown[i], names[i][1]);
        assert_true(text_columns(shown[i]) <= columns);
    }
    arena_free(&arena);
}

static void expect_one(const char *name, unsigned columns, const char *shown) {
    expect(columns, 1, (const char *const[][2]){{name, shown}});
}

static void what_fits_is_whole(void **state) {
    (void)state;
    expect_one("longest_match", 13, "longest_match");
    expect_one("std::sort<int*>(int*, int*)", 27, "std::sort<int*>(int*, int*)");
}

/* Each form leaves out more: parameters and type, inner arguments, arguments, scopes. */
static void forms_of_a_template(void **state) {
    (void)state;
    const char *name =
        "void std::vector<Order<int>, std::allocator<Order<int> > >::push(Order<int>&&)";
    expect_one(name, 78, name);
    expect_one(name, 77, "std::vector<Order<int>, std::allocator<Order<int> > >::push");
    expect_one(name, 50, "std::vector<Order<…>, std::allocator<…> >::push");
    expect_one(name, 30, "std::vector<…>::push");
    expect_one(name, 19, "…vector<…>::push");
    expect_one(name, 10, "…push");
    expect_one(name, 4, "push");
    expect_one(name, 3, "pu…");
}

static void brackets_that_are_names(void **state) {
    (void)state;
    expect_one("Compare::operator()(int, int) const", 20, "Compare::operator()");
    expect_one("std::ostream& operator<< <char>(std::ostream&, char)", 20, "operator<< <char>");
    expect_one("bool operator< <char>(A const&, A const&)", 20, "operator< <char>");
    expect_one("operator new(unsigned long)", 20, "operator new");
    expect_one("(anonymous namespace)::walk(int)", 29, "(anonymous namespace)::walk");
    expect_one("(anonymous namespace)::walk(int)", 20, "…walk");
    expect_one("main::{lambda(int)#1}::operator()(int) const", 40,
               "main::{lambda(int)#1}::operator()");
    expect_one("run(int)::{lambda()#1}::operator()() const", 36,
               "run(int)::{lambda()#1}::operator()");
    expect_one("p->x<int>(int)", 9, "p->x<int>");
}

static void other_languages(void **state) {
    (void)state;
    expect_one("<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", 52,
               "<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop");
    expect_one("net/http.(*conn).serve", 22, "net/http.(*conn).serve");
    expect_one("net/http.(*conn).serve", 20, "…http.(*conn).serve");
    expect_one("net/http.(*conn).serve", 15, "…(*conn).serve");
    expect_one("JS:*fib /home/user/project/fib.js:3:13", 20, "JS:*fib /home/user/…");
    expect_one("py::fib:/home/user/fib.py", 22, "…fib:/home/user/fib.py");
}

static void of_a_place_the_offset_is_kept(void **state) {
    (void)state;
    expect_one("libstdc++.so.6.0.30+0xd5b27", 16, "libstdc…+0xd5b27");
    expect_one("libcrypto.so.3, no function", 20, "libcry…, no function");
    expect_one("ld.so+0x1234567", 8, "…1234567");
}

static void one_in_prose(void **state) {
    (void)state;
    static const char name[] = "std::vector<Order, std::allocator<Order> >::push_back(Order&&)";
    char text[64], small[8];
    assert_string_equal(short_name(name, 25, text, sizeof text), "std::vector<…>::push_back");
    assert_string_equal(short_name("main", 25, text, sizeof text), "main");
    assert_true(strlen(short_name(name, 25, small, sizeof small)) < sizeof small);
}

/* What rows have in common is left out rather than that by which they differ. */
static void names_stay_different(void **state) {
    (void)state;
    expect(
        18, 2,
        (const char *const[][2]){{"Analysis<HashIndex>::probe(Row const&)", "…HashIndex>::probe"},
                                 {"Analysis<TreeIndex>::probe(Row const&)", "…TreeIndex>::probe"}});
    expect(16, 3,
           (const char *const[][2]){{"Analysis<HashIndex>::run()", "…HashIndex>::run"},
                                    {"Analysis<TreeIndex>::run()", "…TreeIndex>::run"},
                                    {"Other::go()", "Other::go()"}});
    expect(12, 2,
           (const char *const[][2]){{"a_long_name_of_one", "…name_of_one"},
                                    {"a_long_name_of_two", "…name_of_two"}});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_whole),
        cmocka_unit_test(forms_of_a_template),
        cmocka_unit_test(brackets_that_are_names),
        cmocka_unit_test(other_languages),
        cmocka_unit_test(of_a_place_the_offset_is_kept),
        cmocka_unit_test(one_in_prose),
        cmocka_unit_test(names_stay_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
