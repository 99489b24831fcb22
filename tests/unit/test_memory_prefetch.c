/* How prefetched lines are used, what their fills count, and what prefetchers ask for that know no
 * lines in a row (those: test_memory_streams.c). */
#include "unit/prefetching.h"

static void next_line_follows_misses(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_NEXT_LINE, 1);
    load(memory, 1000, 0x10000);
    assert_true(has(memory, 0x10040));
    assert_false(has(memory, 0x10080));
    /* Its use is a hit: no further prefetch. */
    struct memory_result result = load(memory, 2000, 0x10040);
    assert_access(result, 2004, LEVEL_L1, MEMORY_PREFETCHED);
    assert_int_equal(result.bringer, 1000);
    assert_access(load(memory, 2001, 0x10040), 2005, LEVEL_L1, 0); /* first use only */
    assert_false(has(memory, 0x10080));
    /* Never into the next page. */
    load(memory, 3000, 0x10fc0);
    assert_false(has(memory, 0x11000));
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.prefetches, 1);
    assert_int_equal(statistics.l1d.useful_prefetches, 1);
    assert_int_equal(statistics.l1d.misses, 2);
    assert_int_equal(statistics.dram_reads, 3);
    /* The levels beyond keep the line as they would a demand's. */
    assert_true(cache_find(&memory->l2, 0x10040) != CACHE_NONE);
    assert_true(cache_find(&memory->llc, 0x10040) != CACHE_NONE);
    memory_free(memory);
}

/* Lines that a miss prefetches are there after warming too, at whatever level; none of it is
 * counted, and their first use is that of a prefetched line. */
static void warming_prefetches(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_NEXT_LINE, 1);
    memory_warm_load(memory, 0x10000, 8, 0, false);
    assert_true(has(memory, 0x10040));
    assert_false(has(memory, 0x10080));
    assert_access(load(memory, 1000, 0x10040), 1004, LEVEL_L1, MEMORY_PREFETCHED);
    memory_warm_load(memory, 0x20fc0, 8, 0, true); /* not into the next page */
    assert_false(has(memory, 0x21000));
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.prefetches, 0);
    assert_int_equal(statistics.dram_reads, 0);
    memory_free(memory);

    struct machine machine = small_machine();
    machine.l2.prefetcher = PREFETCH_NEXT_LINE;
    memory = new_memory(&machine, 0);
    memory_warm_load(memory, 0x10000, 8, 0, false);
    assert_false(has(memory, 0x10040));
    assert_access(load(memory, 1000, 0x10040), 1012, LEVEL_L2,
                  MEMORY_MISSED_L1 | MEMORY_PREFETCHED);
    memory_free(memory);
}

/* Loads of instruction 9 at +0, +256: transient, the next two are fetched. Loads that hit teach as
 * well: of +0, +16, +32 the second is transient, the third steady, and the second step from there
 * is in the next line. */
static void warming_teaches_strides(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_STRIDE, 2);
    struct memory_result result;
    memory_warm_load(memory, 0x10000, 8, 9, false);
    memory_warm_load(memory, 0x10100, 8, 9, true);
    assert_true(has(memory, 0x10200) && has(memory, 0x10300));
    memory_load(memory, 1000, 0x10200, 8, 1, 9, &result);
    assert_access(result, 1004, LEVEL_L1, MEMORY_PREFETCHED);
    assert_true(has(memory, 0x10400));

    memory_warm_load(memory, 0x20000, 8, 7, false);
    memory_warm_load(memory, 0x20010, 8, 7, false);
    assert_false(has(memory, 0x20040));
    memory_warm_load(memory, 0x20020, 8, 7, false);
    assert_true(has(memory, 0x20040));
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.prefetches, 1); /* the one in time */
    memory_free(memory);
}

/* A line is there, with its translation, and nothing was learned: no step from +0 to +256. */
static void warming_by_software_prefetch(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_STRIDE, 1);
    memory_warm_load(memory, 0x10000, 8, 9, false);
    memory_warm_prefetch(memory, 0x10100, 9);
    assert_false(has(memory, 0x10200));
    assert_access(load(memory, 1000, 0x10100), 1004, LEVEL_L1, MEMORY_PREFETCHED);
    memory_free(memory);
}

