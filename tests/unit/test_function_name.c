/* What a person types for a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "program/function_name.h"

static void names_with_and_without_parameters(void **state) {
    (void)state;
    assert_true(function_is_named("f(int)", "f", 1));
    assert_true(function_is_named("f(int)", "f(int)", 6));
    assert_true(function_is_named("f", "fg", 1)); /* of one byte */
    assert_false(function_is_named("fg", "f", 1));
    assert_false(function_is_named(NULL, "f", 1));
    assert_false(function_is_named("(x)", "", 0));
}

static void ends_of_names(void **state) {
    (void)state;
    static const struct {
        const char *function, *name;
        int ends;
    } cases[] = {
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "classify", 1},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "Class::classify", 1},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "Ns::Class::classify", 1},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "Class<int, A<b> >::classify", 1},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "Class<int>::classify", 0},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "ssify", 0},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "lass::classify", 0},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "Class", 0},
        {"int Ns::pick<C, D>(C const&)", "pick", 1},
        {"int Ns::pick<C, D>(C const&)", "Ns::pick<C, D>", 1},
        {"Ns::Less::operator()(int) const", "operator()", 1},
        {"A::~A()", "A", 0},
        {"A::~A()", "~A", 1},
        {"main.(*Parser).next", "next", 1}, /* Go */
        {"plain", "plain", 1},
        /* What compilers put behind a name. */
        {"f1.constprop.0", "f1", 1},
        {"f1.constprop.0", "f1.constprop.0", 1},
        {"f1.constprop.0", "f1.constprop.1", 0},
        {"f1.constprop.0.isra.0", "f1", 1},
        {"f1.part.3", "f1", 1},
        {"f1.cold", "f1", 1},
        {"f1.cold", "f1.part.3", 0},
        {"f1.constprop.0", "constprop", 0},
        {"f1", "f1.constprop.0", 0},
        {"f1(int, double) [clone .constprop.0]", "f1", 1},
        {"f1(int, double) [clone .constprop.0]", "f1.constprop.0", 1},
        {"f1(int, double) [clone .constprop.0]", "f1(int, double)", 1},
        {"f1(int, double) [clone .constprop.0]", "f1(int)", 0},
        {"f1(int) [clone .isra.0] [clone .cold]", "f1.isra.0.cold", 1},
        {"double ns::smooth<double, main::{lambda(double)#1}>(std::vector<double, A>&) [clone "
         ".isra.0]",
         "smooth", 1},
        {"double ns::smooth<double, main::{lambda(double)#1}>(std::vector<double, A>&) [clone "
         ".isra.0]",
         "ns::smooth<double, main::{lambda(double)#1}>.isra.0", 1},
        {"double ns::smooth<double, main::{lambda(double)#1}>(std::vector<double, A>&)",
         "smooth<float, main::{lambda(float)#2}>", 0},
        {"int Ns::pick<C, D>(C const&)", "Ns::pick(C const&)", 1},
        {"int Ns::pick<C, D>(C const&)", "pick(D const&)", 0},
        /* As a table shortens names. */
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "Class<…>::classify", 1},
        {"Ns::Class<int, A<b> >::classify(int, A<b>) const", "Class<...>::classify", 1},
        {"Ns::Class::classify(int)", "Class<…>::classify", 0},
        {"ns::name[abi:cxx11](int)", "name", 1},
        {"main.part", "main", 0}, /* Go: no number */
        {".cold", "x", 0},
        {" [clone .isra.0]", "x", 0},
        {"]", "x", 0},
        {"plain", "", 0},
        {">", "x", 0},
        {")", "x", 0},
        {"f>(int)", "f", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (function_ends_in(cases[i].function, cases[i].name, strlen(cases[i].name)) !=
            (cases[i].ends != 0))
            fail_msg("%s of %s", cases[i].name, cases[i].function);
    assert_false(function_ends_in(NULL, "f", 1));
}

static void names_to_choose_by(void **state) {
    (void)state;
    static const struct {
        const char *function, *scoped, *word;
    } cases[] = {
        {"f1.constprop.0", "f1.constprop.0", "f1"},
        {"f1(int, double) [clone .constprop.0]", "f1.constprop.0", "f1"},
        {"int Ns::Class<A, B>::classify<C>(A const&) const", "Ns::Class<A, B>::classify<C>",
         "classify"},
        {"void (anonymous namespace)::f(int)", "(anonymous namespace)::f", "f"},
        {"ns::Work::operator()(int) const", "ns::Work::operator()", ""},
        {"A<B>::operator unsigned long() const", "A<B>::operator unsigned long", "long"},
        {"A<B>::operator->() const", "A<B>::operator->", ""},
        {"main.(*Parser).next", "main.(*Parser).next", "next"},
        {"std::cooperator(int)", "std::cooperator", "cooperator"},
        {"<T as a::Trait>::run", "<T as a::Trait>::run", "run"},
        {")", ")", ""},
        {">", ">", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        assert_string_equal(function_scoped_name(text, sizeof text, cases[i].function),
                            cases[i].scoped);
        assert_true(!*text || function_ends_in(cases[i].function, text, strlen(text)));
        assert_string_equal(function_last_word(text, sizeof text, cases[i].function),
                            cases[i].word);
    }
}

/* Of a long name template arguments go first, and it is found all the same. */
static void a_long_name(void **state) {
    (void)state;
    static const char LONG[] =
        "void ns::smooth<std::vector<double, std::allocator<double> > >::run<int>(int)";
    char text[40];
    assert_string_equal(function_scoped_name(text, sizeof text, LONG), "ns::smooth<…>::run<…>");
    assert_true(function_ends_in(LONG, text, strlen(text)));
    char small[12]; /* no more than there is room for */
    function_scoped_name(small, sizeof small, LONG);
    assert_true(strlen(small) < sizeof small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_to_choose_by),
        cmocka_unit_test(a_long_name),
        cmocka_unit_test(names_with_and_without_parameters),
        cmocka_unit_test(ends_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
