/* Each prefetcher's sequence of lines, and how prefetched lines are used. */
#include "memory/hierarchy.h"
#include "unit/memory_machine.h"

static struct memory *prefetching(enum prefetcher_kind kind, uint32_t degree) {
    struct machine machine = small_machine();
    machine.l1d.size = 8192; /* 64 sets: nothing is evicted here */
    machine.l1d.prefetcher = kind;
    machine.l1d.prefetch_degree = degree;
    return new_memory(&machine, 0);
}

static bool has(const struct memory *memory, uint64_t address) {
    return cache_find(&memory->l1d, address) != CACHE_NONE;
}

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

/* Baer and Chen's states, one instruction; each row: address, then the step asked for and the
 * state after it. */
/* The step of an access by an instruction, within the L1. */
static int64_t step_of(struct prefetcher *prefetcher, uint64_t address, uint32_t insn) {
    const struct prefetch_trigger trigger = {.address = address, .line_bytes = 64, .insn = insn};
    return prefetch_step(prefetcher, &trigger);
}

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

/* Likewise steps of a stream: lines 0 to 3 make three, and line 4 is fetched. */
static void streams_start_late(void **state) {
    (void)state;
    static const enum prefetcher_kind KINDS[] = {PREFETCH_STREAM, PREFETCH_STREAMER};
    for (unsigned kind = 0; kind < 2; kind++) {
        struct prefetcher prefetcher;
        struct prefetch_trigger trigger = {.line_bytes = 64, .insn = NO_INSN, .missed = true};
        prefetcher_init(&prefetcher, KINDS[kind], 1, 3);
        for (unsigned line = 0; line < 5; line++) {
            trigger.address = 0x10000 + line * 64;
            assert_int_equal(prefetch_step(&prefetcher, &trigger), line < 3 ? 0 : 64);
        }
    }
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

/* Lines 0 and 1 of a region make one step, line 2 the second: then lines 3 and 4 are fetched. The
 * use of line 3 fetches line 5. Reads that go down turn the stream, and need two steps again. */
static void stream_runs_ahead(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_STREAM, 2);
    load(memory, 1000, 0x10000);
    load(memory, 2000, 0x10040);
    load(memory, 2500, 0x10048); /* the same line: no step */
    assert_false(has(memory, 0x10080));
    load(memory, 3000, 0x10080);
    assert_true(has(memory, 0x100c0) && has(memory, 0x10100));
    assert_false(has(memory, 0x10140));
    assert_access(load(memory, 4000, 0x100c0), 4004, LEVEL_L1, MEMORY_PREFETCHED);
    assert_true(has(memory, 0x10140));
    /* In another region, down: 0x20fc0 begins, 0x20f40 steps, 0x20e00 steps. */
    load(memory, 5000, 0x20fc0);
    load(memory, 6000, 0x20f40);
    assert_false(has(memory, 0x20f00));
    load(memory, 7000, 0x20e00);
    assert_true(has(memory, 0x20dc0) && has(memory, 0x20d80));
    /* The first region's is still known; upwards at its end, not into the next region. */
    load(memory, 8000, 0x10fc0);
    assert_false(has(memory, 0x11000));
    /* It turns: one step down is not enough. */
    load(memory, 9000, 0x10f00);
    assert_false(has(memory, 0x10ec0));
    load(memory, 10000, 0x10e80);
    assert_true(has(memory, 0x10e40));
    memory_free(memory);
}