static void late_prefetch_is_a_pending_hit(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_ON_MISS, 1);
    load(memory, 1000, 0x10fc0);
    struct memory_result result = load(memory, 1020, 0x11000); /* on miss crosses pages */
    assert_access(result, 1140, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT | MEMORY_PREFETCHED);
    assert_int_equal(result.bringer, 1020); /* the first to wait */
    assert_false(has(memory, 0x11040));
    result = load(memory, 1030, 0x11008);
    assert_access(result, 1140, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
    assert_int_equal(result.bringer, 1020);
    memory_free(memory);
}

/* A fill from DRAM takes 140 cycles. Those that the prefetcher adds to a miss are the miss's, used
 * or not; of those that it adds to a hit the first use's, if they are on their way then. */
static void fill_cycles(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.mshrs = 8;
    machine.l1d.prefetcher = PREFETCH_NEXT_LINE;
    struct memory *memory = new_memory(&machine, 0);
    assert_int_equal(load(memory, 1000, 0x10000).fill_cycles, 280);
    assert_int_equal(load(memory, 1020, 0x10040).fill_cycles, 0);
    assert_int_equal(load(memory, 1030, 0x10fc0).fill_cycles, 140); /* none in the next page */
    memory_free(memory);

    machine.l1d.prefetcher = PREFETCH_TAGGED;
    memory = new_memory(&machine, 0);
    assert_int_equal(load(memory, 1000, 0x10000).fill_cycles, 280);
    assert_int_equal(load(memory, 1020, 0x10040).fill_cycles, 0); /* brings 0x10080 until 1160 */
    assert_int_equal(load(memory, 1030, 0x10080).fill_cycles, 140);
    assert_int_equal(load(memory, 1040, 0x10088).fill_cycles, 0);
    assert_int_equal(load(memory, 2000, 0x100c0).fill_cycles, 0); /* it is there */
    memory_free(memory);
}

/* 64 bytes at 6.4 GB/s take 10 ns of the bus, 20 cycles at 2 GHz, so no more than seven fills of
 * 140 cycles are under way. Eight MSHRs, each held for 160, are as much. Ten cycles are less than
 * 140 / 8 and change nothing. */
static void fills_over_the_bus(void **state) {
    (void)state;
    static const struct {
        double bandwidth;
        uint32_t cycles;
    } cases[] = {{6.4, 160}, {12.8, 140}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine machine = small_machine();
        machine.l1d.mshrs = 8;
        machine.dram.bandwidth = cases[i].bandwidth;
        struct memory *memory = new_memory(&machine, 0);
        assert_int_equal(load(memory, 1000, 0x10000).fill_cycles, cases[i].cycles);
        memory_free(memory);
    }
}

/* Eight MSHRs of the L1, held for 140 cycles, and of the LLC, where a miss is known after 40, so
 * many for 100. With six of them: 100 / 6 is less than 140 / 8, of which six make up 105. With
 * four: 100 / 4 is more. A hit in the LLC takes none of its own. */
static void fills_of_two_levels(void **state) {
    (void)state;
    static const uint32_t cases[][2] = {{0, 140}, {8, 140}, {6, 105}, {4, 100}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct machine machine = small_machine();
        machine.l1d.mshrs = 8;
        machine.llc.mshrs = cases[i][0];
        struct memory *memory = new_memory(&machine, 0);
        assert_int_equal(load(memory, 1000, 0x10000).fill_cycles, cases[i][1]);
        for (uint64_t way = 1; way <= 4; way++) /* out of L1 and L2 */
            load(memory, 1000 + 1000 * way, 0x10000 + 0x400 * way);
        assert_int_equal(load(memory, 9000, 0x10000).fill_cycles, 40);
        memory_free(memory);
    }
}

