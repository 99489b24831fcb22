/* Untimed accesses: which access fetched a block, and the same hits and misses as with timing when
 * accesses are far apart. */
#include "unit/memory_machine.h"

static struct untimed_result ask(struct memory *memory, uint64_t number, uint64_t address) {
    struct untimed_result result;
    memory_untimed(memory, address, 8, false, number, 0, &result);
    return result;
}

#define assert_answer(result, expected_fetched_by, expected_events)                                \
    do {                                                                                           \
        const struct untimed_result answered = (result);                                           \
        assert_int_equal(answered.fetched_by, expected_fetched_by);                                \
        assert_int_equal(answered.events, expected_events);                                        \
    } while (0)

/* Lines of the L1 are half as long as blocks: the second half of a block misses the L1, but was
 * fetched by the access that fetched the block, for which its later users wait too. */
static void inner_levels_hand_on_who_fetched_the_block(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.line = 32;
    struct memory *memory = new_memory(&machine, 0);
    assert_answer(ask(memory, 7, 0x10000), 7, UNTIMED_MISS | UNTIMED_MISSED_L1);
    assert_answer(ask(memory, 8, 0x10008), 7, 0);
    assert_answer(ask(memory, 9, 0x10020), 7, UNTIMED_MISSED_L1);
    assert_answer(ask(memory, 10, 0x10028), 7, 0);
    memory_free(memory);
}

/* A store fetches its block as a load does. An access that crosses lines waits for the block that
 * was fetched last. */
static void stores_and_splits(void **state) {
    (void)state;
    const struct machine machine = small_machine();
    struct memory *memory = new_memory(&machine, 0);
    struct untimed_result result;
    memory_untimed(memory, 0x10000, 4, true, 0, 0, &result);
    assert_answer(result, 0, UNTIMED_MISS | UNTIMED_MISSED_L1);
    assert_answer(ask(memory, 1, 0x10040), 1, UNTIMED_MISS | UNTIMED_MISSED_L1);
    assert_answer(ask(memory, 2, 0x1003c), 1, 0);
    assert_answer(ask(memory, 3, 0x1007c), 3, UNTIMED_MISS | UNTIMED_MISSED_L1);
    memory_free(memory);
}

/* Tagged: the miss of 0 brings line 1, whose first use brings line 2. */
static void prefetched_blocks_name_their_trigger(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.prefetcher = PREFETCH_TAGGED;
    struct memory *memory = new_memory(&machine, 0);
    assert_answer(ask(memory, 0, 0x10000), 0, UNTIMED_MISS | UNTIMED_MISSED_L1 | UNTIMED_TRIGGERED);
    assert_answer(ask(memory, 1, 0x10040), 0,
                  UNTIMED_PREFETCHED | UNTIMED_FIRST_USE | UNTIMED_TRIGGERED);
    assert_answer(ask(memory, 2, 0x10048), 0, UNTIMED_PREFETCHED);
    assert_answer(ask(memory, 3, 0x10080), 1,
                  UNTIMED_PREFETCHED | UNTIMED_FIRST_USE | UNTIMED_TRIGGERED);
    memory_free(memory);
}

/* The next line of the L1 is the other half of the block that the miss itself brings: it has to be
 * fetched too. Of a block that has long been there it is told whose it was. */
static void prefetch_of_the_other_half(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.line = 32;
    machine.l1d.prefetcher = PREFETCH_ON_MISS;
    struct memory *memory = new_memory(&machine, 0);
    assert_answer(ask(memory, 0, 0x10000), 0, UNTIMED_MISS | UNTIMED_MISSED_L1 | UNTIMED_TRIGGERED);
    for (uint64_t line = 1; line < 32; line++) /* lines 0 and 1 leave the L1 */
        ask(memory, line, 0x10000 + 64 * line);
    const struct untimed_result result = ask(memory, 40, 0x10000);
    assert_answer(result, 0, UNTIMED_MISSED_L1 | UNTIMED_ALONG);
    assert_int_equal(result.along, 0);
    memory_free(memory);
}

