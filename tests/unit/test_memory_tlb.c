/* Translation: first and second level, walks and their merging, LRU. */
#include "memory/tlb.h"
#include "unit/memory_machine.h"

enum { MISSED_BOTH = MISSED_ALL | MEMORY_MISSED_TLB };

/* L1D of 8 ways, so that no line is evicted here. DTLB and ITLB of 2 entries, second level of 4
 * direct-mapped entries at 7 cycles, walks of 50. */
static struct machine tlb_machine(void) {
    struct machine machine = small_machine();
    machine.l1d.size = 4096;
    machine.l1d.ways = 8;
    machine.itlb.entries = machine.dtlb.entries = 2;
    machine.l2tlb = (struct machine_tlb){.entries = 4, .ways = 1, .latency = 7};
    machine.page_walk = 50;
    return machine;
}

static void walks_and_second_level_hits(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    struct memory *memory = new_memory(&machine, 0);
    struct memory_result result = load(memory, 1000, 0x1000);
    assert_access(result, 1000 + 57 + 140, LEVEL_DRAM, MISSED_BOTH); /* 7 + 50, then DRAM */
    assert_int_equal(result.tlb_cycles, 57);
    assert_access(load(memory, 2000, 0x1000), 2004, LEVEL_L1, 0);
    load(memory, 3000, 0x2000);
    load(memory, 4000, 0x3000); /* page 1 leaves the DTLB, not the second level */
    result = load(memory, 5000, 0x1000);
    assert_access(result, 5000 + 7 + 4, LEVEL_L1, MEMORY_MISSED_TLB);
    assert_int_equal(result.tlb_cycles, 7);
    /* Page 2 was least recent in the DTLB and gone; page 3 stayed. */
    assert_access(load(memory, 6000, 0x3000), 6004, LEVEL_L1, 0);
    assert_access(load(memory, 7000, 0x2000), 7011, LEVEL_L1, MEMORY_MISSED_TLB);
    /* Page 5 takes page 1's entry in the second level (direct-mapped, 4 entries). */
    load(memory, 8000, 0x5000);
    load(memory, 9000, 0x6000);
    assert_int_equal(load(memory, 10000, 0x1000).tlb_cycles, 57);
    /* The second level is shared: the page of a load costs a fetch 7 cycles. */
    assert_int_equal(fetch(memory, 11000, 0x1000).tlb_cycles, 7);
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.dtlb_accesses, 10);
    assert_int_equal(statistics.dtlb_misses, 8);
    assert_int_equal(statistics.itlb_misses, 1);
    assert_int_equal(statistics.page_walks, 6); /* pages 1 2 3 5 6 1 */
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

static void walks_of_a_page_merge(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, 0x1000); /* walk until 1057, line until 1197 */
    struct memory_result result = load(memory, 1010, 0x1040);
    assert_access(result, 1057 + 140, LEVEL_DRAM, MISSED_BOTH);
    assert_int_equal(result.tlb_cycles, 47);
    /* A fetch finds the walk under way in the second level. */
    result = fetch(memory, 1020, 0x1080);
    assert_int_equal(result.tlb_cycles, 37);
    assert_int_equal(load(memory, 1057, 0x10c0).tlb_cycles, 0);
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.page_walks, 1);
    assert_int_equal(statistics.dtlb_wait_cycles, 57 + 47);
    assert_int_equal(statistics.dtlb_misses, 1);
    memory_free(memory);
}

/* Translation alone, as stores do before they commit; their data access then finds the walk. */
static void translation_alone(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    struct memory *memory = new_memory(&machine, 0);
    struct memory_result result;
    memory_translate(memory, 1000, 0x1000, &result);
    assert_access(result, 1057, LEVEL_L1, MEMORY_MISSED_TLB);
    assert_int_equal(result.tlb_cycles, 57);
    memory_translate(memory, 1050, 0x1040, &result);
    assert_access(result, 1057, LEVEL_L1, MEMORY_MISSED_TLB);
    memory_translate(memory, 1057, 0x1040, &result);
    assert_access(result, 1057, LEVEL_L1, 0);
    assert_access(store(memory, 1060, 0x1000), 1200, LEVEL_DRAM, MISSED_ALL);
    memory_free(memory);
}