static void tagged_runs_ahead(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_TAGGED, 1);
    load(memory, 1000, 0x10000);
    for (uint64_t line = 1; line < 20; line++) {
        assert_false(has(memory, 0x10000 + 64 * (line + 1)));
        /* First use of a prefetched line brings the next; the second use nothing. */
        assert_access(load(memory, 1000 + 1000 * line, 0x10000 + 64 * line), 1004 + 1000 * line,
                      LEVEL_L1, MEMORY_PREFETCHED);
        load(memory, 1500 + 1000 * line, 0x10000 + 64 * line);
        assert_true(has(memory, 0x10000 + 64 * (line + 1)));
    }
    const struct memory_statistics statistics = statistics_of(memory);
    assert_int_equal(statistics.l1d.misses, 1);
    assert_int_equal(statistics.l1d.prefetches, 20);
    assert_int_equal(statistics.l1d.useful_prefetches, 19);
    memory_free(memory);
}

static void degree_and_mshrs(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_NEXT_LINE, 3);
    load(memory, 1000, 0x10000);
    assert_true(has(memory, 0x10040) && has(memory, 0x10080) && has(memory, 0x100c0));
    assert_false(has(memory, 0x10100));
    memory_free(memory);
    /* Two MSHRs: the miss takes one, the first prefetch the other, the rest are dropped. */
    struct machine machine = small_machine();
    machine.l1d.prefetcher = PREFETCH_NEXT_LINE;
    machine.l1d.prefetch_degree = 3;
    machine.l1d.mshrs = 2;
    memory = new_memory(&machine, 0);
    load(memory, 1000, 0x10000);
    assert_true(has(memory, 0x10040));
    assert_false(has(memory, 0x10080));
    assert_int_equal(load(memory, 1001, 0x10400).retry, 1140);
    memory_free(memory);
}

static void outer_level_has_its_own(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l2.prefetcher = PREFETCH_NEXT_LINE;
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, 0x10000);
    assert_false(has(memory, 0x10040));
    struct memory_result result = load(memory, 2000, 0x10040);
    assert_access(result, 2012, LEVEL_L2, MEMORY_MISSED_L1 | MEMORY_PREFETCHED);
    assert_int_equal(result.bringer, 1000);
    assert_int_equal(statistics_of(memory).l2.useful_prefetches, 1);
    memory_free(memory);
}

/* The step of an access by an instruction, within the L1. */
static int64_t step_of(struct prefetcher *prefetcher, uint64_t address, uint32_t insn) {
    const struct prefetch_trigger trigger = {.address = address, .line_bytes = 64, .insn = insn};
    return prefetch_step(prefetcher, &trigger);
}

/* Baer and Chen's states, one instruction; each row: address, then the step asked for and the
 * state after it. */
static void stride_state_machine(void **state) {
    (void)state;
    static const struct {
        uint64_t address;
        int64_t step;
        enum stride_state state;
    } rows[] = {
        {1000, 0, STRIDE_INITIAL},       /* new entry, stride 0 */
        {1100, 100, STRIDE_TRANSIENT},   /* not 1000 + 0: stride 100 */
        {1200, 100, STRIDE_STEADY},      /* right */
        {1300, 100, STRIDE_STEADY},      /* right */
        {5000, 100, STRIDE_INITIAL},     /* wrong once: stride kept */
        {5100, 100, STRIDE_STEADY},      /* right again */
        {9000, 100, STRIDE_INITIAL},     /* wrong */
        {9200, 200, STRIDE_TRANSIENT},   /* wrong: stride 200 */
        {9000, 0, STRIDE_NO_PREDICTION}, /* wrong: stride -200 */
        {8900, 0, STRIDE_NO_PREDICTION}, /* wrong: stride -100 */
        {8800, -100, STRIDE_TRANSIENT},  /* right */
        {8700, -100, STRIDE_STEADY},     /* right */
    };
    struct prefetcher prefetcher;
    prefetcher_init(&prefetcher, PREFETCH_STRIDE, 1, 0);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(step_of(&prefetcher, rows[i].address, 5), rows[i].step);
        assert_int_equal(prefetcher.stride[5][0].state, rows[i].state);
    }
}

