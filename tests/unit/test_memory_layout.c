/* Layouts of memory: the first moves nothing, each other one by amounts that a program could meet,
 * and the first few are spread over all of their ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/memory_layout.h"

static void the_first_moves_nothing(void **state) {
    (void)state;
    const struct memory_layout layout = memory_layout(0);
    assert_int_equal(layout.stack_bytes, 0);
    assert_int_equal(layout.heap_bytes, 0);
    assert_int_equal(layout.program_pages, 0);
    assert_int_equal(layout.library_pages, 0);
}

/* The fractions of g^-1 .. g^-5 are 0.8813, 0.7767, 0.6844, 0.6032 and 0.5315: of 256 places of 16
 * bytes in a page 225 and 198, of 512 pages 350, 308 and 272. Twice as much is 0.7626, 0.5533,
 * 0.3689, 0.2064 and 0.0631: 195, 141, 188, 105 and 32. */
static void places_by_hand(void **state) {
    (void)state;
    const struct memory_layout one = memory_layout(1), two = memory_layout(2);
    assert_int_equal(one.stack_bytes, 225 * 16);
    assert_int_equal(one.heap_bytes, 350 * 4096 + 198 * 16);
    assert_int_equal(one.program_pages, 308);
    assert_int_equal(one.library_pages, 272);
    assert_int_equal(two.stack_bytes, 195 * 16);
    assert_int_equal(two.heap_bytes, 188 * 4096 + 141 * 16);
    assert_int_equal(two.program_pages, 105);
    assert_int_equal(two.library_pages, 32);
}

static void fits_and_spreads(void **state) {
    (void)state;
    enum { PARTS = 8, LAYOUTS = 32 };
    bool stack[PARTS] = {0}, heap[PARTS] = {0}, program[PARTS] = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        const struct memory_layout layout = memory_layout(i);
        assert_int_equal(layout.stack_bytes % 16, 0);
        assert_int_equal(layout.heap_bytes % 16, 0);
        assert_in_range(layout.stack_bytes, 0, MEMORY_LAYOUT_PAGE - 16);
        assert_in_range(layout.heap_bytes, 0, MEMORY_LAYOUT_PAGES * MEMORY_LAYOUT_PAGE);
        assert_in_range(layout.program_pages, 0, MEMORY_LAYOUT_PAGES - 1);
        assert_in_range(layout.library_pages, 0, MEMORY_LAYOUT_PAGES - 1);
        if (i >= LAYOUTS)
            continue;
        stack[layout.stack_bytes * PARTS / MEMORY_LAYOUT_PAGE] = true;
        heap[layout.heap_bytes % MEMORY_LAYOUT_PAGE * PARTS / MEMORY_LAYOUT_PAGE] = true;
        program[layout.program_pages * PARTS / MEMORY_LAYOUT_PAGES] = true;
    }
    for (int part = 0; part < PARTS; part++)
        assert_true(stack[part] && heap[part] && program[part]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_moves_nothing),
                                       cmocka_unit_test(places_by_hand),
                                       cmocka_unit_test(fits_and_spreads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
