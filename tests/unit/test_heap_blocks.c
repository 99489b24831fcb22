/* Blocks by address: by example, and against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribute/heap_blocks.h"
#include "util/random.h"

static struct heap_blocks *heap_new(void) {
    struct heap_blocks *heap = calloc(1, sizeof *heap);
    assert_non_null(heap);
    return heap;
}

static void heap_end(struct heap_blocks *heap) {
    heap_blocks_free(heap);
    free(heap);
}

static uint32_t object_at(const struct heap_blocks *heap, uint64_t address) {
    const struct heap_block *block = heap_blocks_at(heap, address);
    return block ? block->object : 0;
}

/* Two neighbours, a block of several pages, a large one. */
static void by_example(void **state) {
    (void)state;
    struct heap_blocks *heap = heap_new();
    assert_true(heap_blocks_add(heap, 0x10000, 24, 1));
    assert_true(heap_blocks_add(heap, 0x10020, 8, 2));
    assert_true(heap_blocks_add(heap, 0x20010, 0x5000, 3));
    assert_true(heap_blocks_add(heap, 0x7f0000000010, 64 << 20, 4));
    assert_int_equal(object_at(heap, 0x10000), 1);
    assert_int_equal(object_at(heap, 0x10017), 1);
    assert_int_equal(object_at(heap, 0x10018), 0); /* of its last 16 bytes, but behind it */
    assert_int_equal(object_at(heap, 0x10027), 2);
    assert_int_equal(object_at(heap, 0x10028), 0);
    assert_int_equal(object_at(heap, 0x2000f), 0);
    assert_int_equal(object_at(heap, 0x22345), 3);
    assert_int_equal(object_at(heap, 0x2500f), 3);
    assert_int_equal(object_at(heap, 0x25010), 0);
    assert_int_equal(object_at(heap, 0x7f0003ffffff), 4);
    assert_int_equal(object_at(heap, UINT64_MAX), 0);
    assert_int_equal(heap_blocks_remove(heap, 0x20010), 0x5000);
    assert_int_equal(heap_blocks_remove(heap, 0x20010), 0);
    assert_int_equal(heap_blocks_remove(heap, 0x10008), 0); /* no block begins there */
    assert_int_equal(heap_blocks_remove(heap, 0x7f0000000010), 64 << 20);
    assert_int_equal(object_at(heap, 0x22345), 0);
    assert_int_equal(object_at(heap, 0x7f0003ffffff), 0);
    heap_end(heap);
}

/* What is allocated over a block that was freed unseen ends it; what no program can allocate is
 * nothing. */
static void unseen_frees(void **state) {
    (void)state;
    struct heap_blocks *heap = heap_new();
    assert_true(heap_blocks_add(heap, 0x10000, 64, 1));
    assert_true(heap_blocks_add(heap, 0x10020, 64, 2));
    assert_int_equal(object_at(heap, 0x10000), 0);
    assert_int_equal(object_at(heap, 0x10030), 2);
    assert_true(heap_blocks_add(heap, 0x10000, 2 << 20, 3));
    assert_true(heap_blocks_add(heap, 0x11000, 16, 4));
    assert_int_equal(object_at(heap, 0x20000), 0);
    assert_int_equal(object_at(heap, 0x11008), 4);
    assert_true(heap_blocks_add(heap, UINT64_MAX - 8, 64, 5));
    assert_true(heap_blocks_add(heap, 0x10000, UINT64_MAX, 6));
    assert_int_equal(object_at(heap, UINT64_MAX - 8), 0);
    heap_end(heap);
}

/* At most so many blocks: others are counted, and room that is freed is used again. */
static void limit(void **state) {
    (void)state;
    struct heap_blocks *heap = heap_new();
    heap->most = 2;
    for (uint64_t i = 1; i <= 3; i++)
        assert_true(heap_blocks_add(heap, i << 12, 16, (uint32_t)i));
    assert_int_equal(heap->dropped, 1);
    assert_int_equal(object_at(heap, 3 << 12), 0);
    assert_int_equal(heap_blocks_remove(heap, 1 << 12), 16);
    assert_true(heap_blocks_add(heap, 3 << 12, 16, 3));
    assert_int_equal(object_at(heap, 3 << 12), 3);
    heap_end(heap);
}

enum { CELLS = 64, CELL = 1 << 12, STEPS = 4000 };

/* In each of many cells a block comes and goes, of one to all of its bytes; a copy has the same. */
static void as_a_list_has_them(void **state) {
    (void)state;
    struct heap_blocks *heap = heap_new(), *copy = heap_new();
    struct heap_block list[CELLS] = {{0}};
    for (uint64_t step = 1; step <= STEPS; step++) {
        const uint64_t random = random_mix(step), cell = random % CELLS;
        struct heap_block *block = &list[cell];
        if (block->size) {
            assert_int_equal(heap_blocks_remove(heap, block->base), block->size);
            *block = (struct heap_block){0};
        } else {
            const uint64_t grain = random >> 8 & 0xff, most = CELL - grain * 16;
            *block = (struct heap_block){cell * CELL + grain * 16, 1 + (random >> 20) % most,
                                         (uint32_t)step};
            assert_true(heap_blocks_add(heap, block->base, block->size, block->object));
        }
    }
    assert_true(heap_blocks_copy(copy, heap));
    for (uint64_t address = 0; address < CELLS * CELL; address += 5) {
        const struct heap_block *block = &list[address / CELL];
        const uint32_t expected = address - block->base < block->size ? block->object : 0;
        assert_int_equal(object_at(heap, address), expected);
        assert_int_equal(object_at(copy, address), expected);
    }
    heap_end(heap);
    heap_end(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_example), cmocka_unit_test(unseen_frees),
                                       cmocka_unit_test(limit),
                                       cmocka_unit_test(as_a_list_has_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