/* The LLC's prefetcher fetches line 1 for itself: the result tells that only levels beyond the L1D
 * did, until the L1D's prefetcher does as well: line 3 by the LLC, which fetches line 2 for the
 * L1D. */
static void who_prefetches(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.llc.prefetcher = PREFETCH_TAGGED;
    struct memory *memory = new_memory(&machine, 0);
    assert_answer(ask(memory, 0, 0x10000), 0,
                  UNTIMED_MISS | UNTIMED_MISSED_L1 | UNTIMED_TRIGGERED | UNTIMED_BEYOND);
    memory_free(memory);
    machine.l1d.prefetcher = PREFETCH_TAGGED;
    memory = new_memory(&machine, 0);
    assert_answer(ask(memory, 0, 0x10000), 0, UNTIMED_MISS | UNTIMED_MISSED_L1 | UNTIMED_TRIGGERED);
    memory_free(memory);
}

static void software_prefetches(void **state) {
    (void)state;
    const struct machine machine = small_machine();
    struct memory *memory = new_memory(&machine, 0);
    struct untimed_result result;
    memory_untimed_prefetch(memory, 0x10000, 5, 0, &result);
    assert_int_equal(result.events, UNTIMED_TRIGGERED);
    memory_untimed_prefetch(memory, 0x10008, 6, 0, &result);
    assert_int_equal(result.events, 0);
    assert_answer(ask(memory, 7, 0x10010), 5, UNTIMED_PREFETCHED | UNTIMED_FIRST_USE);
    memory_free(memory);
}

/* Random walks and strides by four instructions, far enough apart that every fill is over. */
static void as_in_time_when_far_apart(void **state) {
    (void)state;
    for (int kind = PREFETCH_NONE; kind <= PREFETCH_STRIDE; kind++) {
        struct machine machine = small_machine();
        machine.l1d.prefetcher = (enum prefetcher_kind)kind;
        machine.llc.prefetcher = PREFETCH_TAGGED;
        struct memory *timed = new_memory(&machine, 0), *untimed = new_memory(&machine, 0);
        uint32_t random = 12345, misses = 0;
        for (uint64_t number = 0; number < 50000; number++) {
            random = random * 1664525 + 1013904223;
            const uint32_t insn = random >> 30;
            const uint64_t address =
                0x10000 + (insn & 1 ? 40 * insn * (number % 1500) : (random >> 8) % 60000 & ~7u);
            const bool is_store = random >> 10 & 1;
            struct memory_result expected;
            struct untimed_result result;
            (is_store ? memory_store : memory_load)(timed, 1000 * (number + 1), address, 8, number,
                                                    insn, &expected);
            memory_untimed(untimed, address, 8, is_store, number, insn, &result);
            assert_int_equal(!!(result.events & UNTIMED_MISS),
                             !!(expected.events & MEMORY_MISSED_LLC));
            assert_int_equal(!!(result.events & UNTIMED_MISSED_L1),
                             !!(expected.events & MEMORY_MISSED_L1));
            misses += result.events & UNTIMED_MISS;
        }
        assert_in_range(misses, 1000, 49000);
        assert_true(memory_consistent(untimed));
        memory_free(timed);
        memory_free(untimed);
    }
}

/* In time the load of 0x10000 at cycle 0 takes 140 cycles; at cycle 10 the line is on its way, for
 * the copy it is there. Nobody is known to have brought it; what the copy brings has numbers again.
 * Of 0x10000, 0x10400 and 0x10800, of one set of the L1, the first to come has left it. */
