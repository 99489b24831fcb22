/* Expected stack distances from reuse times, by hand. */
#include "memory/stack_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The limit of a cache after 512 samples, so many events apart, of two reuse times by turns. */
static uint64_t limit_of(uint64_t lines, uint64_t apart, uint64_t reuse, uint64_t other) {
    struct stack_distance distance;
    stack_distance_begin(&distance, lines);
    for (uint64_t i = 1; i <= 512; i++)
        stack_distance_sample(&distance, apart * i, i % 2 ? reuse : other);
    return distance.limit;
}

/* A loop through 1,000 lines, one in each event: between two accesses 100 events apart are 100
 * lines. All 1,000 fit into a cache of 2,000. */
static void a_loop(void **state) {
    (void)state;
    assert_int_equal(limit_of(100, STACK_DISTANCE_EVERY, 1000, 1000), 100);
    assert_int_equal(limit_of(2000, STACK_DISTANCE_EVERY, 1000, 1000), STACK_DISTANCE_NONE);
}

/* Two accesses in each event. */
static void more_accesses_than_events(void **state) {
    (void)state;
    assert_int_equal(limit_of(100, STACK_DISTANCE_EVERY / 2, 1000, 1000), 50);
}

/* Every other access is to the line of the one before: reuse times are 1 and 1,000. The first event
 * counts 1, the second 1 less half of those with reuse time 1, which is 0.75, and each of the
 * others 0.5: 100 lines after 2 + 98.25 / 0.5 events. */
static void a_line_twice_in_a_row(void **state) {
    (void)state;
    assert_int_equal(limit_of(100, STACK_DISTANCE_EVERY, 1, 1000), 198);
}

/* Lines that were never accessed before count as well, however far back. */
static void new_lines(void **state) {
    (void)state;
    assert_int_equal(limit_of(1 << 20, STACK_DISTANCE_EVERY, STACK_DISTANCE_NONE, 1),
                     2 + 2 * (1 << 20) - 4);
}

/* After 40,000 samples of a loop through 1,000 lines, and as many of one through 100, only that is
 * left: it fits into 200. */
static void what_was_long_ago_counts_less(void **state) {
    (void)state;
    struct stack_distance distance;
    stack_distance_begin(&distance, 200);
    for (uint64_t i = 1; i <= 80000; i++) {
        stack_distance_sample(&distance, STACK_DISTANCE_EVERY * i, i <= 40000 ? 1000 : 100);
        if (i == 40000)
            assert_int_equal(distance.limit, 200);
    }
    assert_in_range(distance.limit, 1000, STACK_DISTANCE_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop),
        cmocka_unit_test(more_accesses_than_events),
        cmocka_unit_test(a_line_twice_in_a_row),
        cmocka_unit_test(new_lines),
        cmocka_unit_test(what_was_long_ago_counts_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