/* With a start of 3, the third equal stride is the first that asks; one that is wrong begins anew,
 * and where its stride is kept the next right one is the first again. */
static void stride_starts_late(void **state) {
    (void)state;
    static const struct {
        uint64_t address;
        int64_t step;
    } rows[] = {{1000, 0}, {1100, 0},   {1200, 0}, {1300, 100}, {1400, 100}, {9000, 0}, {9100, 0},
                {9200, 0}, {9300, 100}, {500, 0},  {560, 0},    {620, 0},    {680, 60}, {740, 60}};
    struct prefetcher prefetcher;
    prefetcher_init(&prefetcher, PREFETCH_STRIDE, 1, 3);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(step_of(&prefetcher, rows[i].address, 5), rows[i].step);
}

static void stride_table_is_four_way_lru(void **state) {
    (void)state;
    struct prefetcher prefetcher;
    prefetcher_init(&prefetcher, PREFETCH_STRIDE, 1, 0);
    /* Instructions 0, 32, 64, 96, 128 share set 0. Train the first four to a stride of 64. */
    for (uint64_t round = 0; round < 3; round++)
        for (uint32_t insn = 0; insn < 128; insn += 32)
            step_of(&prefetcher, 64 * round, insn);
    step_of(&prefetcher, 0, 128); /* replaces instruction 0 */
    assert_int_equal(step_of(&prefetcher, 192, 32), 64);
    assert_int_equal(step_of(&prefetcher, 192, 0), 0);
}

static void stride_prefetches(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_STRIDE, 2);
    struct memory_result result;
    memory_load(memory, 1000, 0x10000, 8, 1, 9, &result);
    assert_false(has(memory, 0x10100));
    memory_load(memory, 2000, 0x10100, 8, 2, 9, &result); /* stride 256: +1, +2 */
    assert_true(has(memory, 0x10200) && has(memory, 0x10300));
    memory_load(memory, 3000, 0x10200, 8, 3, 9, &result);
    assert_access(result, 3004, LEVEL_L1, MEMORY_PREFETCHED);
    assert_int_equal(result.bringer, 2);
    assert_true(has(memory, 0x10400));
    /* Within the page only. */
    memory_load(memory, 4000, 0x10300, 8, 4, 9, &result);
    for (uint64_t a = 0x10400; a <= 0x10f00; a += 256)
        memory_load(memory, 1000 + a, a, 8, a, 9, &result);
    assert_true(has(memory, 0x10f00));
    assert_false(has(memory, 0x11000));
    memory_free(memory);
}

static void software_prefetch(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.mshrs = 1;
    machine.dtlb.entries = 4;
    machine.page_walk = 50;
    struct memory *memory = new_memory(&machine, 0);
    memory_prefetch(memory, 1000, 0x10000, 77, 0); /* walk 50, then 140: 1190 */
    memory_prefetch(memory, 1001, 0x10040, 78, 0); /* no MSHR: dropped */
    struct memory_result result = load(memory, 1100, 0x10000);
    assert_access(result, 1190, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT | MEMORY_PREFETCHED);
    assert_int_equal(result.bringer, 77);
    assert_int_equal(result.fill_cycles, 140);
    assert_false(has(memory, 0x10040));
    memory_free(memory);
}

/* Lines apart from each other fetch nothing. Of pairs each second line counts two upwards and the
 * first of the next takes one back: 2, 1, 3, 2, 4 ... and 8 is reached at the seventh pair. Then
 * the first line of the next fetches its second; as many pairs downwards turn it. */
