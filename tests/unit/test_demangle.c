/* Names of functions as their source has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "program/demangle.h"

static void names_are_demangled(void **state) {
    (void)state;
    static const struct {
        const char *mangled, *readable;
    } cases[] = {
        {"main", "main"},
        {"_start", "_start"},
        {"", ""},
        {"_Z", "_Z"},
        {"_Zgarbage", "_Zgarbage"},
        {"memcpy@@GLIBC_2.14", "memcpy"},
        {"@odd", "@odd"},
        {"_ZN4core3fmt9Formatter3pad17h5b3f0c9a1d2e4f68E", "core::fmt::Formatter::pad"},
        {"_ZN4core3fmt9Formatter3pad17h5b3f0c9a1d2e4f68E.llvm.123", "core::fmt::Formatter::pad"},
        {"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
         "<alloc::string::String as core::fmt::Debug>::fmt"},
        {"_RNvCs4fqI2P2rA04_7mycrate3foo", "mycrate::foo"},
        {"_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>"},
        {"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new", "<std::path::PathBuf>::new"},
        {"_ZNSt6vectorIiSaIiEE9push_backEOi",
         "std::vector<int, std::allocator<int> >::push_back(int&&)"},
        {"_Z1fIiEvT_.part.0", "void f<int>(int) [clone .part.0]"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(demangle(&arena, cases[i].mangled), cases[i].readable);
    arena_free(&arena);
}

/* Each parameter is a template of two copies of the one before: 2^n characters from 12 n. */
static void explosive_names_stay_mangled(void **state) {
    (void)state;
    char name[4000] = "_Z1f1AI1BS0_E", *end = name + strlen(name);
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    /* Substitutions: S_ is A, S0_ is B, S1_ is A<B,B>, S2_ is A<S1_,S1_> ... */
    for (unsigned i = 1; i < 35; i++)
        end += sprintf(end, "S_IS%c_S%c_E", digits[i], digits[i]);
    struct arena arena = {0};
    assert_string_equal(demangle(&arena, name), name);
    /* Rust v0: the generic argument of each level is a pair of back references to the last. */
    char rust[4000] = "_RINvC1a1bTmmE", *tail = rust + strlen(rust);
    size_t last = 8;
    for (unsigned i = 0; i < 40; i++) {
        size_t here = (size_t)(tail - rust) - 2;
        char reference[8];
        /* Base 62: zero is "_", n is digit(n - 1) "_"; all positions here need two digits or one.
         */
        static const char base62[] =
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        size_t n = last - 1;
        if (n < 62)
            snprintf(reference, sizeof reference, "B%c_", base62[n]);
        else
            snprintf(reference, sizeof reference, "B%c%c_", base62[n / 62], base62[n % 62]);
        tail += sprintf(tail, "T%s%sE", reference, reference);
        last = here;
    }
    strcpy(tail, "E");
    assert_string_equal(demangle(&arena, rust), rust);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_demangled),
        cmocka_unit_test(explosive_names_stay_mangled),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
