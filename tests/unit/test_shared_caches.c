/* Shared caches of several shapes at once, whose misses wait in buckets, are profiled as each is
 * when every miss comes to it in its turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/shared_caches.h"

enum { MISSES = 200000, MOST_SHAPES = 4 };

/* Four walks through some of the lines, and one of them again soon in between. */
static uint64_t miss(uint64_t number) {
    const uint64_t walk = number % 4, step = number / 4;
    return number % 7 == 6 ? (number / 7 % 40) * 64 : walk << 33 | (step * 88 % (64 << 14 << walk));
}

/* Every third access of the thread gets here. */
static uint64_t time_of(uint64_t number) {
    return 3 * number + 1;
}

static void expect_same(const struct locality_level *level, const struct locality_level *right) {
    assert_int_equal(level->accesses, right->accesses);
    assert_int_equal(level->misses, right->misses);
    assert_int_equal(level->points, right->points);
    assert_memory_equal(level->circular, right->circular,
                        level->shape.ways * sizeof *level->circular);
    assert_memory_equal(level->touched, right->touched, level->shape.ways * sizeof *level->touched);
    assert_memory_equal(level->sets, right->sets, sizeof level->sets);
    assert_memory_equal(level->blocks, right->blocks, sizeof level->blocks);
    assert_memory_equal(level->set_sequences, right->set_sequences,
                        level->shape.sets * sizeof *level->set_sequences);
}

static void in_its_turn(struct cache_shape shape, struct locality_level *level) {
    struct circular circular;
    assert_true(circular_new(&circular, shape, true));
    for (uint64_t i = 0; i < MISSES; i++)
        assert_int_not_equal(circular_add(&circular, miss(i), time_of(i)), 0);
    assert_true(circular_end(&circular, time_of(MISSES)));
    assert_true(circular_level(&circular, shape.ways, level));
    circular_free(&circular);
}

static void expect_shapes(const struct cache_shape *shapes, uint32_t count, uint32_t buckets) {
    struct shared_caches caches;
    struct locality_level levels[MOST_SHAPES] = {0};
    struct error error;
    assert_true(shared_caches_new(&caches, shapes, count, &error));
    assert_int_equal(caches.bucket_mask + 1, buckets);
    for (uint64_t i = 0; i < MISSES; i++)
        assert_true(shared_caches_add(&caches, miss(i), time_of(i)));
    assert_true(shared_caches_levels(&caches, time_of(MISSES), levels));
    for (uint32_t i = 0; i < count; i++) {
        struct locality_level right;
        in_its_turn(shapes[i], &right);
        assert_true(right.misses > 0 && right.misses < right.accesses);
        expect_same(&levels[i], &right);
        locality_level_free(&right);
        locality_level_free(&levels[i]);
    }
    shared_caches_free(&caches);
}

static void each_as_if_it_were_alone(void **state) {
    (void)state;
    expect_shapes((const struct cache_shape[]){{4096, 12, 64}}, 1, SHARED_CACHES_BUCKETS);
    expect_shapes((const struct cache_shape[]){{1024, 8, 64}, {256, 4, 64}, {1024, 2, 64}}, 3,
                  SHARED_CACHES_BUCKETS);
}

/* A bucket goes by bits that choose the set in all of them: of lines of 64 bytes and 8 sets these
 * are 6 to 8, of 256 bytes and 64 sets 8 to 13; one set has none. */
static void buckets_by_common_bits(void **state) {
    (void)state;
    expect_shapes((const struct cache_shape[]){{8, 4, 64}, {64, 4, 256}}, 2, 2);
    expect_shapes((const struct cache_shape[]){{512, 4, 64}, {1, 16, 64}}, 2, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_as_if_it_were_alone),
        cmocka_unit_test(buckets_by_common_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
