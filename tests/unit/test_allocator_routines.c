/* Which symbols are routines of allocators, and what they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program/allocator_routines.h"

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum allocator_action action;
    } ROWS[] = {
        {"malloc", ALLOCATOR_SIZE},
        {"je_calloc", ALLOCATOR_COUNTED},
        {"_rjem_sdallocx", ALLOCATOR_FREE},
        {"mi_free", ALLOCATOR_FREE},
        {"tc_posix_memalign", ALLOCATOR_INTO},
        {"_Znwm", ALLOCATOR_SIZE},
        {"_ZnamSt11align_val_t", ALLOCATOR_SIZE},
        {"_ZdlPvm", ALLOCATOR_FREE},
        {"__rust_realloc", ALLOCATOR_AGAIN_FOURTH},
        {"_RNvCs6qdUeYPWPOa_7___rustc12___rust_alloc", ALLOCATOR_SIZE},
        {"_RNvCs6qdUeYPWPOa_7___rustc14___rust_dealloc", ALLOCATOR_FREE},
        {"mallocate", ALLOCATOR_NONE},
        {"je_", ALLOCATOR_NONE},
        {"_R7___rustc", ALLOCATOR_NONE},
        {"_ZN3foo6mallocEm", ALLOCATOR_NONE},
        {"runtime.mallocgc", ALLOCATOR_NONE}, /* of Go's own table only */
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        assert_int_equal(allocator_action_of(ROWS[i].name), ROWS[i].action);
}

static void test_none(void **state) {
    (void)state;
    const struct allocator_routine routines[] = {{16, ALLOCATOR_FREE}, {32, ALLOCATOR_SIZE}};
    assert_true(allocator_routines_none(routines, 0));
    assert_true(allocator_routines_none(routines, 1));
    assert_false(allocator_routines_none(routines, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
