/* What caches and TLBs hold, rebuilt from the time of the last access of each line. */
#include "memory/stamps.h"

#include <stdlib.h>

#include "memory/hierarchy.h"
#include "trace/event.h"
#include "unit/memory_machine.h"

/* Block n is 16 bytes at 0x400000 + 16 n: four to a line. */
static void span_of(void *context, uint32_t block, uint64_t *start, uint64_t *end) {
    (void)context;
    *start = 0x400000 + 16ull * block;
    *end = *start + 16;
}

static struct stamped_line *accesses_beyond(uint64_t inner, const uint64_t *events, uint32_t count,
                                            size_t *lines) {
    struct stamps *stamps = stamps_new(64, inner);
    assert_non_null(stamps);
    assert_true(stamps_events(stamps, events, count, 16));
    struct stamped_line *result = stamps_lines(stamps, span_of, NULL, lines);
    assert_non_null(result);
    stamps_free(stamps);
    return result;
}

static struct stamped_line *last_accesses(const uint64_t *events, uint32_t count, size_t *lines) {
    return accesses_beyond(1 << 20, events, count, lines);
}

static uint64_t load_of(uint64_t address) {
    return event_access(0, 3, 0, address);
}

static uint64_t store_of(uint64_t address) {
    return event_access(1, 3, 0, address);
}

/* Lines in the order of their last access; a line that was stored to stays so. */
static void each_line_once_by_last_access(void **state) {
    (void)state;
    const uint64_t events[] = {
        event_block(0),  store_of(0x1000), load_of(0x2000), event_block(4),
        load_of(0x1008), load_of(0x3000),  load_of(0x203c)}; /* its last 4 bytes lie in the next
                                                                line */
    const struct stamped_line expected[] = {
        {.address = 0x400000, .kind = STAMPED_CODE}, {.address = 0x400040, .kind = STAMPED_CODE},
        {.address = 0x1000, .kind = STAMPED_STORE},  {.address = 0x3000, .kind = STAMPED_LOAD},
        {.address = 0x2000, .kind = STAMPED_LOAD},   {.address = 0x2040, .kind = STAMPED_LOAD}};
    size_t count;
    struct stamped_line *lines = last_accesses(events, sizeof events / sizeof *events, &count);
    assert_int_equal(count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lines[i].address, expected[i].address);
        assert_int_equal(lines[i].kind, expected[i].kind);
    }
    free(lines);
}

/* A loop through 600 lines, 60 times. Levels of 200 lines have let each go when it is accessed
 * again, which is known once accesses were sampled; levels of 1,000 hold all. */
static void lines_that_come_again(void **state) {
    (void)state;
    enum { LINES = 600, ROUNDS = 60 };
    static uint64_t events[LINES * ROUNDS];
    for (size_t i = 0; i < LINES * ROUNDS; i++)
        events[i] = load_of(0x100000 + i % LINES * 64);
    for (uint64_t inner = 200; inner <= 1000; inner += 800) {
        size_t count;
        struct stamped_line *lines = accesses_beyond(inner, events, LINES * ROUNDS, &count);
        assert_int_equal(count, LINES);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(lines[i].address, 0x100000 + i * 64);
            assert_int_equal(lines[i].time, LINES * (ROUNDS - 1) + i + 1);
            assert_in_range(lines[i].again, inner == 200 ? 20 : 0, inner == 200 ? ROUNDS - 1 : 0);
        }
        free(lines);
    }
}

/* Of 40,000 lines that were never accessed before, levels of 200 have let the first ones go. */
static void lines_that_are_new_push_others_out(void **state) {
    (void)state;
    enum { LINES = 40000, AGAIN = 1000 };
    static uint64_t events[LINES + AGAIN];
    for (size_t i = 0; i < LINES + AGAIN; i++)
        events[i] = load_of(0x1000000 + i % LINES * 64);
    size_t count;
    struct stamped_line *lines = accesses_beyond(200, events, LINES + AGAIN, &count);
    assert_int_equal(count, LINES);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(lines[i].again, lines[i].time > LINES);
    free(lines);
}

/* One line, a loop through 600 others, and that line again: 601 lines, which fit into 1,000, if
 * those of the first round are taken to have been accessed shortly before. */