static void up_down_follows_what_was_of_use(void **state) {
    (void)state;
    struct prefetcher prefetcher;
    struct prefetch_trigger trigger = {.line_bytes = 64, .insn = NO_INSN, .missed = true};
    prefetcher_init(&prefetcher, PREFETCH_UP_DOWN, 1, 0);
    for (uint64_t i = 0; i < 100; i++) {
        trigger.address = 0x100000 + i * 5 * 64;
        assert_int_equal(prefetch_step(&prefetcher, &trigger), 0);
    }
    for (uint64_t i = 0; i < 9; i++) {
        trigger.address = 0x200000 + i * 5 * 64;
        assert_int_equal(prefetch_step(&prefetcher, &trigger), i < 8 ? 0 : 64);
        trigger.address += 64;
        assert_int_equal(prefetch_step(&prefetcher, &trigger), i < 6 ? 0 : 64);
    }
    int64_t step = 0;
    for (uint64_t i = 0; i < 20; i++) {
        trigger.address = 0x300040 + i * 5 * 64;
        step = prefetch_step(&prefetcher, &trigger);
        trigger.address -= 64;
        prefetch_step(&prefetcher, &trigger);
    }
    assert_int_equal(step, -64);
    /* Lines that are there already tell nothing, unless they were fetched for this. */
    trigger = (struct prefetch_trigger){.address = 0x400000, .line_bytes = 64, .insn = NO_INSN};
    assert_int_equal(prefetch_step(&prefetcher, &trigger), 0);
    trigger.first_use = true;
    assert_int_equal(prefetch_step(&prefetcher, &trigger), -64);
}

/* On a miss, the other line of the aligned pair; not on the use of what was fetched. */
static void adjacent_completes_a_pair(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_ADJACENT, 1);
    load(memory, 1000, 0x10040);
    assert_true(has(memory, 0x10000));
    assert_false(has(memory, 0x10080));
    assert_access(load(memory, 2000, 0x10000), 2004, LEVEL_L1, MEMORY_PREFETCHED);
    load(memory, 3000, 0x20080);
    assert_true(has(memory, 0x200c0));
    assert_false(has(memory, 0x20040) || has(memory, 0x20100));
    assert_int_equal(statistics_of(memory).l1d.prefetches, 2);
    memory_free(memory);
}

/* Two prefetchers of one cache see the same accesses. The third line up is the stream's second step
 * (three lines ahead: 0x100c0 and on), and completes its pair (0x100c0 as well: fetched once). */
static void two_prefetchers(void **state) {
    (void)state;
    struct machine machine = small_machine();
    machine.l1d.size = 8192;
    machine.l1d.prefetcher = PREFETCH_ADJACENT;
    machine.l1d.second_prefetcher = PREFETCH_STREAM;
    machine.l1d.second_degree = 3;
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, 0x10000);
    assert_true(has(memory, 0x10040));
    load(memory, 2000, 0x10040);
    assert_false(has(memory, 0x10080));
    load(memory, 3000, 0x10080);
    assert_true(has(memory, 0x100c0) && has(memory, 0x10100) && has(memory, 0x10140));
    assert_false(has(memory, 0x10180));
    assert_int_equal(statistics_of(memory).l1d.prefetches, 4);
    assert_int_equal(statistics_of(memory).dram_reads, 6);
    memory_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(next_line_follows_misses),
                                       cmocka_unit_test(late_prefetch_is_a_pending_hit),
                                       cmocka_unit_test(fill_cycles),
                                       cmocka_unit_test(fills_of_two_levels),
                                       cmocka_unit_test(fills_over_the_bus),
                                       cmocka_unit_test(tagged_runs_ahead),
                                       cmocka_unit_test(degree_and_mshrs),
                                       cmocka_unit_test(outer_level_has_its_own),
                                       cmocka_unit_test(stride_state_machine),
                                       cmocka_unit_test(stride_starts_late),
                                       cmocka_unit_test(stride_table_is_four_way_lru),
                                       cmocka_unit_test(stride_prefetches),
                                       cmocka_unit_test(software_prefetch),
                                       cmocka_unit_test(up_down_follows_what_was_of_use),
                                       cmocka_unit_test(adjacent_completes_a_pair),
                                       cmocka_unit_test(two_prefetchers),
                                       cmocka_unit_test(warming_prefetches),
                                       cmocka_unit_test(warming_teaches_strides),
                                       cmocka_unit_test(warming_by_software_prefetch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
