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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_with_and_without_parameters),
        cmocka_unit_test(ends_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
