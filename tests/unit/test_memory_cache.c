/* Replacement, write-back traffic, and agreement with a plain cache simulator. */
#include <stdlib.h>
#include <string.h>

#include "memory/hierarchy.h"
#include "unit/memory_machine.h"

/* Lines of set 0 of a one-set cache of 4 ways behind which only DRAM lies. */
static struct machine one_set(enum replacement_kind replacement) {
    struct machine machine = small_machine();
    machine.l2.present = machine.llc.present = false;
    machine.l1d.size = 256;
    machine.l1d.ways = 4;
    machine.l1d.replacement = replacement;
    return machine;
}

enum { A = 0x10000, B = 0x10040, C = 0x10080, D = 0x100c0, E = 0x10100 };

static bool holds(const struct cache *cache, uint64_t address) {
    return cache_find(cache, address) != CACHE_NONE;
}

static void load_all(struct memory *memory, const uint64_t *addresses, size_t count) {
    static uint64_t cycle;
    for (size_t i = 0; i < count; i++)
        load(memory, cycle += 1000, addresses[i]);
}
#define LOADS(memory, ...)                                                                         \
    load_all(memory, (const uint64_t[]){__VA_ARGS__},                                              \
             sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void lru_order(void **state) {
    (void)state;
    struct machine machine = one_set(REPLACE_LRU);
    struct memory *memory = new_memory(&machine, 0);
    LOADS(memory, A, B, C, D, A, C, E); /* least recent: B */
    assert_false(holds(&memory->l1d, B));
    assert_true(holds(&memory->l1d, A) && holds(&memory->l1d, C) && holds(&memory->l1d, D));
    LOADS(memory, B); /* least recent: D */
    assert_false(holds(&memory->l1d, D));
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* An L2 of 1024 sets of 2 ways, those of 16 pages. By virtual addresses lines at a
 * distance of pages share a set, and of 16 of them 2 stay; by frames, which lie anywhere, they are
 * in whichever set of their place in the page: more stay, and each still is found. */
static void sets_by_page_frames(void **state) {
    (void)state;
    enum { PAGE = 4096, PAGES = 256 };
    for (int frames = 0; frames < 2; frames++) {
        struct machine machine = small_machine();
        machine.llc.present = false;
        machine.l2.present = true;
        machine.l2.size = 128 << 10; /* 1024 sets: 16 pages' */
        machine.l2.ways = 2;
        machine.l2.line = 64;
        machine.l2.frames = frames;
        struct memory *memory = new_memory(&machine, 0);
        unsigned kept = 0, sets = 0;
        bool seen[16] = {false};
        for (uint64_t i = 0; i < PAGES; i++)
            load(memory, 1000 * (i + 1), A + i * 16 * PAGE);
        for (uint64_t i = 0; i < PAGES; i++) {
            const size_t set = cache_set(&memory->l2, A + i * 16 * PAGE) / 2;
            kept += holds(&memory->l2, A + i * 16 * PAGE);
            assert_int_equal(set % (PAGE / 64), A / 64 % (PAGE / 64));
            sets += !seen[set / (PAGE / 64)];
            seen[set / (PAGE / 64)] = true;
        }
        assert_int_equal(sets, frames ? 16 : 1);
        assert_int_equal(kept, frames ? 32 : 2);
        assert_true(memory_consistent(memory));
        memory_free(memory);
    }
}

static void plru_tree(void **state) {
    (void)state;
    struct machine machine = one_set(REPLACE_PLRU);
    struct memory *memory = new_memory(&machine, 0);
    /* A B C D fill ways 0 to 3; the bits then point at way 0 (root left, left node left). A's use
     * turns them: root right, left node right; right node still left since D: victim C, though B
     * is the least recent. */
    LOADS(memory, A, B, C, D, A, E);
    assert_false(holds(&memory->l1d, C));
    assert_true(holds(&memory->l1d, B));
    /* E in way 2 turned root left and right node right: left node right since A: victim B. */
    LOADS(memory, C);
    assert_false(holds(&memory->l1d, B));
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

static void random_repeats(void **state) {
    (void)state;
    struct machine machine = one_set(REPLACE_RANDOM);
    uint64_t misses[2];
    for (int run = 0; run < 2; run++) {
        struct memory *memory = new_memory(&machine, 0);
        for (uint64_t i = 0; i < 5000; i++)
            load(memory, 1000 * i, A + 64 * (i % 5));
        misses[run] = statistics_of(memory).l1d.misses;
        assert_true(memory_consistent(memory));
        memory_free(memory);
    }
    /* LRU would miss every time; random keeps some of a loop one line too long. */
    assert_int_equal(misses[0], misses[1]);
    assert_in_range(misses[0], 1000, 4000);
}

static void lines_in_flight_stay(void **state) {
    (void)state;
    struct machine machine = one_set(REPLACE_LRU);
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, A);
    load(memory, 2000, B);
    load(memory, 3000, C);
    load(memory, 3001, D);
    load(memory, 3002, B);
    /* Order from most recent: B D C A. E replaces A; A again would replace C, which is in flight,
     * like D and E: B goes instead. */
    load(memory, 3003, E);
    load(memory, 3004, A);
    assert_false(holds(&memory->l1d, B));
    assert_true(holds(&memory->l1d, C) && holds(&memory->l1d, D) && holds(&memory->l1d, E));
    /* All four in flight: the least recent, C, is not kept, and another access fetches it anew. */
    load(memory, 3005, B);
    assert_access(load(memory, 3006, C), 3110, LEVEL_DRAM, MISSED_ALL);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

static void dirty_lines_travel_outwards(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.llc.present = false;
    machine.l2.size = 512;  /* 8 lines in 2 sets of 4 */
    machine.l1d.size = 128; /* 2 lines in 1 set */
    struct memory *memory = new_memory(&machine, 0);
    store(memory, 1000, 0x0000);
    load(memory, 2000, 0x1000);
    load(memory, 3000, 0x2000); /* 0x0000 leaves the L1 for the L2, where it is */
    struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.writebacks, 1);
    assert_int_equal(statistics.l2.writebacks, 0);
    load(memory, 4000, 0x3000);
    load(memory, 5000, 0x4000); /* 0x0000 leaves the L2 for DRAM; clean 0x1000 left the L1 */
    statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.writebacks, 1);
    assert_int_equal(statistics.l2.writebacks, 1);
    assert_int_equal(statistics.dram_writes, 1);
    /* A dirty line whose copy in the L2 is gone takes a place there again. */
    store(memory, 6000, 0x5000); /* L1: 5000 4000 */
    for (int i = 0; i < 4; i++) {
        fetch(memory, 7000 + 1000 * i, 0x10000 + 0x1000 * i); /* fills the L2 set */
    }
    assert_false(holds(&memory->l2, 0x5000));
    load(memory, 11000, 0x0040);
    load(memory, 12000, 0x1040);
    assert_true(holds(&memory->l2, 0x5000));
    statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.writebacks, 2);
    assert_int_equal(statistics.dram_writes, 1);
    memory_free(memory);
}