static void second_level_absent_or_perfect(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    machine.l2tlb = (struct machine_tlb){0}; /* none: every miss walks */
    struct memory *memory = new_memory(&machine, 0);
    assert_int_equal(load(memory, 1000, 0x1000).tlb_cycles, 50);
    memory_free(memory);
    machine.l2tlb.latency = 30; /* perfect: every miss hits there */
    memory = new_memory(&machine, 0);
    assert_int_equal(load(memory, 1000, 0x1000).tlb_cycles, 30);
    assert_int_equal(statistics_of(memory).page_walks, 0);
    memory_free(memory);
}

static void split_over_two_pages(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, 0x1fc0);
    struct memory_result result = load(memory, 2000, 0x1ffc);
    assert_access(result, 2000 + 57 + 140, LEVEL_DRAM, MISSED_BOTH | MEMORY_SPLIT);
    assert_int_equal(result.tlb_cycles, 57);
    memory_free(memory);
}

/* A refused load starts no walk: when it comes again it walks. */
static void retry_leaves_the_tlb_alone(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    machine.l1d.mshrs = 1;
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, 0x1000);
    assert_int_equal(load(memory, 1100, 0x2000).retry, 1197);
    assert_int_equal(load(memory, 1197, 0x2000).tlb_cycles, 57);
    memory_free(memory);
}

/* Random pages against a list kept in order of use. */
static void lru_of_many_entries(void **state) {
    (void)state;
    enum { ENTRIES = 48 };
    struct machine_tlb shape = {.entries = ENTRIES};
    struct tlb tlb = {0};
    struct error error;
    assert_true(tlb_new(&tlb, &shape, 4096, "dtlb", &error));
    uint64_t order[ENTRIES] = {0}, seed = 3;
    for (int i = 0; i < 100000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t page = 1 + (seed >> 40) % 70 * ((seed >> 33) % 3 + 1);
        int place = 0;
        while (place < ENTRIES - 1 && order[place] != page)
            place++;
        const bool expected = order[place] == page;
        assert_int_equal(tlb_use(&tlb, page << 12) != TLB_NONE, expected);
        if (!expected)
            tlb_insert(&tlb, page << 12, 0, 0);
        for (; place > 0; place--)
            order[place] = order[place - 1];
        order[0] = page;
    }
    assert_true(tlb_consistent(&tlb));
    tlb_free(&tlb);
}

/* As tlb_machine(), but walks of 10 cycles read tables through the L2, one at a time, and the
 * page-directory cache has one entry. */
static struct machine walking_machine(void) {
    struct machine machine = tlb_machine();
    machine.page_walk = 10;
    machine.walk_level = 2;
    machine.directory_entries = 1;
    machine.walkers = 1;
    return machine;
}

enum { PAGE_TABLE_SET = 0x80 }; /* data is read here in its page: other sets than the tables' */
static uint32_t walk_of(struct memory *memory, uint64_t cycle, uint64_t page) {
    return load(memory, cycle, page * 4096 + PAGE_TABLE_SET).tlb_cycles;
}

/* Each walk asked for at c begins when the second level has missed, at c + 7, and reads from c + 17
 * on. An entry comes from the L2 in 12 cycles, from DRAM in 140. */
