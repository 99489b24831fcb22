/* An L1D into which blocks of others come, worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/crowded_l1.h"

enum { LINE = 64 };

static void run(struct crowded_l1 *l1, struct cache_shape shape, double foreign, const char *blocks,
                struct locality_level *level) {
    static const struct cache_shape SHARED = {1, 2, LINE};
    const struct locality_options options = {.shared = &SHARED, .shared_count = 1};
    struct error error;
    assert_true(crowded_l1_new(l1, shape, foreign, &options, &error));
    for (uint64_t time = 0; blocks[time]; time++)
        assert_true(crowded_l1_add(l1, (uint64_t)blocks[time] * LINE, time));
    assert_true(shared_caches_levels(&l1->shared, strlen(blocks), level));
}

static void check(const struct circular_count *found, uint64_t count, uint64_t r, uint64_t n) {
    assert_int_equal(found->count, count);
    assert_int_equal(found->r, r);
    assert_int_equal(found->n, n);
}

/* One set of two ways; before every second access a foreign block, x, comes. The latest first:
 *
 *     A      A        misses          B      BA       misses
 *     xA                              xB
 *     B      Bx       misses          A      Ax       misses
 *     A      AB       misses          A      Ax
 *     xA                              xA
 *     A      Ax                       A      Ax
 *
 * Alone A and B would miss once. Two ways behind it see A B A . B A at accesses 0 1 2 4 5: A B A is
 * cseq(2, 3, 3), B A . B and A . B A are cseq(2, 3, 4). */
static void every_second_access(void **state) {
    (void)state;
    struct crowded_l1 l1;
    struct locality_level level;
    run(&l1, (struct cache_shape){1, 2, LINE}, 0.5, "ABAABAAA", &level);
    assert_int_equal(level.run, 8);
    assert_int_equal(level.accesses, 5);
    assert_int_equal(level.misses, 2);
    check(&level.circular[1][1], 1, 3, 3);
    check(&level.circular[1][2], 2, 8, 6);
    locality_level_free(&level);
    crowded_l1_free(&l1);
}

/* More than one before each: two of them leave nothing of a set of two ways. */
static void more_than_there_is_room_for(void **state) {
    (void)state;
    struct crowded_l1 l1;
    struct locality_level level;
    run(&l1, (struct cache_shape){1, 2, LINE}, 2, "AAAAA", &level);
    assert_int_equal(level.accesses, 5);
    assert_int_equal(level.misses, 1);
    locality_level_free(&level);
    crowded_l1_free(&l1);
}

/* Into sets as if at random: beside 4096 accesses to one block of 64 sets of one way, one block a
 * time, 64 hit its set in the mean, with a deviation of 8. */
static void all_sets_are_hit(void **state) {
    (void)state;
    struct crowded_l1 l1;
    struct locality_level level;
    char blocks[4097];
    memset(blocks, 'A', 4096);
    blocks[4096] = 0;
    run(&l1, (struct cache_shape){64, 1, LINE}, 1, blocks, &level);
    assert_in_range(level.accesses, 64 - 32, 64 + 32);
    locality_level_free(&level);
    crowded_l1_free(&l1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_second_access),
                                       cmocka_unit_test(more_than_there_is_room_for),
                                       cmocka_unit_test(all_sets_are_hit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
