/* Cycles of loads, stores and fetches at each level, pending hits, MSHRs, splits, ideals. */
#include "unit/memory_machine.h"

/* The small L1D has 8 sets: addresses 512 apart share a set; the L2's 1024, the LLC's 2048. */

static void latency_of_each_level(void **state) {
    (void)state;
    struct machine machine = small_machine();
    struct memory *memory = new_memory(&machine, 0);
    assert_access(load(memory, 1000, 0x10000), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(memory, 2000, 0x10000), 2004, LEVEL_L1, 0);
    assert_access(load(memory, 2000, 0x10038), 2004, LEVEL_L1, 0); /* same line */
    assert_int_equal(load(memory, 2001, 0x10008).bringer, 1000);
    /* Two more lines of the L1 set push the first out of the L1 (2 ways), not out of the L2. */
    load(memory, 3000, 0x10200);
    load(memory, 4000, 0x10400);
    struct memory_result result = load(memory, 5000, 0x10000);
    assert_access(result, 5012, LEVEL_L2, MEMORY_MISSED_L1);
    assert_int_equal(result.bringer, 1000); /* brought it to the L2 */
    assert_int_equal(load(memory, 5100, 0x10000).bringer, 5000);
    /* Four more lines of its L2 set (0x10400 apart by 1024) push it out of the L2 (4 ways: two of
     * them, 0x10000 and 0x10400, are there already). */
    load(memory, 6000, 0x10800);
    load(memory, 7000, 0x10c00);
    load(memory, 8000, 0x11000);
    load(memory, 9000, 0x11400);
    assert_access(load(memory, 10000, 0x10000), 10040, LEVEL_LLC, MEMORY_MISSED_L1);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

static void fetch_and_load_share_the_outer_levels(void **state) {
    (void)state;
    struct machine machine = small_machine();
    struct memory *memory = new_memory(&machine, 0);
    assert_access(fetch(memory, 1000, 0x4000), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(fetch(memory, 2000, 0x4004), 2004, LEVEL_L1, 0);
    assert_access(load(memory, 3000, 0x4000), 3012, LEVEL_L2, MEMORY_MISSED_L1);
    memory_free(memory);
}

static void without_outer_levels(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l2.present = machine.llc.present = false;
    struct memory *memory = new_memory(&machine, 0);
    assert_access(load(memory, 1000, 0x4000), 1104, LEVEL_DRAM, MISSED_ALL);
    memory_free(memory);
    machine = small_machine();
    machine.llc.present = false; /* the L2 is the last level: 12 + 100 */
    memory = new_memory(&machine, 0);
    assert_access(load(memory, 1000, 0x4000), 1112, LEVEL_DRAM, MISSED_ALL);
    memory_free(memory);
}

/* Without an L1I every fetch hits, in the TLB too. */
static void without_instruction_cache(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1i = (struct machine_cache){.latency = 2};
    machine.itlb.entries = 2;
    machine.page_walk = 30;
    struct memory *memory = new_memory(&machine, 0);
    assert_access(fetch(memory, 1000, 0x4000), 1002, LEVEL_L1, 0);
    memory_warm_fetch(memory, 0x8000);
    assert_access(load(memory, 3000, 0x8000), 3140, LEVEL_DRAM, MISSED_ALL);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* Every machine that ships has a memory system. */
static void shipped_machines(void **state) {
    (void)state;
    static const char *const names[] = {"machines/boom-tip.ini", "machines/boom-simpoint.ini",
                                        "machines/boom-tea.ini", "machines/fields2004.ini",
                                        "machines/chen-ooo.ini", "machines/zen4.ini"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct machine machine;
        struct error error;
        if (!machine_load(names[i], &machine, &error))
            fail_msg("%s", error.message);
        struct memory *memory = new_memory(&machine, 0);
        const struct memory_result missed = load(memory, 1000, 0x4000);
        assert_int_equal(missed.level, LEVEL_DRAM);
        const struct memory_result hit = load(memory, missed.ready, 0x4000);
        assert_access(hit, missed.ready + machine.l1d.latency, LEVEL_L1, 0);
        fetch(memory, missed.ready, 0x8000);
        assert_true(memory_consistent(memory));
        memory_free(memory);
    }
}

static void pending_hits(void **state) {
    (void)state;
    struct machine machine = small_machine();
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, 0x4000); /* until 1140 */
    struct memory_result result = load(memory, 1010, 0x4020);
    assert_access(result, 1140, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
    assert_int_equal(result.bringer, 1000);
    /* Near the end of the fill the access's own 4 cycles count: 1138 + 4. */
    assert_access(store(memory, 1138, 0x4000), 1142, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
    assert_access(load(memory, 1140, 0x4000), 1144, LEVEL_L1, 0);
    /* A fetch of the line while the load's fill is in flight waits for it at the L2. */
    load(memory, 2000, 0x8000);
    result = fetch(memory, 2050, 0x8000);
    assert_access(result, 2140, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
    assert_int_equal(result.bringer, 2000);
    /* A pending hit on a fill from the L2 misses the L1 only. */
    load(memory, 3000, 0x4200);
    load(memory, 4000, 0x4400); /* 0x4000 leaves the L1 */
    load(memory, 5000, 0x4000);
    assert_access(load(memory, 5001, 0x4008), 5012, LEVEL_L2,
                  MEMORY_MISSED_L1 | MEMORY_PENDING_HIT);
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.accesses, 9);
    assert_int_equal(statistics.l1d.misses, 5);
    assert_int_equal(statistics.l1d.pending_hits, 3);
    assert_int_equal(statistics.l2.pending_hits, 1);
    assert_int_equal(statistics.dram_reads, 4);
    memory_free(memory);
}

/* The same accesses where hits on a line on its way are free: 4 cycles from the access, at the L1.
 * The line itself still comes after 140. */
static void free_pending_hits(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.free_pending_hits = true;
    struct memory *memory = new_memory(&machine, 0);
    assert_access(load(memory, 1000, 0x4000), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(memory, 1010, 0x4020), 1014, LEVEL_L1, 0);
    assert_access(load(memory, 1138, 0x4000), 1142, LEVEL_L1, 0);
    assert_int_equal(statistics_of(memory).l1d.pending_hits, 0);
    memory_free(memory);
}

static void l1d_mshrs_ask_to_retry(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.mshrs = 2;
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, 0x4000);
    store(memory, 1005, 0x4040);
    struct memory_result result = load(memory, 1010, 0x4080);
    assert_int_equal(result.retry, 1140); /* the first fill's MSHR */
    result = store(memory, 1011, 0x4080);
    assert_int_equal(result.retry, 1140);
    /* Merging needs none. */
    assert_access(load(memory, 1012, 0x4048), 1145, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
    /* Refusals changed nothing: the line comes from DRAM. */
    assert_access(load(memory, 1140, 0x4080), 1280, LEVEL_DRAM, MISSED_ALL);
    assert_int_equal(load(memory, 1141, 0x40c0).retry, 1145);
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.mshr_waits, 3);
    assert_int_equal(statistics.l1d.accesses, 4);
    assert_int_equal(statistics.dram_reads, 3);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

static void outer_mshrs_delay(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.llc.mshrs = 1;
    struct memory *memory = new_memory(&machine, 0);
    assert_access(load(memory, 1000, 0x4000), 1140, LEVEL_DRAM, MISSED_ALL);
    /* Known to miss the LLC at 1050, but its MSHR is free at 1140: DRAM from there, 1240. */
    assert_access(load(memory, 1010, 0x4040), 1240, LEVEL_DRAM, MISSED_ALL);
    assert_access(load(memory, 1020, 0x4080), 1340, LEVEL_DRAM, MISSED_ALL);
    assert_int_equal(statistics_of(memory).llc.mshr_waits, 2);
    memory_free(memory);

    machine = small_machine();
    machine.l1i.mshrs = 1;
    memory = new_memory(&machine, 0);
    assert_access(fetch(memory, 1000, 0x4000), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(fetch(memory, 1010, 0x4040), 1280, LEVEL_DRAM, MISSED_ALL); /* 1140 + 140 */
    memory_free(memory);
}

static void splits(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.mshrs = 2;
    struct memory *memory = new_memory(&machine, 0);
    struct memory_result result;
    load(memory, 1000, 0x4000);
    /* Last 4 bytes of a line that is there, first 4 of one that is not. */
    memory_load(memory, 2000, 0x403c, 8, 7, 0, &result);
    assert_access(result, 2140, LEVEL_DRAM, MISSED_ALL | MEMORY_SPLIT);
    assert_int_equal(result.bringer, 7);
    memory_load(memory, 3000, 0x403c, 8, 8, 0, &result);
    assert_access(result, 3004, LEVEL_L1, MEMORY_SPLIT);
    memory_load(memory, 3000, 0x4038, 8, 8, 0, &result); /* ends with the line: no split */
    assert_access(result, 3004, LEVEL_L1, 0);
    /* Both lines missing need two MSHRs: with one taken, nothing happens. */
    load(memory, 4000, 0x4100);
    memory_load(memory, 4001, 0x41fc, 8, 9, 0, &result);
    assert_int_equal(result.retry, 4140);
    assert_access(load(memory, 4002, 0x41c0), 4142, LEVEL_DRAM, MISSED_ALL);
    /* 256 bytes need four: when all are free two start at once, the others as those end. */
    memory_load(memory, 5000, 0x8000, 256, 10, 0, &result);
    assert_access(result, 5280, LEVEL_DRAM, MISSED_ALL | MEMORY_SPLIT);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

static void idealisations(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.dtlb.entries = machine.itlb.entries = 4;
    machine.page_walk = 30;
    struct memory *memory = new_memory(&machine, MEMORY_IDEAL_DATA);
    assert_access(load(memory, 1000, 0x4000), 1004, LEVEL_L1, 0);
    assert_access(store(memory, 1000, 0x403c), 1004, LEVEL_L1, 0);
    assert_access(fetch(memory, 1000, 0x4000), 1170, LEVEL_DRAM, MISSED_ALL | MEMORY_MISSED_TLB);
    memory_free(memory);

    memory = new_memory(&machine, MEMORY_IDEAL_FETCH);
    assert_access(fetch(memory, 1000, 0x4000), 1004, LEVEL_L1, 0);
    assert_access(load(memory, 1000, 0x4000), 1170, LEVEL_DRAM, MISSED_ALL | MEMORY_MISSED_TLB);
    memory_free(memory);

    /* dlong: 30 for the walk, then the LLC's 40; the line is kept at every level. */
    memory = new_memory(&machine, MEMORY_IDEAL_LONG);
    assert_access(load(memory, 1000, 0x4000), 1070, LEVEL_LLC,
                  MEMORY_MISSED_L1 | MEMORY_MISSED_TLB);
    assert_access(load(memory, 2000, 0x4000), 2004, LEVEL_L1, 0);
    assert_access(fetch(memory, 3000, 0x4000), 3042, LEVEL_L2,
                  MEMORY_MISSED_L1 | MEMORY_MISSED_TLB);
    assert_access(fetch(memory, 4000, 0x4040), 4140, LEVEL_DRAM, MISSED_ALL);
    memory_free(memory);
}

static void shapes_that_cannot_be(void **state) {
    (void)state;
    struct error error;
    struct machine machine = small_machine();
    machine.l1d.size = 1000;
    assert_null(memory_new(&machine, 0, &error));
    assert_string_equal(error.message,
                        "l1d.size = 1000: size / (ways * line) must be a power of two");
    machine = small_machine();
    machine.l1d.line = 128;
    machine.l1d.size = 2048;
    assert_null(memory_new(&machine, 0, &error));
    machine = small_machine();
    machine.dram.banked = true; /* without clock, banks ... */
    assert_null(memory_new(&machine, 0, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(latency_of_each_level),
                                       cmocka_unit_test(fetch_and_load_share_the_outer_levels),
                                       cmocka_unit_test(without_outer_levels),
                                       cmocka_unit_test(without_instruction_cache),
                                       cmocka_unit_test(shipped_machines),
                                       cmocka_unit_test(pending_hits),
                                       cmocka_unit_test(free_pending_hits),
                                       cmocka_unit_test(l1d_mshrs_ask_to_retry),
                                       cmocka_unit_test(outer_mshrs_delay),
                                       cmocka_unit_test(splits),
                                       cmocka_unit_test(idealisations),
                                       cmocka_unit_test(shapes_that_cannot_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