static void lines_are_not_new_at_the_beginning(void **state) {
    (void)state;
    enum { LINES = 600, ROUNDS = 60, EVENTS = 2 + LINES * ROUNDS };
    static uint64_t events[EVENTS];
    for (size_t i = 0; i < EVENTS; i++)
        events[i] = load_of(0x100000 + i % LINES * 64);
    events[0] = events[EVENTS - 1] = load_of(0x8000);
    size_t count;
    struct stamped_line *lines = accesses_beyond(1000, events, EVENTS, &count);
    assert_int_equal(lines[count - 1].address, 0x8000);
    assert_int_equal(lines[count - 1].again, 0);
    free(lines);
}

/* What was stamped before is forgotten, but for how often lines are accessed. */
static void cleared_stamps_begin_anew(void **state) {
    (void)state;
    enum { LINES = 600, ROUNDS = 60, EVENTS = LINES * ROUNDS };
    static uint64_t events[EVENTS];
    struct stamps *stamps = stamps_new(64, 200);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < EVENTS; i++)
            events[i] = load_of((round + 1) * 0x100000 + i % LINES * 64);
        stamps_clear(stamps);
        assert_int_equal(stamps_events_seen(stamps), 0);
        assert_true(stamps_events(stamps, events, EVENTS, 16));
    }
    size_t count;
    struct stamped_line *lines = stamps_lines(stamps, span_of, NULL, &count);
    assert_int_equal(count, LINES);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lines[i].address, 0x200000 + i * 64);
        assert_int_equal(lines[i].time, LINES * (ROUNDS - 1) + i + 1);
        assert_in_range(lines[i].again, ROUNDS / 2, ROUNDS - 1);
    }
    free(lines);
    stamps_free(stamps);
}

/* A rep movsb of 130 bytes from 0x1030 to 0x5000: three lines each. */
static void spans_of_rep_instructions(void **state) {
    (void)state;
    const uint64_t events[] = {event_block(1),
                               event_mark(MARK_REP, 130),
                               event_access(0, 0, 0, 0x1030),
                               event_mark(MARK_SPAN, 130),
                               event_access(1, 0, 0, 0x5000),
                               event_mark(MARK_SPAN, 130)};
    const uint64_t expected[] = {0x400000, 0x1000, 0x1040, 0x1080, 0x5000, 0x5040, 0x5080};
    size_t count;
    struct stamped_line *lines = last_accesses(events, sizeof events / sizeof *events, &count);
    assert_int_equal(count, 7);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lines[i].address, expected[i]);
        assert_int_equal(lines[i].kind, i == 0  ? STAMPED_CODE
                                        : i < 4 ? STAMPED_LOAD
                                                : STAMPED_STORE);
    }
    free(lines);
}

/* Addresses 0x200 apart share a set of the L1D, 2 ways; 0x400 apart one of the L2, 4 ways. In one
 * set of both: A 0, B 0x400, C 0x800, D 0xc00, E 0x1000, F 0x1400. Accessed A B C A D E(store) F B:
 * last in the order C A D E F B. The L1D holds the last two, F and B, F to go next; the L2 the last
 * four, D E F B, D to go next. E, dirty, left the L1D when B came, and is dirty in the L2. */
