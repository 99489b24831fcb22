/* Structs laid out anew: where each access to an element goes, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "simulate/element_layout.h"

/* struct { long key; char name[20]; int mark; long next; } of 40 bytes: key and next are hot. */
enum { KEY, NAME, MARK, NEXT, LEAVES };
static const struct element_leaf RECORD[LEAVES] = {{.offset = 0, .size = 8},
                                                   {.offset = 8, .size = 20},
                                                   {.offset = 28, .size = 4},
                                                   {.offset = 32, .size = 8}};
static const bool HOT[LEAVES] = {[KEY] = true, [NEXT] = true};

static uint64_t moved(const struct element_layout *layout, uint64_t address) {
    const struct memory_access access = {.address = address, .size_bytes = 4};
    struct memory_access to;
    element_layout_apply(layout, layout->process, &access, 1, &to);
    assert_int_equal(to.size_bytes, 4);
    return to.address;
}

/* key 0, next 8, name 16, mark 36: in place of each element. */
static void reordered_fields_stay_in_their_element(void **unused) {
    (void)unused;
    static const uint64_t BASES[] = {4096, 4136, 9000};
    struct element_leaf leaves[LEAVES];
    uint64_t cold;
    memcpy(leaves, RECORD, sizeof leaves);
    assert_int_equal(element_leaves_place(leaves, HOT, LEAVES, false, &cold), 16);
    assert_int_equal(cold, 24);
    assert_int_equal(leaves[NAME].moved, 16);
    assert_int_equal(leaves[MARK].moved, 36);
    struct element_layout layout = {
        .bases = BASES, .count = 3, .size = 40, .leaves = leaves, .leaf_count = LEAVES};
    assert_true(element_layout_place(&layout, false, 16, cold));
    assert_int_equal(moved(&layout, 4096), 4096);
    assert_int_equal(moved(&layout, 4096 + 32), 4096 + 8);
    assert_int_equal(moved(&layout, 4136 + 8 + 5), 4136 + 16 + 5);
    assert_int_equal(moved(&layout, 9000 + 28), 9000 + 36);
    assert_int_equal(moved(&layout, 9000 + 40), 9000 + 40); /* behind the last */
    assert_int_equal(moved(&layout, 4095), 4095);           /* before the first */
    element_layout_free(&layout);
}

/* Hot parts of an array are 16 bytes apart, cold ones 24 (20 and 4). */
static void split_elements_of_an_array_are_dense(void **unused) {
    (void)unused;
    static const uint64_t BASES[] = {4096, 4136, 4216}; /* the first, second and fourth */
    struct element_leaf leaves[LEAVES];
    uint64_t cold;
    memcpy(leaves, RECORD, sizeof leaves);
    assert_int_equal(element_leaves_place(leaves, HOT, LEAVES, true, &cold), 16);
    assert_int_equal(cold, 24);
    struct element_layout layout = {.bases = BASES,
                                    .count = 3,
                                    .size = 40,
                                    .process = 2,
                                    .leaves = leaves,
                                    .leaf_count = LEAVES};
    assert_true(element_layout_place(&layout, true, 16, cold));
    const uint64_t hot = moved(&layout, 4096), rest = moved(&layout, 4096 + 8);
    assert_true(rest > hot + (UINT64_C(1) << 40) || hot > rest + (UINT64_C(1) << 40));
    assert_int_equal(moved(&layout, 4136), hot + 16);
    assert_int_equal(moved(&layout, 4136 + 32), hot + 16 + 8);
    assert_int_equal(moved(&layout, 4216), hot + 3 * 16);
    assert_int_equal(moved(&layout, 4216 + 28), rest + 3 * 24 + 20);
    assert_true(element_layout_has(&layout, 4136) && element_layout_has(&layout, 4255));
    assert_false(element_layout_has(&layout, 4095) || element_layout_has(&layout, 4256));
    const struct memory_access other = {.address = 4136, .size_bytes = 8};
    struct memory_access to;
    element_layout_apply(&layout, 1, &other, 1, &to); /* another process's */
    assert_int_equal(to.address, 4136);
    element_layout_free(&layout);
}

/* malloc(40) takes 48 bytes with its header, malloc(16) 32: what lies between stays between. */
static void split_elements_of_the_heap_keep_what_is_between(void **unused) {
    (void)unused;
    static const uint64_t BASES[] = {4112, 4160, 4160 + 48 + 64};
    struct element_leaf leaves[LEAVES];
    uint64_t cold;
    memcpy(leaves, RECORD, sizeof leaves);
    element_leaves_place(leaves, HOT, LEAVES, true, &cold);
    struct element_layout layout = {
        .bases = BASES, .count = 3, .size = 40, .leaves = leaves, .leaf_count = LEAVES};
    assert_true(element_layout_place(&layout, true, 16, cold));
    const uint64_t hot = moved(&layout, 4112);
    assert_int_equal(moved(&layout, 4160), hot + 32);
    assert_int_equal(moved(&layout, 4160 + 48 + 64 + 32), hot + 32 + 32 + 64 + 8);
    element_layout_free(&layout);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reordered_fields_stay_in_their_element),
        cmocka_unit_test(split_elements_of_an_array_are_dense),
        cmocka_unit_test(split_elements_of_the_heap_keep_what_is_between)};
    return cmocka_run_group_tests_name("element layout", tests, NULL, NULL);
}
