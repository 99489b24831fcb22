/* Equal sets have one number, others another, and each gives back its cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribute/cell_sets.h"
#include "tap/tap.h"

/* Flags and masked events make no difference; order, size and the events that count do. */
static void sets_by_example(void **state) {
    (void)state;
    struct cell_sets sets;
    assert_true(cell_sets_init(&sets));
    uint64_t a = tap_uop(7, PSV_ST_L1 | PSV_FL_MB, TAP_UOP_LOAD), b = tap_uop(8, 0, TAP_UOP_LAST);
    uint64_t ab[] = {a, b}, ba[] = {b, a};
    uint32_t plain = cell_sets_find(&sets, &a, 1, 0);
    uint32_t missed = cell_sets_find(&sets, &a, 1, PSV_ST_L1);
    uint32_t both = cell_sets_find(&sets, ab, 2, PSV_ST_L1);
    assert_int_not_equal(plain, missed);
    assert_int_not_equal(missed, both);
    assert_int_not_equal(both, cell_sets_find(&sets, ba, 2, PSV_ST_L1));
    uint64_t same = tap_uop(7, PSV_FL_EX, TAP_UOP_LAST);
    assert_int_equal(cell_sets_find(&sets, &same, 1, 0), plain);
    assert_int_equal(cell_sets_find(&sets, ab, 2, PSV_ST_L1 | PSV_DR_L1), both);
    assert_int_equal(cell_set_size(&sets, both), 2);
    assert_int_equal(cell_set_cell(&sets, both, 0), tap_uop(7, PSV_ST_L1, 0));
    assert_int_equal(cell_set_cell(&sets, both, 1), tap_uop(8, 0, 0));
    cell_sets_end(&sets);
}

/* Of as many cells as a commit can have, and more than the table begins with. */
static void many_sets(void **state) {
    (void)state;
    enum { SETS = 20000 };
    static uint32_t numbers[SETS];
    struct cell_sets sets;
    uint64_t uops[CELL_SET_MAX];
    assert_true(cell_sets_init(&sets));
    for (int round = 0; round < 2; round++)
        for (unsigned k = 0; k < SETS; k++) {
            unsigned n = k % 97 ? 1 + k % 4 : CELL_SET_MAX;
            for (unsigned i = 0; i < n; i++)
                uops[i] = tap_uop(k + i, 0, 0);
            uint32_t number = cell_sets_find(&sets, uops, n, 0);
            if (round)
                assert_int_equal(number, numbers[k]);
            numbers[k] = number;
            assert_int_equal(cell_set_size(&sets, number), n);
            assert_int_equal(cell_set_cell(&sets, number, n - 1), tap_uop(k + n - 1, 0, 0));
        }
    assert_int_equal(sets.count, SETS);
    cell_sets_end(&sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_by_example),
        cmocka_unit_test(many_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