static void contents_are_those_used_last(void **state) {
    (void)state;
    enum { A = 0, B = 0x400, C = 0x800, D = 0xc00, E = 0x1000, F = 0x1400 };
    struct machine machine = small_machine();
    struct memory *memory = new_memory(&machine, 0);
    const uint64_t events[] = {load_of(A), load_of(B),  load_of(C), load_of(A),
                               load_of(D), store_of(E), load_of(F), load_of(B)};
    size_t count;
    struct stamped_line *lines = last_accesses(events, 8, &count);
    memory_rebuild(memory, lines, count, (struct stamped_stretch){0});
    free(lines);
    const uint64_t in_l1d[] = {F, B}, in_l2[] = {D, E, F, B}, in_llc[] = {A, B, C, D, E, F};
    for (uint64_t line = A; line <= F; line += 0x400) {
        bool l1d = false, l2 = false, llc = false;
        for (int i = 0; i < 2; i++)
            l1d |= in_l1d[i] == line;
        for (int i = 0; i < 4; i++)
            l2 |= in_l2[i] == line;
        for (int i = 0; i < 6; i++)
            llc |= in_llc[i] == line;
        assert_int_equal(cache_find(&memory->l1d, line) != CACHE_NONE, l1d);
        assert_int_equal(cache_find(&memory->l2, line) != CACHE_NONE, l2);
        assert_int_equal(cache_find(&memory->llc, line) != CACHE_NONE, llc);
    }
    assert_true(memory->l2.tags[cache_find(&memory->l2, E)] & TAG_DIRTY);
    assert_false(memory->l2.tags[cache_find(&memory->l2, D)] & TAG_DIRTY);
    assert_true(memory_consistent(memory));
    /* Loads find them there, and replace what was used longest ago. */
    assert_access(load(memory, 1000, F), 1004, LEVEL_L1, 0);
    assert_access(load(memory, 2000, D), 2012, LEVEL_L2, MEMORY_MISSED_L1); /* B goes */
    assert_access(load(memory, 3000, F), 3004, LEVEL_L1, 0);
    assert_access(load(memory, 4000, B), 4012, LEVEL_L2, MEMORY_MISSED_L1);
    assert_access(load(memory, 5000, C), 5040, LEVEL_LLC, MEMORY_MISSED_L1);
    memory_free(memory);
}

/* Entries of two pages: those of the lines accessed last, whichever lines they are. */
static void translations_too(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.dtlb.entries = 2;
    machine.itlb.entries = 1;
    machine.page_walk = 50;
    struct memory *memory = new_memory(&machine, 0);
    const uint64_t events[] = {event_block(0),  load_of(0x1000), load_of(0x2000),
                               load_of(0x3000), load_of(0x1040), event_block(1)};
    size_t count;
    struct stamped_line *lines = last_accesses(events, 6, &count);
    memory_rebuild(memory, lines, count, (struct stamped_stretch){0});
    free(lines);
    assert_true(memory_translates(memory, 100, 0x3000));
    assert_true(memory_translates(memory, 100, 0x1000));
    assert_false(memory_translates(memory, 100, 0x2000));
    assert_access(fetch(memory, 1000, 0x400000), 1004, LEVEL_L1, 0);
    assert_int_equal(statistics_of(memory).page_walks, 0); /* none was counted */
    memory_free(memory);
}

/* An access sequence of random length and place leaves an L1D with LRU as rebuilding does. */
static void as_after_the_accesses(void **state) {
    (void)state;
    enum { EVENTS = 4000 };
    struct machine machine = small_machine();
    machine.dtlb = (struct machine_tlb){.entries = 8, .ways = 2, .latency = 1};
    static uint64_t events[EVENTS];
    uint64_t seed = 1;
    for (int i = 0; i < EVENTS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        events[i] = seed >> 63 ? load_of(seed >> 40 & 0xfff8) : store_of(seed >> 40 & 0xfff8);
    }
    struct memory *accessed = new_memory(&machine, 0), *rebuilt = new_memory(&machine, 0);
    for (int i = 0; i < EVENTS; i++)
        memory_warm_load(accessed, event_address(events[i]), 8, 0,
                         event_kind(events[i]) == EVENT_STORE);
    size_t count;
    struct stamped_line *lines = last_accesses(events, EVENTS, &count);
    memory_rebuild(rebuilt, lines, count, (struct stamped_stretch){0});
    free(lines);
    for (uint64_t line = 0; line < 0x10000; line += 64)
        assert_int_equal(cache_find(&accessed->l1d, line) == CACHE_NONE,
                         cache_find(&rebuilt->l1d, line) == CACHE_NONE);
    for (uint64_t page = 0; page < 0x10000; page += 4096)
        assert_int_equal(memory_translates(accessed, 10, page),
                         memory_translates(rebuilt, 10, page));
    memory_free(accessed);
    memory_free(rebuilt);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_line_once_by_last_access),
                                       cmocka_unit_test(lines_that_come_again),
                                       cmocka_unit_test(lines_that_are_new_push_others_out),
                                       cmocka_unit_test(lines_are_not_new_at_the_beginning),
                                       cmocka_unit_test(cleared_stamps_begin_anew),
                                       cmocka_unit_test(spans_of_rep_instructions),
                                       cmocka_unit_test(contents_are_those_used_last),
                                       cmocka_unit_test(translations_too),
                                       cmocka_unit_test(as_after_the_accesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
