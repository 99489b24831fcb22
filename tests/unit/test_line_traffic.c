/* What moves a line between threads, by hand: bytes of a line of 64 at LINE, threads 0, 1 and 2 on
 * the cores of their numbers. Every access below is a piece of its own, and enough empty ones lie
 * between two steps that a thread's earlier accesses are no longer in doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate/line_remedy.h"
#include "simulate/line_traffic.h"

enum { LINE = 0x4000, THREADS = 3 };
static const uint32_t ON_CORES[SHARED_MEMORY_CORES] = {0, 1, 2};

static struct line_traffic *new_traffic(void) {
    struct error error;
    struct line_traffic *traffic = line_traffic_new(64, &error);
    assert_non_null(traffic);
    return traffic;
}

static void pass(struct line_traffic *traffic) {
    for (int i = 0; i < 3; i++)
        for (uint32_t thread = 0; thread < THREADS; thread++)
            line_traffic_piece(traffic, thread);
}

/* An access that moves nothing; its static instruction is 10 times the thread, and 1 of stores. */
static void touch(struct line_traffic *traffic, uint32_t thread, unsigned offset, uint32_t bytes,
                  bool store) {
    const struct memory_access access = {
        .address = LINE + offset, .size_bytes = bytes, .is_store = store};
    line_traffic_access(traffic, 0, thread, 10 * thread + store, &access);
}

/* An access that takes the line from these cores, and waits 100 cycles for it. */
static void take(struct line_traffic *traffic, uint32_t thread, unsigned offset, uint32_t bytes,
                 bool store, enum coherence_kind kind, uint64_t from) {
    const struct line_move move = {.event = {.kind = (uint8_t)kind,
                                             .own = store,
                                             .core = thread,
                                             .from = from,
                                             .address = LINE + offset,
                                             .insn = 10 * thread + store,
                                             .cycles = 100},
                                   .thread = thread,
                                   .threads = ON_CORES};
    pass(traffic);
    touch(traffic, thread, offset, bytes, store);
    line_traffic_move(traffic, &move);
}

static const struct moved_line *only_line(struct line_traffic *traffic) {
    const struct line_traffic_sum sum = line_traffic_sum(traffic);
    assert_int_equal(sum.count, 1);
    assert_int_equal(sum.lines[0].address, LINE);
    return &sum.lines[0];
}

/* Two threads store to bytes 0-7 and 8-15 in turns: nobody needs what the other wrote. */
static void apart_in_a_line(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    touch(traffic, 0, 0, 8, true);
    for (int turn = 0; turn < 5; turn++) {
        take(traffic, 1, 8, 8, true, COHERENCE_MODIFIED, 1 << 0);
        take(traffic, 0, 0, 8, true, COHERENCE_MODIFIED, 1 << 1);
    }
    const struct moved_line *line = only_line(traffic);
    assert_int_equal(line->transfers, 10);
    assert_int_equal(line->upgrades, 0);
    assert_int_equal(line->cycles, 1000);
    assert_int_equal(line->false_moves, 10);
    assert_int_equal(line->true_moves, 0);
    assert_int_equal(line->false_cycles, 1000);
    assert_int_equal(line->thread_count, 2);
    assert_int_equal(line->threads[0].written, 0xff);
    assert_int_equal(line->threads[1].written, 0xff00);
    line_traffic_free(traffic);
}

/* The same, both to bytes 0-7. */
static void one_counter(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    touch(traffic, 0, 0, 8, true);
    for (int turn = 0; turn < 5; turn++) {
        take(traffic, 1, 0, 8, true, COHERENCE_MODIFIED, 1 << 0);
        take(traffic, 0, 0, 8, true, COHERENCE_MODIFIED, 1 << 1);
    }
    const struct moved_line *line = only_line(traffic);
    assert_int_equal(line->true_moves, 10);
    assert_int_equal(line->false_moves, 0);
    line_traffic_free(traffic);
}

/* A load of a byte that nobody writes brings the line; what it is for is the load behind it, of the
 * byte that the other thread wrote. */
static void by_what_follows(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    touch(traffic, 0, 0, 4, true);
    take(traffic, 1, 24, 4, false, COHERENCE_MODIFIED, 1 << 0);
    touch(traffic, 1, 0, 4, false);
    /* And here nothing follows: 0 wrote again, 1 only needs byte 24. */
    take(traffic, 0, 0, 4, true, COHERENCE_UPGRADE, 1 << 1);
    take(traffic, 1, 24, 4, false, COHERENCE_MODIFIED, 1 << 0);
    const struct moved_line *line = only_line(traffic);
    /* The upgrade takes bytes 0-3 from thread 1, which had read them. */
    assert_int_equal(line->true_moves, 2);
    assert_int_equal(line->false_moves, 1);
    line_traffic_free(traffic);
}

/* A store that takes the line from one that only reads: true if it reads these bytes. */
static void from_readers(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    touch(traffic, 1, 32, 8, false);
    touch(traffic, 0, 0, 8, false);
    take(traffic, 0, 0, 8, true, COHERENCE_UPGRADE, 1 << 1);
    assert_int_equal(only_line(traffic)->false_moves, 1);
    line_traffic_free(traffic);

    traffic = new_traffic();
    touch(traffic, 1, 4, 8, false);
    touch(traffic, 0, 0, 8, false);
    take(traffic, 0, 0, 8, true, COHERENCE_UPGRADE, 1 << 1);
    assert_int_equal(only_line(traffic)->true_moves, 1);
    line_traffic_free(traffic);
}