static void takes_what_another_holds(void **state) {
    (void)state;
    const struct machine machine = small_machine();
    struct memory *timed = new_memory(&machine, 0), *memory = new_memory(&machine, 0);
    ask(memory, 1, 0x20000);
    load(timed, 0, 0x10000);
    load(timed, 10, 0x10400);
    memory_untimed_from(memory, timed);
    assert_answer(ask(memory, 2, 0x10000), UINT64_MAX, 0);
    assert_answer(ask(memory, 3, 0x20000), 3, UNTIMED_MISS | UNTIMED_MISSED_L1);
    load(timed, 1000, 0x10800);
    memory_untimed_from(memory, timed);
    assert_answer(ask(memory, 4, 0x10400), UINT64_MAX, 0);
    assert_answer(ask(memory, 5, 0x10000), UINT64_MAX, UNTIMED_MISSED_L1);
    assert_true(memory_consistent(memory));
    memory_free(timed);
    memory_free(memory);
}

/* A line that a prefetch fetched and that was not used yet: its first use is one in the copy as
 * well, whose prefetcher answers. The prefetcher may be another: the copy's tagged one, the other's
 * next line. */
static void takes_prefetched_lines(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.prefetcher = PREFETCH_NEXT_LINE;
    struct memory *timed = new_memory(&machine, 0);
    machine.l1d.prefetcher = PREFETCH_TAGGED;
    struct memory *memory = new_memory(&machine, 0);
    load(timed, 0, 0x10000);
    memory_untimed_from(memory, timed);
    assert_answer(ask(memory, 7, 0x10040), UINT64_MAX,
                  UNTIMED_PREFETCHED | UNTIMED_FIRST_USE | UNTIMED_TRIGGERED);
    assert_answer(ask(memory, 8, 0x10080), 7,
                  UNTIMED_PREFETCHED | UNTIMED_FIRST_USE | UNTIMED_TRIGGERED);
    memory_free(timed);
    memory_free(memory);
}

/* Lines of the L1 are half as long as blocks. The miss of 0 brings the rest of its own block; the
 * first use of that brings the next block, and the first use of its first half asks for its second,
 * which comes with the block that access 1 had prefetched. A block that was missed: likewise. */
static void more_of_a_block_goes_along(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.line = 32;
    machine.l1d.prefetcher = PREFETCH_TAGGED;
    struct memory *memory = new_memory(&machine, 0);
    assert_answer(ask(memory, 0, 0x10000), 0, UNTIMED_MISS | UNTIMED_MISSED_L1 | UNTIMED_TRIGGERED);
    assert_answer(ask(memory, 1, 0x10020), 0, UNTIMED_TRIGGERED);
    struct untimed_result result = ask(memory, 2, 0x10040);
    assert_answer(result, 1,
                  UNTIMED_PREFETCHED | UNTIMED_FIRST_USE | UNTIMED_ALONG |
                      UNTIMED_ALONG_PREFETCHED);
    assert_int_equal(result.along, 1);
    machine.l1d.prefetcher = PREFETCH_ON_MISS;
    memory_free(memory);
    memory = new_memory(&machine, 0);
    ask(memory, 0, 0x10040);
    result = ask(memory, 1, 0x10020); /* its next line is there */
    assert_answer(result, 1, UNTIMED_MISS | UNTIMED_MISSED_L1);
    ask(memory, 2, 0x10120);
    result = ask(memory, 3, 0x100e0); /* the first half of the block of 2 is not in the L1 */
    assert_answer(result, 3, UNTIMED_MISS | UNTIMED_MISSED_L1 | UNTIMED_ALONG);
    assert_int_equal(result.along, 2);
    memory_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_levels_hand_on_who_fetched_the_block),
        cmocka_unit_test(stores_and_splits),
        cmocka_unit_test(prefetched_blocks_name_their_trigger),
        cmocka_unit_test(more_of_a_block_goes_along),
        cmocka_unit_test(prefetch_of_the_other_half),
        cmocka_unit_test(who_prefetches),
        cmocka_unit_test(software_prefetches),
        cmocka_unit_test(as_in_time_when_far_apart),
        cmocka_unit_test(takes_what_another_holds),
        cmocka_unit_test(takes_prefetched_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
