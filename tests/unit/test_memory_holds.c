/* Places held from one cycle to another, asked in the order of cycles and in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "memory/holds.h"

/* Two places: from 10 to 110 and from 20 to 60. */
static struct holds two_places(bool any_order) {
    struct holds holds;
    assert_true(holds_new(&holds, 2));
    holds.any_order = any_order;
    holds_take(&holds, 10, 110, 10);
    holds_take(&holds, 20, 60, 10);
    return holds;
}

static void a_place_is_free_when_a_hold_ends(void **state) {
    (void)state;
    struct holds holds = two_places(false);
    assert_int_equal(holds_free_at(&holds, 30, 2), 0);
    assert_int_equal(holds_first_free(&holds, 30), 60);
    assert_int_equal(holds_free_at(&holds, 60, 2), 1);
    assert_int_equal(holds_free_at(&holds, 110, 2), 2);
    /* One waited from 30 to 60: who asks at 40 waits behind it and the first, until 110. */
    holds_take(&holds, 60, 160, 30);
    assert_int_equal(holds_first_free(&holds, 40), 110);
    holds_free(&holds);
}

/* An access of an older µop takes a place from 1000 on; a younger one comes at 100. */
static void a_hold_to_come_is_in_nobodys_way(void **state) {
    (void)state;
    struct holds holds;
    assert_true(holds_new(&holds, 1));
    holds.any_order = true;
    holds_take(&holds, 1000, 1100, 50);
    assert_int_equal(holds_first_free(&holds, 100), 100);
    holds_take(&holds, 100, 200, 50);
    assert_int_equal(holds_first_free(&holds, 150), 200);
    /* At 950 one as long as the last, 100 cycles, would run into it: behind it. */
    assert_int_equal(holds_first_free(&holds, 950), 1100);
    assert_int_equal(holds_first_free(&holds, 899), 899);
    holds_free(&holds);
}

/* A thousand accesses that all ask for the one entry at cycle 0 are served in turn, in little
 * memory. */
static void a_long_queue_is_short_to_tell(void **state) {
    (void)state;
    struct holds holds;
    assert_true(holds_new(&holds, 1));
    holds.any_order = true;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t begin = holds_first_free(&holds, 0);
        assert_int_equal(begin, 100 * i);
        holds_take(&holds, begin, begin + 100, 0);
    }
    assert_true(holds.count <= holds.capacity);
    holds_free(&holds);
}

static void without_places_there_is_no_limit(void **state) {
    (void)state;
    struct holds holds;
    assert_true(holds_new(&holds, 0));
    holds_take(&holds, 10, 110, 0);
    assert_int_equal(holds_free_at(&holds, 50, 7), 7);
    assert_int_equal(holds_first_free(&holds, 50), 50);
    holds_free(&holds);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_place_is_free_when_a_hold_ends),
                                       cmocka_unit_test(a_hold_to_come_is_in_nobodys_way),
                                       cmocka_unit_test(a_long_queue_is_short_to_tell),
                                       cmocka_unit_test(without_places_there_is_no_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