/* A line becomes dirty by a store that hits: the line last used, another one of its set, one in
 * flight; and by a store of warming. */
static void store_hits_make_dirty(void **state) {
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        struct machine machine = one_set(REPLACE_LRU);
        struct memory *memory = new_memory(&machine, 0);
        LOADS(memory, A, B, B); /* B is settled and last used */
        const uint64_t cycle = memory->now + 1000;
        switch (kind) {
        case 0:
            store(memory, cycle, B);
            break;
        case 1:
            load(memory, cycle, A);
            load(memory, cycle, B);
            store(memory, cycle, A);
            break;
        case 2:
            load(memory, cycle, C);
            store(memory, cycle + 1, C);
            break;
        case 3:
            memory_warm_load(memory, A, 8, 0, true);
            break;
        case 4:
            memory_warm_load(memory, B, 8, 0, true);
            break;
        }
        for (uint64_t i = 0; i < 4; i++)
            load(memory, cycle + 1000 * (i + 1), E + 64 * i);
        assert_int_equal(statistics_of(memory).dram_writes, 1);
        memory_free(memory);
    }
}

/* Warming fills TLBs too, at once: no walk is left under way. */
static void warming_translates(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.dtlb.entries = machine.itlb.entries = 4;
    machine.l2tlb = (struct machine_tlb){.entries = 8, .latency = 7};
    machine.page_walk = 50;
    struct memory *memory = new_memory(&machine, 0);
    memory_warm_load(memory, A, 8, 0, false);
    memory_warm_fetch(memory, A);
    assert_access(load(memory, 1, A), 5, LEVEL_L1, 0);
    assert_access(fetch(memory, 1, A), 5, LEVEL_L1, 0);
    assert_int_equal(statistics_of(memory).page_walks, 0);
    memory_free(memory);
}