/* A step over a line begins a line stream anew; a stream goes on. */
static void line_streams_leave_no_line_out(void **state) {
    (void)state;
    static const uint64_t LINES[] = {0, 1, 2, 3, 5, 6, 7, 6, 5};
    static const int64_t STREAM[] = {0, 0, 64, 64, 64, 64, 64, 0, -64};
    static const int64_t LINE_STREAM[] = {0, 0, 64, 64, 0, 0, 64, 0, -64};
    struct prefetcher stream, lines;
    struct prefetch_trigger trigger = {.line_bytes = 64, .insn = NO_INSN, .missed = true};
    prefetcher_init(&stream, PREFETCH_STREAM, 1, 0);
    prefetcher_init(&lines, PREFETCH_LINE_STREAM, 1, 0);
    for (unsigned i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        trigger.address = 0x10000 + LINES[i] * 64;
        assert_int_equal(prefetch_step(&stream, &trigger), STREAM[i]);
        assert_int_equal(prefetch_step(&lines, &trigger), LINE_STREAM[i]);
    }
}

/* A long stream is known in the region that it comes to, up and down; a line stream begins
 * anew there, as a long one does that comes to another line, or from another one. */
static void long_streams_go_on(void **state) {
    (void)state;
    static const int64_t LINES[] = {61, 62, 63, 64, 65, 66, 65, 64, 63, 62, 126, 127, 129};
    static const int64_t LONG[] = {0, 0, 64, 64, 64, 64, 0, -64, -64, -64, 0, 0, 0};
    static const int64_t LINE_STREAM[] = {0, 0, 64, 0, 0, 64, 0, -64, 0, 0, 0, 0, 0};
    struct prefetcher longs, lines;
    struct prefetch_trigger trigger = {.line_bytes = 64, .insn = NO_INSN, .missed = true};
    prefetcher_init(&longs, PREFETCH_LONG_STREAM, 1, 0);
    prefetcher_init(&lines, PREFETCH_LINE_STREAM, 1, 0);
    for (unsigned i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        trigger.address = (uint64_t)(0x10000 + LINES[i] * 64);
        assert_int_equal(prefetch_step(&longs, &trigger), LONG[i]);
        assert_int_equal(prefetch_step(&lines, &trigger), LINE_STREAM[i]);
    }
}

/* Walks of 50 cycles. */
static struct machine walking_machine(void) {
    struct machine machine = small_machine();
    machine.itlb = machine.dtlb = (struct machine_tlb){.entries = 64};
    machine.page_walk = 50;
    return machine;
}

/* The last but one of a page, and the two lines before. */
static void read_in_a_row(struct memory *memory,
                          struct memory_result (*read)(struct memory *, uint64_t, uint64_t)) {
    for (uint64_t line = 60; line < 63; line++)
        read(memory, line * 1000, 0x10000 + line * 64);
}

/* Behind lines 60 to 62, four lines ahead are 63 and the next page's first
 * three. These are asked for when its translation is there, and come 140 cycles later; the program
 * waits for no walk then. */
static void long_streams_translate(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    machine.l1d.size = 8192;
    machine.l1d.mshrs = 8;
    machine.l1d.prefetcher = PREFETCH_LONG_STREAM;
    machine.l1d.prefetch_degree = 4;
    struct memory *memory = new_memory(&machine, 0);
    read_in_a_row(memory, load);
    assert_true(has(memory, 0x11080));
    assert_false(has(memory, 0x110c0));
    assert_int_equal(statistics_of(memory).page_walks, 2);
    assert_int_equal(statistics_of(memory).dtlb_misses, 1);
    assert_access(load(memory, 62100, 0x11000), 62000 + 50 + 140, LEVEL_DRAM,
                  MISSED_ALL | MEMORY_PENDING_HIT | MEMORY_PREFETCHED);
    memory_free(memory);
}

/* As an L2's: behind lines 60 to 62 the four ahead are there, and the next page has its
 * translation, whose walk the program does not wait for. Line 64 has missed the L1 alone. */
static void long_streams_of_the_l2_translate(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    machine.l2.prefetcher = PREFETCH_LONG_STREAM;
    machine.l2.prefetch_degree = 4;
    struct memory *memory = new_memory(&machine, 0);
    read_in_a_row(memory, load);
    for (uint64_t line = 63; line < 68; line++)
        assert_int_equal(cache_find(&memory->l2, 0x10000 + line * 64) != CACHE_NONE, line < 67);
    assert_int_equal(statistics_of(memory).page_walks, 2);
    assert_int_equal(statistics_of(memory).dtlb_misses, 1);
    assert_access(load(memory, 70000, 0x11000), 70012, LEVEL_L2,
                  MEMORY_MISSED_L1 | MEMORY_PREFETCHED);
    memory_free(memory);
}

