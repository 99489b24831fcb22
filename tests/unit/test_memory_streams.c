/* Prefetchers of lines in a row: streams, the streamer, and the next page. */
#include "unit/prefetching.h"

/* With a start of 3, lines 0 to 3 make three, and line 4 is fetched. */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_start_late),
                                       cmocka_unit_test(stream_runs_ahead),
                                       cmocka_unit_test(streams_are_few),
                                       cmocka_unit_test(line_streams_leave_no_line_out),
                                       cmocka_unit_test(long_streams_go_on),
                                       cmocka_unit_test(long_streams_translate),
                                       cmocka_unit_test(long_streams_of_the_l2_translate),
                                       cmocka_unit_test(long_streams_of_the_l2_are_of_data),
                                       cmocka_unit_test(streamer_runs_farther_ahead),
                                       cmocka_unit_test(next_page_at_the_end_of_a_page),
                                       cmocka_unit_test(next_page_waits_for_its_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