/* What thread 0 wrote reaches 2 by way of 1, which did not touch it. */
static void by_a_third(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    touch(traffic, 0, 0, 8, true);
    take(traffic, 1, 8, 8, true, COHERENCE_MODIFIED, 1 << 0);
    take(traffic, 2, 0, 8, false, COHERENCE_MODIFIED, 1 << 1);
    const struct moved_line *line = only_line(traffic);
    assert_int_equal(line->false_moves, 1);
    assert_int_equal(line->true_moves, 1);
    line_traffic_free(traffic);
}

/* Of a line that a prefetcher brings, nobody waits; of one that nothing is known of, nothing is
 * said. */
static void not_asked_for(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    const struct line_move move = {
        .event = {.kind = COHERENCE_CLEAN, .core = 1, .from = 1, .address = LINE, .insn = 5},
        .thread = 1,
        .threads = ON_CORES};
    line_traffic_move(traffic, &move);
    assert_int_equal(only_line(traffic)->prefetched, 1);
    assert_int_equal(only_line(traffic)->cycles, 0);
    line_traffic_free(traffic);

    traffic = new_traffic();
    take(traffic, 1, 8, 8, false, COHERENCE_CLEAN, 1 << 0);
    const struct moved_line *line = only_line(traffic);
    assert_int_equal(line->cycles, 100);
    assert_int_equal(line->false_moves + line->true_moves, 0);
    line_traffic_free(traffic);
}

/* An access of 16 bytes at 56 touches the ends of two lines. */
static void over_the_edge(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    touch(traffic, 0, 0, 64, false);
    take(traffic, 1, 0, 64, true, COHERENCE_UPGRADE, 1 << 0);
    touch(traffic, 0, 56, 16, true);
    const struct moved_line *line = only_line(traffic);
    assert_int_equal(line->threads[0].written, UINT64_C(0xff) << 56);
    assert_true(line->threads[1].written == UINT64_MAX);
    line_traffic_free(traffic);
}

/* More lines than are kept: those that waited stay, and what is dropped is counted. */
static void more_lines_than_kept(void **state) {
    (void)state;
    struct line_traffic *traffic = new_traffic();
    enum { MORE = LINE_TRAFFIC_LINES + 10 };
    for (uint64_t i = 0; i < MORE; i++) {
        const struct memory_access access = {
            .address = LINE + 64 * i, .size_bytes = 8, .is_store = true};
        const struct line_move move = {.event = {.kind = COHERENCE_MODIFIED,
                                                 .own = true,
                                                 .core = 1,
                                                 .from = 1,
                                                 .address = access.address,
                                                 .insn = 11,
                                                 .cycles = i == 3 ? 5000 : 1},
                                       .thread = 1,
                                       .threads = ON_CORES};
        line_traffic_access(traffic, 0, 1, 11, &access);
        line_traffic_move(traffic, &move);
    }
    const struct line_traffic_sum sum = line_traffic_sum(traffic);
    assert_false(line_traffic_failed(traffic));
    assert_int_equal(sum.count + sum.dropped_lines, MORE);
    assert_int_equal(sum.dropped_lines, LINE_TRAFFIC_LINES / 2);
    assert_int_equal(sum.dropped_moves, LINE_TRAFFIC_LINES / 2);
    assert_int_equal(sum.moves, MORE);
    assert_int_equal(sum.lines[0].address, LINE + 3 * 64);
    assert_int_equal(sum.cycles, MORE - 1 + 5000);
    line_traffic_free(traffic);
}

/* Padding goes by who owns a byte, copies by who accesses it; other lines, other processes and
 * what crosses the line stay. */
static void remedies(void **state) {
    (void)state;
    struct line_remedy items[] = {{.address = LINE + 64, .process = 0, .copies = true},
                                  {.address = LINE, .process = 0}};
    for (int part = 0; part < REMEDY_PARTS; part++)
        items[1].owner[part] = part < 8 ? 0 : part < 16 ? 1 : UINT32_MAX;
    struct line_remedies remedies = {.items = items, .count = 2, .line_bytes = 64};
    line_remedies_sort(&remedies);
    const struct memory_access accesses[] = {
        {.address = LINE, .size_bytes = 8},      {.address = LINE + 8, .size_bytes = 8},
        {.address = LINE + 16, .size_bytes = 8}, {.address = LINE + 60, .size_bytes = 8},
        {.address = LINE + 72, .size_bytes = 8}, {.address = LINE + 128, .size_bytes = 8}};
    struct memory_access by_0[6], by_1[6], other[6];
    line_remedies_apply(&remedies, 0, 0, accesses, 6, by_0);
    line_remedies_apply(&remedies, 0, 1, accesses, 6, by_1);
    line_remedies_apply(&remedies, 1, 0, accesses, 6, other);
    assert_true(by_0[0].address != LINE && by_0[0].address == by_1[0].address);
    assert_true(by_0[1].address != LINE + 8 && by_0[1].address == by_1[1].address);
    assert_true(by_0[0].address / 64 != by_0[1].address / 64);
    assert_int_equal(by_0[1].address % 64, 8);
    assert_true(by_0[4].address / 64 != by_1[4].address / 64);
    assert_int_equal(by_0[4].address % 64, 8);
    static const int STAY[] = {2, 3, 5};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(by_0[STAY[i]].address, accesses[STAY[i]].address);
        assert_int_equal(by_1[STAY[i]].address, accesses[STAY[i]].address);
    }
    for (int i = 0; i < 6; i++)
        assert_int_equal(other[i].address, accesses[i].address);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apart_in_a_line), cmocka_unit_test(one_counter),
        cmocka_unit_test(by_what_follows), cmocka_unit_test(from_readers),
        cmocka_unit_test(by_a_third),      cmocka_unit_test(not_asked_for),
        cmocka_unit_test(over_the_edge),   cmocka_unit_test(more_lines_than_kept),
        cmocka_unit_test(remedies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