/* It sees loads and stores: code is translated by another TLB. */
static void long_streams_of_the_l2_are_of_data(void **state) {
    (void)state;
    struct machine machine = walking_machine();
    machine.l2.prefetcher = PREFETCH_LONG_STREAM;
    machine.l2.prefetch_degree = 4;
    struct memory *memory = new_memory(&machine, 0);
    read_in_a_row(memory, fetch);
    assert_int_equal(statistics_of(memory).l2.accesses, 3);
    assert_int_equal(statistics_of(memory).l2.prefetches, 0);
    assert_int_equal(statistics_of(memory).page_walks, 1);
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

/* 32 regions are known; the 33rd takes the place of the one read least recently. */
static void streams_are_few(void **state) {
    (void)state;
    struct prefetcher prefetcher;
    struct prefetch_trigger trigger = {.line_bytes = 64, .insn = NO_INSN, .missed = true};
    prefetcher_init(&prefetcher, PREFETCH_STREAM, 1, 0);
    for (unsigned line = 0; line < 2; line++)
        for (uint64_t region = 0; region < 33; region++) {
            trigger.address = region * STREAM_BYTES + line * 64;
            assert_int_equal(prefetch_step(&prefetcher, &trigger), 0);
        }
    /* In turn, each had gone when it was read again: line 1 began it. Of the last 32, line 2 is the
     * first step and line 3 the second. */
    for (uint64_t region = 1; region < 33; region++) {
        trigger.address = region * STREAM_BYTES + 128;
        assert_int_equal(prefetch_step(&prefetcher, &trigger), 0);
        trigger.address += 64;
        assert_int_equal(prefetch_step(&prefetcher, &trigger), 64);
    }
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

/* The tenth line of a sequence asks for three more, each one after it for three beyond those:
 * behind line 9 come lines 10 to 12, behind line 10 those up to 15. Of lines in every second place
 * as well: 16 to 21 behind line 18. At most eight are ahead here. */
static void streamer_runs_farther_ahead(void **state) {
    (void)state;
    struct memory *memory = prefetching(PREFETCH_STREAMER, 8);
    uint64_t cycle = 1000;
    for (uint64_t line = 0; line < 9; line++)
        load(memory, cycle += 1000, 0x10000 + line * 64);
    assert_int_equal(statistics_of(memory).l1d.prefetches, 0);
    const uint64_t farthest[] = {12, 15, 18, 20, 21};
    for (uint64_t line = 9; line < 14; line++) {
        load(memory, cycle += 1000, 0x10000 + line * 64);
        assert_true(has(memory, 0x10000 + farthest[line - 9] * 64));
        assert_false(has(memory, 0x10000 + (farthest[line - 9] + 1) * 64));
    }
    for (uint64_t line = 0; line < 18; line += 2)
        load(memory, cycle += 1000, 0x20000 + line * 64);
    assert_false(has(memory, 0x20000 + 17 * 64));
    load(memory, cycle + 1000, 0x20000 + 18 * 64);
    assert_true(has(memory, 0x20000 + 21 * 64));
    assert_false(has(memory, 0x20000 + 22 * 64));
    memory_free(memory);
}

/* With walks of 50 cycles. */
static struct memory *going_to_next_pages(void) {
    struct machine machine = small_machine();
    machine.l1d.size = 8192;
    machine.l1d.third_prefetcher = PREFETCH_NEXT_PAGE;
    machine.dtlb = (struct machine_tlb){.entries = 64};
    machine.page_walk = 50;
    return new_memory(&machine, 0);
}

/* Eight lines in a direction, each farther on, of which the last is among the last ten of the page:
 * then the next page's first line is fetched, once, with its translation. Hits count. */
static void next_page_at_the_end_of_a_page(void **state) {
    (void)state;
    struct memory *memory = going_to_next_pages();
    uint64_t cycle = 1000;
    /* Lines 40 to 53 are more than eight, but too far from the end. */
    for (uint64_t line = 40; line < 54; line++)
        load(memory, cycle += 1000, 0x10000 + line * 64);
    assert_false(has(memory, 0x11000));
    load(memory, cycle += 1000, 0x10000 + 54 * 64);
    assert_true(has(memory, 0x11000));
    assert_false(has(memory, 0x11040));
    load(memory, cycle += 1000, 0x10000 + 55 * 64);
    assert_int_equal(statistics_of(memory).l1d.prefetches, 1);
    /* One walk for each page, of which the program has waited for the first; the line is there. */
    assert_int_equal(statistics_of(memory).page_walks, 2);
    assert_int_equal(statistics_of(memory).dtlb_misses, 1);
    const struct memory_result result = load(memory, cycle += 1000, 0x11000);
    assert_access(result, cycle + 4, LEVEL_L1, MEMORY_PREFETCHED);
    assert_int_equal(result.tlb_cycles, 0);
    /* Seven lines are too few; every second line counts as well. */
    for (uint64_t line = 50; line < 64; line += 2)
        load(memory, cycle += 1000, 0x20000 + line * 64);
    assert_false(has(memory, 0x21000));
    for (uint64_t line = 48; line < 64; line += 2)
        load(memory, cycle += 1000, 0x30000 + line * 64);
    assert_true(has(memory, 0x31000));
    /* Down: line 9 is the first that is near enough to the begin. */
    for (uint64_t line = 20; line > 9; line--)
        load(memory, cycle += 1000, 0x50000 + line * 64);
    assert_false(has(memory, 0x4ffc0));
    load(memory, cycle + 1000, 0x50000 + 9 * 64);
    assert_true(has(memory, 0x4ffc0));
    memory_free(memory);
}

/* The line is asked for when its page is translated, after the walk, and comes 140 cycles later. */
static void next_page_waits_for_its_walk(void **state) {
    (void)state;
    struct memory *memory = going_to_next_pages();
    for (uint64_t line = 54; line < 61; line++)
        load(memory, line * 1000, 0x10000 + line * 64);
    load(memory, 61000, 0x10000 + 61 * 64);
    assert_access(load(memory, 61001, 0x11000), 61000 + 50 + 140, LEVEL_DRAM,
                  MISSED_ALL | MEMORY_MISSED_TLB | MEMORY_PENDING_HIT | MEMORY_PREFETCHED);
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
                                       cmocka_unit_test(streams_start_late),
                                       cmocka_unit_test(stride_table_is_four_way_lru),
                                       cmocka_unit_test(stride_prefetches),
                                       cmocka_unit_test(software_prefetch),
                                       cmocka_unit_test(stream_runs_ahead),
                                       cmocka_unit_test(streams_are_few),
                                       cmocka_unit_test(line_streams_leave_no_line_out),
                                       cmocka_unit_test(long_streams_go_on),
                                       cmocka_unit_test(long_streams_translate),
                                       cmocka_unit_test(long_streams_of_the_l2_translate),
                                       cmocka_unit_test(long_streams_of_the_l2_are_of_data),
                                       cmocka_unit_test(up_down_follows_what_was_of_use),
                                       cmocka_unit_test(streamer_runs_farther_ahead),
                                       cmocka_unit_test(next_page_at_the_end_of_a_page),
                                       cmocka_unit_test(next_page_waits_for_its_walk),
                                       cmocka_unit_test(adjacent_completes_a_pair),
                                       cmocka_unit_test(two_prefetchers),
                                       cmocka_unit_test(warming_prefetches),
                                       cmocka_unit_test(warming_teaches_strides),
                                       cmocka_unit_test(warming_by_software_prefetch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