/* A plain simulator: every level an array of (line, time of last use). */
struct plain_level {
    uint64_t lines[64 * 8], used[64 * 8]; /* line address + 1 */
    uint32_t sets, ways, line_bytes;
};

static uint64_t *plain_find(struct plain_level *level, uint64_t address) {
    const uint64_t line = address / level->line_bytes;
    const uint64_t set = line % level->sets * level->ways;
    for (uint32_t way = 0; way < level->ways; way++)
        if (level->lines[set + way] == line + 1)
            return &level->lines[set + way];
    return NULL;
}

/* True on a hit; on a miss the line replaces the least recently used one. */
static bool plain_access(struct plain_level *level, uint64_t address, uint64_t time) {
    uint64_t *found = plain_find(level, address);
    const uint64_t line = address / level->line_bytes;
    const uint64_t set = line % level->sets * level->ways;
    uint64_t victim = set;
    for (uint32_t way = 1; way < level->ways; way++)
        if (level->used[set + way] < level->used[victim])
            victim = set + way;
    const uint64_t slot = found ? (uint64_t)(found - level->lines) : victim;
    level->lines[slot] = line + 1;
    level->used[slot] = time;
    return found != NULL;
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Random reads and fetches, functional or timed with time for every fill to end, hit exactly where
 * the plain simulator says. Reads only: where dirty lines go is this model's own choice. L1 lines
 * are half as long as those beyond. */
static void agrees_with_plain_simulator(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.line = machine.l1i.line = 32;
    for (int timed = 0; timed < 2; timed++) {
        struct memory *memory = new_memory(&machine, 0);
        struct plain_level l1d = {.sets = 16, .ways = 2, .line_bytes = 32}, l1i = l1d;
        struct plain_level l2 = {.sets = 16, .ways = 4, .line_bytes = 64};
        struct plain_level llc = {.sets = 32, .ways = 8, .line_bytes = 64};
        uint64_t seed = 7, levels[4] = {0};
        for (uint64_t time = 1; time <= 200000; time++) {
            const uint64_t span = next_random(&seed) % 4 ? 2048 : 32768;
            const uint64_t address = 0x7f0000000000 + next_random(&seed) % span;
            const bool is_fetch = next_random(&seed) % 3 == 0;
            struct cache *l1 = is_fetch ? &memory->l1i : &memory->l1d;
            enum memory_level expected = LEVEL_DRAM;
            if (plain_find(is_fetch ? &l1i : &l1d, address))
                expected = LEVEL_L1;
            else if (plain_find(&l2, address))
                expected = LEVEL_L2;
            else if (plain_find(&llc, address))
                expected = LEVEL_LLC;
            levels[expected]++;

            enum memory_level level = LEVEL_DRAM;
            if (timed) {
                level = is_fetch ? fetch(memory, 1000 * time, address).level
                                 : load(memory, 1000 * time, address & ~7ull).level;
            } else {
                if (holds(l1, address))
                    level = LEVEL_L1;
                else if (holds(&memory->l2, address))
                    level = LEVEL_L2;
                else if (holds(&memory->llc, address))
                    level = LEVEL_LLC;
                if (is_fetch)
                    memory_warm_fetch(memory, address);
                else
                    memory_warm_load(memory, address, 1, 0, false);
            }
            assert_int_equal(level, expected);
            if (!plain_access(is_fetch ? &l1i : &l1d, address, time) &&
                !plain_access(&l2, address, time))
                plain_access(&llc, address, time);
        }
        for (int level = 0; level < 4; level++)
            assert_true(levels[level] > 1000);
        assert_true(memory_consistent(memory));
        if (!timed)
            assert_int_equal(statistics_of(memory).l1d.accesses, 0); /* warming is not counted */
        memory_free(memory);
    }
}

/* Random timed traffic on every kind of machine: answers lie after their cycle, a retry comes
 * with nothing changed, and every invariant holds throughout. */
static void random_traffic_is_consistent(void **state) {
    (void)state;
    for (uint64_t kind = 0; kind < 24; kind++) {
        struct machine machine = small_machine();
        uint64_t seed = kind;
        machine.l1d.replacement = machine.llc.replacement = (enum replacement_kind)(kind % 3);
        machine.l1d.mshrs = kind % 2 ? 4 : 0;
        machine.l1i.mshrs = kind % 2;
        machine.l2.mshrs = kind % 5;
        machine.llc.mshrs = kind % 4 * 2;
        machine.l1d.prefetcher = (enum prefetcher_kind)(kind % 5);
        machine.l2.prefetcher = (enum prefetcher_kind)(kind / 5 % 5);
        machine.l1d.prefetch_degree = 1 + kind % 3;
        machine.itlb.entries = machine.dtlb.entries = 8;
        machine.l2tlb = (struct machine_tlb){.entries = 16, .ways = kind % 2, .latency = 7};
        machine.page_walk = 50;
        machine.dram = (struct machine_dram){.banked = kind % 2,
                                             .latency = 100,
                                             .base_latency = 20,
                                             .ranks = 1,
                                             .banks = 8,
                                             .row = 2048,
                                             .tcl = 14,
                                             .trcd = 14,
                                             .trp = 14,
                                             .clock_ghz = 1.1,
                                             .bandwidth = kind % 4 ? 12.7 : 0,
                                             .queue = kind % 3 * 4};
        const uint32_t ideal = kind == 23 ? MEMORY_IDEAL_LONG : 0;
        struct memory *memory = new_memory(&machine, ideal);
        uint64_t cycle = 0;
        for (uint64_t i = 0; i < 6000; i++) {
            struct memory_result result = {.ready = UINT64_MAX};
            const uint64_t address =
                next_random(&seed) % (next_random(&seed) % 2 ? 1 << 12 : 1 << 18);
            const uint32_t size = (uint32_t)(next_random(&seed) % 100 ? 1 + i % 16 : 1 + i % 5000);
            const uint32_t insn = (uint32_t)(next_random(&seed) % 300);
            cycle += next_random(&seed) % 4 ? 0 : next_random(&seed) % 100;
            switch (next_random(&seed) % 8) {
            case 0:
                memory_fetch(memory, cycle, address, i, &result);
                break;
            case 1:
                memory_prefetch(memory, cycle, address, i, insn);
                break;
            case 2:
                memory_warm_load(memory, address, size, insn, i % 2);
                break;
            case 3:
            case 4:
                memory_store(memory, cycle, address, size, i, insn, &result);
                break;
            default:
                memory_load(memory, cycle, address, size, i, insn, &result);
            }
            assert_true(result.retry ? result.retry > cycle : result.ready > cycle);
            if (i % 64 == 0)
                assert_true(memory_consistent(memory));
        }
        memory_free(memory);
    }
}

static void hostile_addresses(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.dtlb.entries = 4;
    machine.l1d.prefetcher = PREFETCH_TAGGED;
    struct memory *memory = new_memory(&machine, 0);
    struct memory_result result;
    memory_load(memory, 1, UINT64_MAX, UINT32_MAX, 0, 0, &result); /* wraps; cut at 64 lines */
    memory_store(memory, 2, UINT64_MAX - 63, 64, 0, UINT32_MAX, &result);
    memory_load(memory, 3, 0, 0, 0, 0, &result);
    memory_prefetch(memory, 4, UINT64_MAX, 0, 0);
    memory_warm_load(memory, UINT64_MAX, UINT32_MAX, 0, true);
    memory_fetch(memory, 5, UINT64_MAX, 0, &result);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lru_order),
                                       cmocka_unit_test(sets_by_page_frames),
                                       cmocka_unit_test(plru_tree),
                                       cmocka_unit_test(random_repeats),
                                       cmocka_unit_test(lines_in_flight_stay),
                                       cmocka_unit_test(dirty_lines_travel_outwards),
                                       cmocka_unit_test(store_hits_make_dirty),
                                       cmocka_unit_test(warming_translates),
                                       cmocka_unit_test(agrees_with_plain_simulator),
                                       cmocka_unit_test(random_traffic_is_consistent),
                                       cmocka_unit_test(hostile_addresses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
