/* Where entries of the op cache begin and end, by hand: instructions of 4 bytes, entries of 4 of
 * them, 2 ways of one set unless a test says otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "branch/op_cache.h"
#include "unit/branch_streams.h"

static struct op_cache new_cache(uint32_t entries, uint32_t ways, uint32_t most) {
    struct op_cache cache = {0};
    assert_true(op_cache_init(&cache, entries, ways, most));
    return cache;
}

/* So many instructions from an address on: how many of them are decoded. */
static uint32_t decoded(struct op_cache *cache, uint64_t address, uint32_t count) {
    uint32_t sum = 0;
    for (uint64_t at = address; at < address + 4 * count; at += 4)
        sum += op_cache_take(cache, at, at + 3);
    return sum;
}

/* Entries of four: six instructions are two of them; the second time both are there. */
static void an_entry_is_full(void **state) {
    (void)state;
    struct op_cache cache = new_cache(2, 2, 4);
    assert_int_equal(decoded(&cache, 0x1000, 6), 6);
    assert_int_equal(cache.lookups, 2);
    assert_int_equal(decoded(&cache, 0x1000, 6), 0);
    assert_int_equal(cache.lookups, 4);
    assert_int_equal(cache.misses, 2);
    free(cache.entries);
}

/* 0x1038 to 0x1047: two instructions in one line, two in the next. An instruction that lies in both
 * is of the first, so that what follows it begins another entry. */
static void an_entry_ends_with_its_line(void **state) {
    (void)state;
    struct op_cache cache = new_cache(4, 4, 4);
    decoded(&cache, 0x1038, 4);
    assert_int_equal(cache.lookups, 2);
    assert_int_equal(cache.begin, 0x1040);
    assert_true(op_cache_take(&cache, 0x203c, 0x2041));
    assert_true(op_cache_take(&cache, 0x2042, 0x2043));
    assert_int_equal(cache.begin, 0x2042);
    free(cache.entries);
}

/* Code that is entered at two places has two entries: of four from 0x1000 on, and from 0x1008 on of
 * two and, behind them, two more. */
static void it_is_found_by_where_it_begins(void **state) {
    (void)state;
    struct op_cache cache = new_cache(4, 4, 4);
    assert_int_equal(decoded(&cache, 0x1000, 4), 4);
    assert_int_equal(decoded(&cache, 0x1008, 4), 4);
    assert_int_equal(decoded(&cache, 0x1000, 4), 0);
    assert_int_equal(decoded(&cache, 0x1008, 4), 0);
    free(cache.entries);
}

/* The highest addresses are as others. */
static void it_has_high_addresses(void **state) {
    (void)state;
    struct op_cache cache = new_cache(4, 4, 4);
    assert_int_equal(decoded(&cache, UINT64_C(0xffffffffff600000), 4), 4);
    assert_int_equal(decoded(&cache, UINT64_C(0xffffffffff600000), 4), 0);
    free(cache.entries);
}

/* Two instructions, the last a branch that is taken: the entry has these two. When the branch is
 * not taken, what follows has an entry of its own, and stays there. */
static void a_taken_branch_ends_it(void **state) {
    (void)state;
    struct op_cache cache = new_cache(4, 4, 4);
    assert_int_equal(decoded(&cache, 0x1000, 2), 2);
    assert_int_equal(decoded(&cache, 0x2000, 1), 1);
    assert_int_equal(decoded(&cache, 0x1000, 4), 2);
    assert_int_equal(cache.begin, 0x1008);
    assert_int_equal(decoded(&cache, 0x2000, 1), 0);
    assert_int_equal(decoded(&cache, 0x1000, 4), 0);
    free(cache.entries);
}

/* A compare and the branch behind it are one of the four: these and four more are five. */
static void a_fused_pair_is_one(void **state) {
    (void)state;
    struct op_cache cache = new_cache(4, 4, 4);
    op_cache_take(&cache, 0x1000, 0x1003);
    op_cache_fuse(&cache, 0x1005);
    for (uint64_t at = 0x1006; at < 0x1016; at += 4)
        op_cache_take(&cache, at, at + 3);
    assert_int_equal(cache.lookups, 2);
    assert_int_equal(cache.begin, 0x1012);
    free(cache.entries);
}

/* Two ways: of three entries in turn none is there, of two both; the one that was used last stays.
 */
static void the_last_used_stay(void **state) {
    (void)state;
    struct op_cache cache = new_cache(2, 2, 4);
    for (int turn = 0; turn < 3; turn++)
        for (uint64_t at = 0x1000; at < 0x1300; at += 0x100)
            assert_int_equal(decoded(&cache, at, 1), 1);
    assert_int_equal(decoded(&cache, 0x1100, 1), 0);
    assert_int_equal(decoded(&cache, 0x1000, 1), 1);
    assert_int_equal(decoded(&cache, 0x1100, 1), 0);
    assert_int_equal(decoded(&cache, 0x1200, 1), 1);
    free(cache.entries);
}

/* A copy of a predictor, and one that replays what was recorded, go on within the entry that the
 * first was in, and change nothing of it; without an op cache there is none. */
static void copies_have_their_own(void **state) {
    (void)state;
    const struct machine_branch machine = {.direction = DIRECTION_PERFECT,
                                           .ras_entries = 8,
                                           .op_cache_entries = 2,
                                           .op_cache_ways = 2,
                                           .op_cache_insns = 4};
    const struct machine_branch none = {.direction = DIRECTION_PERFECT, .ras_entries = 8};
    struct branch_outcomes outcomes = {0};
    struct branch_predictor *first = new_predictor(machine), *without = new_predictor(none);
    assert_null(branch_op_cache(without));
    assert_int_equal(decoded(branch_op_cache(first), 0x1000, 3), 3);
    struct branch_predictor *others[] = {branch_copy(first, &machine),
                                         branch_replay(first, &machine, &outcomes)};
    for (int i = 0; i < 2; i++) {
        struct branch_statistics statistics;
        assert_non_null(others[i]);
        struct op_cache *cache = branch_op_cache(others[i]);
        assert_int_equal(decoded(cache, 0x100c, 1), 1); /* the fourth */
        assert_int_equal(decoded(cache, 0x1000, 4), 0);
        branch_statistics(others[i], &statistics);
        assert_int_equal(statistics.op_cache_lookups, 2);
        assert_int_equal(statistics.op_cache_misses, 1);
        branch_free(others[i]);
    }
    assert_int_equal(decoded(branch_op_cache(first), 0x1000, 4), 1); /* it has but three */
    branch_free(first);
    branch_free(without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_full),
        cmocka_unit_test(an_entry_ends_with_its_line),
        cmocka_unit_test(it_is_found_by_where_it_begins),
        cmocka_unit_test(it_has_high_addresses),
        cmocka_unit_test(a_taken_branch_ends_it),
        cmocka_unit_test(a_fused_pair_is_one),
        cmocka_unit_test(the_last_used_stay),
        cmocka_unit_test(copies_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