static void walks_read_tables(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    machine.l2.prefetcher = PREFETCH_NEXT_LINE;
    struct memory *memory = new_memory(&machine, 0);
    /* Directory and table from DRAM: 17 + 140 + 140. */
    assert_int_equal(walk_of(memory, 1000, 1), 297);
    /* The directory is known, pages 0 to 7 share a line of the table: 17 + 12. */
    assert_int_equal(walk_of(memory, 2000, 2), 29);
    /* The next line of the table, which the prefetcher did not fetch: it sees no walks. */
    assert_int_equal(walk_of(memory, 3000, 8), 157);
    /* Another table: its directory entry is beside the first, 17 + 12 + 140. */
    assert_int_equal(walk_of(memory, 4000, 512), 169);
    /* Back: the directory cache has one entry, 17 + 12 + 140; the line of pages 16 to 23. */
    assert_int_equal(walk_of(memory, 5000, 16), 169);
    assert_int_equal(statistics_of(memory).page_walks, 5);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* A host's tables are read behind the program's own: its directory, then the entry of the frame.
 * Frames of neighbouring pages are far apart. */
static void walks_read_tables_of_a_host(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    machine.host_tables = true;
    struct memory *memory = new_memory(&machine, 0);
    /* Four reads of DRAM: 17 + 4 x 140. */
    assert_int_equal(walk_of(memory, 1000, 1), 577);
    /* The program's directory is known and its table is in the L2, the host's two are not. */
    assert_int_equal(walk_of(memory, 2000, 2), 17 + 12 + 140 + 140);
    assert_int_equal(walk_of(memory, 3000, 5), 17 + 12 + 140 + 140);
    /* Page 5 took the place of page 1 in the TLBs, and page 2 that of its host's directory: both
     * are read again, from the L2, like the entry of the frame. */
    assert_int_equal(walk_of(memory, 4000, 1), 17 + 12 + 12 + 12);
    assert_int_equal(statistics_of(memory).page_walks, 4);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* The frame of a large page is one: the host's entries for its parts are neighbours. */
static void host_entries_of_a_large_page(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    machine.host_tables = true;
    const uint64_t page = machine.page_size = 2 << 20;
    machine.dtlb = (struct machine_tlb){.entries = 1, .ways = 1};
    machine.l2tlb = (struct machine_tlb){0};
    struct memory *memory = new_memory(&machine, 0);
    assert_int_equal(load(memory, 1000, page + PAGE_TABLE_SET).tlb_cycles, 10 + 4 * 140);
    /* Another page takes the entry of the TLB and of both directory caches. */
    load(memory, 2000, page * 600 + PAGE_TABLE_SET);
    /* All of the first page's entries are read from the L2, those of a part of it 4 KiB on too. */
    assert_int_equal(load(memory, 3000, page + 4096 + PAGE_TABLE_SET).tlb_cycles, 10 + 4 * 12);
    /* The next part has no entry in the TLB, but both directories are known. */
    assert_int_equal(load(memory, 4000, page + 8192 + PAGE_TABLE_SET).tlb_cycles, 10 + 2 * 12);
    memory_free(memory);
}

/* A second walk waits for the first, and reads from there on. */
static void walks_wait_for_a_walker(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    struct memory *memory = new_memory(&machine, 0);
    assert_int_equal(walk_of(memory, 1000, 1), 297); /* from 1007 to 1297 */
    assert_int_equal(walk_of(memory, 2000, 8), 157); /* from 2007 to 2157 */
    /* Begins at 2157 and ends at 2157 + 10 + 140. */
    assert_int_equal(walk_of(memory, 2010, 16), 2307 - 2010);
    memory_free(memory);
    machine.walkers = 2;
    memory = new_memory(&machine, 0);
    assert_int_equal(walk_of(memory, 1000, 1), 297);
    assert_int_equal(walk_of(memory, 2000, 8), 157);
    assert_int_equal(walk_of(memory, 2010, 16), 157);
    memory_free(memory);
}

/* From one walk's beginning to the next one's are 20 cycles at least. */
static void walks_begin_one_after_the_other(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    machine.walk_interval = 20;
    struct memory *memory = new_memory(&machine, 0);
    assert_int_equal(walk_of(memory, 1000, 1), 57); /* from 1007 to 1057 */
    /* Asked for at 1012, begins at 1027; then at 1047. One that comes later does not wait. */
    assert_int_equal(walk_of(memory, 1005, 2), 1027 + 50 - 1005);
    assert_int_equal(walk_of(memory, 1006, 3), 1047 + 50 - 1006);
    assert_int_equal(walk_of(memory, 1060, 4), 57);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* As many as there are walkers begin at once, others after that so often as the interval says: two
 * walkers of 50 cycles each, and a walk each 30. */
static void walkers_begin_at_once(void **state) {
    (void)state;
    struct machine machine = tlb_machine();
    machine.walkers = 2;
    machine.walk_interval = 30;
    struct memory *memory = new_memory(&machine, 0);
    assert_int_equal(walk_of(memory, 1000, 1), 1007 + 50 - 1000);
    assert_int_equal(walk_of(memory, 1001, 2), 1008 + 50 - 1001);
    /* Waits for the first walker; the fourth for its turn, 1097, of which it may be 30 ahead. */
    assert_int_equal(walk_of(memory, 1002, 3), 1057 + 50 - 1002);
    assert_int_equal(walk_of(memory, 1003, 4), 1067 + 50 - 1003);
    /* The next turn would be 1127; later on two begin at once again. */
    assert_int_equal(walk_of(memory, 1200, 5), 57);
    assert_int_equal(walk_of(memory, 1200, 6), 57);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* In program order, a younger access may come first: the walk is then its own, that much earlier,
 * however long it takes. */
static void younger_access_walks_earlier(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    struct memory *memory = new_memory(&machine, 0);
    memory_in_program_order(memory);
    assert_int_equal(walk_of(memory, 2000, 1), 297);
    assert_int_equal(walk_of(memory, 1500, 1), 297);
    assert_int_equal(walk_of(memory, 1600, 1), 197);
    memory_free(memory);
}

/* Warming reads tables too: the page's entry is in the L2 afterwards. Through the L1D: 17 + 4. */
static void warming_reads_tables(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    struct memory *memory = new_memory(&machine, 0);
    memory_warm_load(memory, 0x1080, 8, 0, false);
    assert_int_equal(walk_of(memory, 1000, 2), 29);
    assert_int_equal(statistics_of(memory).page_walks, 1);
    memory_free(memory);
    machine.walk_level = 1;
    memory = new_memory(&machine, 0);
    memory_warm_load(memory, 0x1080, 8, 0, false);
    assert_int_equal(walk_of(memory, 1000, 2), 21);
    memory_free(memory);
}

/* Of pages that the kernel has made, here 1 and 2, all tables are in the L2: a walk is left to do,
 * and counts. With a host, the frames' entries too. */
static void tables_of_new_pages(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    struct memory *memory = new_memory(&machine, 0);
    memory_warm_tables(memory, 0x1080, 4096);
    assert_int_equal(walk_of(memory, 1000, 2), 29);
    assert_int_equal(statistics_of(memory).page_walks, 1);
    memory_free(memory);
    machine.host_tables = true;
    memory = new_memory(&machine, 0);
    memory_warm_tables(memory, 0x1080, 4096);
    assert_int_equal(walk_of(memory, 1000, 1), 17 + 12 + 12 + 12);
    assert_int_equal(walk_of(memory, 2000, 2), 17 + 12 + 12 + 12);
    memory_free(memory);
    machine.walk_level = 0;
    machine.host_tables = false;
    memory = new_memory(&machine, 0);
    memory_warm_tables(memory, 0x1080, 4096); /* there is nothing to read */
    assert_int_equal(walk_of(memory, 1000, 1), 17);
    memory_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(walks_and_second_level_hits),
                                       cmocka_unit_test(walks_of_a_page_merge),
                                       cmocka_unit_test(translation_alone),
                                       cmocka_unit_test(second_level_absent_or_perfect),
                                       cmocka_unit_test(split_over_two_pages),
                                       cmocka_unit_test(retry_leaves_the_tlb_alone),
                                       cmocka_unit_test(lru_of_many_entries),
                                       cmocka_unit_test(walks_read_tables),
                                       cmocka_unit_test(walks_read_tables_of_a_host),
                                       cmocka_unit_test(host_entries_of_a_large_page),
                                       cmocka_unit_test(walks_wait_for_a_walker),
                                       cmocka_unit_test(walks_begin_one_after_the_other),
                                       cmocka_unit_test(walkers_begin_at_once),
                                       cmocka_unit_test(younger_access_walks_earlier),
                                       cmocka_unit_test(warming_reads_tables),
                                       cmocka_unit_test(tables_of_new_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
