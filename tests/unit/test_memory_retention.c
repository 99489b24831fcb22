/* A last level that others use too, by hand. */
#include "memory/retention.h"

#include <stdlib.h>

#include "memory/hierarchy.h"
#include "unit/memory_machine.h"

/* Lines leave the L1D when two others of its set, 512 bytes apart, come; there is no L2. The LLC
 * keeps a line 10,000 cycles after it came, and 50,000 after it was used. */
enum { NEW = 10000, USED = 50000, LINE = 0x8000 };
static struct machine shared_machine(uint32_t admission) {
    struct machine machine = small_machine();
    machine.l2 = (struct machine_cache){.present = false};
    machine.llc.retention = USED;
    machine.llc.first_retention = NEW;
    machine.llc.admission = admission;
    machine.llc.readmission = 100;
    return machine;
}

/* Two other lines take the place of all in the L1D's set of an address. */
static void push_out(struct memory *memory, uint64_t cycle, uint64_t address) {
    load(memory, cycle, address + 512);
    load(memory, cycle, address + 1024);
}

static uint32_t level_of(struct memory *memory, uint64_t cycle, uint64_t address) {
    const uint32_t level = load(memory, cycle, address).level;
    push_out(memory, cycle + 200, address);
    return level;
}

/* It comes from memory, 140 cycles, at 1000. It is used at 11,000, which is 10,000 cycles later,
 * and again 50,000 after that; then not for 50,001. */
static void stays_longer_once_it_was_used(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    assert_access(load(memory, 1000, LINE), 1140, LEVEL_DRAM, MISSED_ALL);
    push_out(memory, 2000, LINE);
    assert_access(load(memory, 11000, LINE), 11040, LEVEL_LLC, MEMORY_MISSED_L1);
    push_out(memory, 12000, LINE);
    assert_access(load(memory, 61000, LINE), 61040, LEVEL_LLC, MEMORY_MISSED_L1);
    push_out(memory, 62000, LINE);
    assert_access(load(memory, 111001, LINE), 111141, LEVEL_DRAM, MISSED_ALL);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

static void is_gone_soon_unless_it_was_used(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, LINE);
    push_out(memory, 2000, LINE);
    assert_access(load(memory, 11001, LINE), 11141, LEVEL_DRAM, MISSED_ALL);
    memory_free(memory);
}

/* Two other lines of its set in the LLC, which has eight ways, are used after it: what others fetch
 * has six to fill, in 7,500 cycles in place of 10,000, and in 37,500 in place of 50,000. A line
 * that was used before does not matter, nor one of another set. */
static void own_lines_take_places(void **state) {
    (void)state;
    struct machine machine = shared_machine(100);
    for (uint64_t late = 0; late <= 1; late++)
        for (uint64_t shared = 0; shared <= 1; shared++) {
            machine.llc.shared_ways = shared;
            struct memory *memory = new_memory(&machine, 0);
            const uint32_t expected = shared && late ? LEVEL_DRAM : LEVEL_LLC;
            load(memory, 500, LINE + 6 * 1024);
            load(memory, 1000, LINE);
            load(memory, 2000, LINE + 2048);
            load(memory, 3000, LINE + 4096);
            load(memory, 4000, LINE + 64);
            assert_int_equal(load(memory, 1000 + 7500 + late, LINE).level, expected);
            memory_free(memory);

            memory = new_memory(&machine, 0);
            load(memory, 1000, LINE);
            push_out(memory, 2000, LINE);
            load(memory, 3000, LINE);
            load(memory, 4000, LINE + 2048);
            load(memory, 5000, LINE + 4096);
            assert_int_equal(load(memory, 3000 + 37500 + late, LINE).level, expected);
            memory_free(memory);
        }
}

/* What waits for a line that is not kept gets it all the same, and that is no use of it. */
static void a_line_that_is_not_kept_passes_through(void **state) {
    (void)state;
    struct machine machine = shared_machine(1);
    machine.llc.readmission = 1;
    struct memory *memory = new_memory(&machine, 0);
    memory->llc.retention.admission = memory->llc.retention.readmission = 0;
    assert_access(load(memory, 1000, LINE), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(fetch(memory, 1010, LINE), 1140, LEVEL_DRAM, MISSED_ALL | MEMORY_PENDING_HIT);
    push_out(memory, 2000, LINE);
    assert_access(load(memory, 3000, LINE), 3140, LEVEL_DRAM, MISSED_ALL);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* In program order it is not known yet that no access comes before cycle 1140. */
static void no_use_makes_it_kept(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    memory_in_program_order(memory);
    memory->llc.retention.admission = memory->llc.retention.readmission = 0;
    assert_access(load(memory, 1000, LINE), 1140, LEVEL_DRAM, MISSED_ALL);
    assert_access(fetch(memory, 1200, LINE), 1240, LEVEL_LLC, MEMORY_MISSED_L1);
    memory_advance(memory, 1300);
    push_out(memory, 2000, LINE);
    assert_access(load(memory, 3000, LINE), 3140, LEVEL_DRAM, MISSED_ALL);
    memory_free(memory);
}

/* Of so many lines, 65 apart, which no other access touches. */
static uint32_t kept(struct memory *memory, uint64_t from, uint32_t lines) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < lines; i++) {
        const uint64_t address = from + 65 * 64 * (uint64_t)i, cycle = 10000 * (uint64_t)(i + 1);
        level_of(memory, cycle, address);
        count += level_of(memory, cycle + 1000, address) == LEVEL_LLC;
    }
    return count;
}

/* Of 20,000 lines that come from memory, 65 apart, so many are there after a wait. */
static uint32_t left_after(const struct machine *machine, uint64_t wait) {
    struct memory *memory = new_memory(machine, 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        const uint64_t address = 0x100000 + 65 * 64 * (uint64_t)i,
                       cycle = 100000 * (i + UINT64_C(1));
        level_of(memory, cycle, address);
        count += load(memory, cycle + wait, address).level == LEVEL_LLC;
    }
    memory_free(memory);
    return count;
}

/* Of shape 2, whose median is 1.67835 events: after a time t of medians, e^-x (1 + x) with x =
 * 1.67835 t. 0.8913 at a third of the median, a half, 0.1518 at twice it; with shape 1 it is 2^-t.
 * Three standard deviations are 132, 212, 152 and 184 lines, and 64 times are told apart: 156. */
static void lines_stay_as_long_as_the_shape_says(void **state) {
    (void)state;
    struct machine machine = shared_machine(100);
    machine.llc.size = 256 << 20;
    assert_int_equal(left_after(&machine, NEW), 20000);
    assert_int_equal(left_after(&machine, NEW + 1), 0);
    machine.llc.first_shape = 2;
    assert_in_range(left_after(&machine, NEW / 3), 17826 - 288, 17826 + 288);
    assert_in_range(left_after(&machine, NEW), 10000 - 368, 10000 + 368);
    assert_in_range(left_after(&machine, 2 * NEW), 3036 - 308, 3036 + 308);
    machine.llc.first_shape = 0;
    machine.llc.retention_shape = 1;
    assert_in_range(left_after(&machine, 2 * NEW), 5000 - 340, 5000 + 340);
}

static void as_many_are_kept_as_are_admitted(void **state) {
    (void)state;
    struct machine machine = shared_machine(30);
    machine.llc.size = 256 << 20;
    struct memory *memory = new_memory(&machine, 0);
    const uint32_t count = kept(memory, 0x100000, 20000);
    assert_in_range(count, 5805, 6195); /* three standard deviations, of 65, about 6,000 */
    memory_free(memory);
}

/* A line that was not kept is, with readmission 100, when it comes again in the time of retention;
 * later it is like any other. */
static void a_line_that_comes_again_is_known(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    memory->llc.retention.admission = 0;
    assert_int_equal(level_of(memory, 1000, LINE), LEVEL_DRAM);
    assert_int_equal(level_of(memory, 51000, LINE), LEVEL_DRAM); /* 50,000 later: kept */
    assert_int_equal(level_of(memory, 52000, LINE), LEVEL_LLC);
    assert_int_equal(level_of(memory, 200000, LINE), LEVEL_DRAM); /* too late: not kept */
    assert_int_equal(level_of(memory, 201000, LINE), LEVEL_DRAM); /* but remembered */
    assert_int_equal(level_of(memory, 202000, LINE), LEVEL_LLC);
    memory_free(memory);
}

/* A line that was stored to goes to memory when it leaves the L1D, if the LLC did not keep it. */
static void written_back_to_where_it_is(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    for (uint32_t admission = 0; admission <= 100; admission += 100) {
        struct memory *memory = new_memory(&machine, 0);
        memory->llc.retention.admission = admission;
        store(memory, 1000, LINE);
        push_out(memory, 2000, LINE);
        assert_int_equal(statistics_of(memory).dram_writes, admission ? 0 : 1);
        memory_free(memory);
    }
}

/* A line that was used in the LLC, and then written back there, is one that was used. */
static void written_back_it_stays_used(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    load(memory, 1000, LINE);
    push_out(memory, 2000, LINE);
    assert_access(store(memory, 3000, LINE), 3040, LEVEL_LLC, MEMORY_MISSED_L1);
    push_out(memory, 4000, LINE);
    assert_access(load(memory, 40000, LINE), 40040, LEVEL_LLC, MEMORY_MISSED_L1);
    memory_free(memory);
}

/* The LLC's copy leaves 10,000 cycles after it came, while the L1D has the line. */
static void written_back_to_memory_once_it_has_left(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    store(memory, 1000, LINE);
    push_out(memory, 11001, LINE);
    assert_int_equal(statistics_of(memory).dram_writes, 1);
    assert_access(load(memory, 12000, LINE), 12140, LEVEL_DRAM, MISSED_ALL);
    memory_free(memory);
}

/* 9,000 cycles, then 1,000 more after time began anew. */
static void time_goes_on(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0), *copy = new_memory(&machine, 0),
                  *older = new_memory(&machine, 0);
    load(memory, 0, LINE);
    push_out(memory, 1000, LINE);
    memory_pass(memory, 9000 - 1000);
    memory_copy(copy, memory); /* 1,000 cycles and those 8,000 have passed in it */
    memory_copy(older, memory);
    memory_restart(memory);
    assert_int_equal(load(older, 1001, LINE).level, LEVEL_DRAM);
    memory_free(older);
    for (int i = 0; i < 2; i++) {
        struct memory *each = i ? copy : memory;
        assert_int_equal(load(each, 1000, LINE).level, LEVEL_LLC);
        memory_pass(each, USED + 1);
        push_out(each, 2000, LINE);
        assert_int_equal(load(each, 3000, LINE).level, LEVEL_DRAM);
        memory_free(each);
    }
}

/* Four lines of one stretch of 100 events, 40,000 cycles: 400 an event. At its end that of event 80
 * is 8,000 cycles old, that of event 70 12,000. */
static void rebuilt_with_their_age(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    const struct stamped_line lines[] = {
        {LINE, STAMPED_LOAD, 0, 70},        {LINE + 64, STAMPED_LOAD, 0, 80},
        {LINE + 512, STAMPED_LOAD, 0, 90},  {LINE + 576, STAMPED_LOAD, 0, 91},
        {LINE + 1024, STAMPED_LOAD, 0, 92}, {LINE + 1088, STAMPED_LOAD, 0, 93}};
    memory_rebuild(memory, lines, 6, (struct stamped_stretch){100, 40000, 0});
    memory_restart(memory);
    assert_int_equal(load(memory, 10, LINE).level, LEVEL_DRAM);
    assert_int_equal(load(memory, 10, LINE + 64).level, LEVEL_LLC);
    memory_free(memory);
}

/* The same stretch. Events 30 and 60, 12,000 cycles apart, were accesses to one line: too far for
 * one that only came. So it came again, and counts as new; had it come in events 20, 40 and 60,
 * 8,000 apart, the last ones would have used it. 34,001 cycles after event 60 only that is there.
 */
static void rebuilt_with_what_came_again(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    for (uint8_t again = 1; again <= 2; again++) {
        struct memory *memory = new_memory(&machine, 0);
        const struct stamped_line lines[] = {{LINE, STAMPED_LOAD, again, 60},
                                             {LINE + 512, STAMPED_LOAD, 0, 90},
                                             {LINE + 1024, STAMPED_LOAD, 0, 92}};
        memory_rebuild(memory, lines, 3, (struct stamped_stretch){100, 40000, 0});
        memory_restart(memory);
        assert_int_equal(load(memory, 34001 - 16000, LINE).level,
                         again == 2 ? LEVEL_LLC : LEVEL_DRAM);
        memory_free(memory);
    }
}

/* A line that was used in the LLC 500 cycles before a stretch of 100 events, 100,000 cycles, comes
 * in its events 40 and 80: each time it is there still, and it is there at the end. */
static void rebuilt_where_a_line_was_there_before(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    const struct stamped_line lines[] = {{LINE, STAMPED_LOAD, 1, 80},
                                         {LINE + 512, STAMPED_LOAD, 0, 90},
                                         {LINE + 1024, STAMPED_LOAD, 0, 92}};
    assert_int_equal(level_of(memory, 1000, LINE), LEVEL_DRAM);
    assert_int_equal(level_of(memory, 2000, LINE), LEVEL_LLC);
    memory_pass(memory, 300);
    memory_restart(memory);
    memory_rebuild(memory, lines, 3, (struct stamped_stretch){100, 100000, 0});
    assert_int_equal(load(memory, 10, LINE).level, LEVEL_LLC);
    memory_free(memory);
}

/* Events 33, 66 and 99 of 100, 132,000 cycles apart, lie further from each other than a line is
 * remembered: each time it is like any other, none of which is admitted. */
static void rebuilt_with_what_came_too_late(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    memory->llc.retention.admission = 0;
    const struct stamped_line lines[] = {{LINE, STAMPED_LOAD, 2, 99},
                                         {LINE + 512, STAMPED_LOAD, 0, 100},
                                         {LINE + 1024, STAMPED_LOAD, 0, 100}};
    memory_rebuild(memory, lines, 3, (struct stamped_stretch){100, 400000, 0});
    assert_int_equal(load(memory, 10, LINE).level, LEVEL_DRAM);
    memory_free(memory);
}

/* Each of 2,000 lines came 21 times, 100 cycles apart. None is admitted when it comes first; of
 * those that come again 30 % are: of eight times that is one, but for 0.7 to the eighth. */
static void rebuilt_by_the_last_times_of_many(void **state) {
    (void)state;
    enum { LINES = 2000, STRIDE = 65 * 64 };
    static struct stamped_line lines[LINES];
    struct machine machine = shared_machine(100);
    machine.llc.size = 256 << 20;
    struct memory *memory = new_memory(&machine, 0);
    memory->llc.retention.admission = 0;
    memory->llc.retention.readmission = 30;
    for (uint64_t i = 0; i < LINES; i++)
        lines[i] = (struct stamped_line){0x100000 + i * STRIDE, STAMPED_LOAD, 20, 2100};
    memory_rebuild(memory, lines, LINES, (struct stamped_stretch){2100, 2100, 0});
    uint32_t found = 0;
    for (uint64_t i = 0; i < LINES - 100; i++) /* the last ones are in the L1D */
        found += load(memory, 4 * i, lines[i].address).level == LEVEL_LLC;
    assert_in_range(found, 1760, 1820); /* three standard deviations, of 10, about 1,790 */
    memory_free(memory);
}

/* The entry of the page's table is in the L1D before a stretch of 100,000 cycles, in which a line
 * of the page is used every 10,000. So it was used in the LLC as well when it had left the L1D, as
 * it has at times, and is no older there than the line. */
static void rebuilt_with_page_tables_of_their_age(void **state) {
    (void)state;
    struct machine machine = shared_machine(100);
    machine.walk_level = 1;
    machine.dtlb.entries = 4;
    struct memory *memory = new_memory(&machine, 0);
    const struct stamped_line lines[] = {{LINE, STAMPED_LOAD, 9, 100}};
    uint64_t entries[WALK_ENTRIES];
    assert_int_equal(walk_entries(memory, LINE, entries), 2);
    load(memory, 1000, LINE);
    memory_restart(memory);
    memory_rebuild(memory, lines, 1, (struct stamped_stretch){100, 100000, 0});
    memory_restart(memory);
    const size_t index = cache_find(&memory->llc, entries[0]);
    assert_true(index != CACHE_NONE);
    assert_true(cache_find(&memory->l1d, entries[0]) != CACHE_NONE);
    assert_false(retention_lost(&memory->llc.retention, index, entries[0], 10));
    memory_free(memory);
}

/* 8,000 cycles just before the same stretch are taken to be like it. So the line that came in event
 * 20, in cycle 8,000, came once before that: it is there 32,000 cycles later. */
static void rebuilt_with_what_is_not_known(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    for (uint64_t before = 0; before <= 8000; before += 8000) {
        struct memory *memory = new_memory(&machine, 0);
        const struct stamped_line lines[] = {{LINE, STAMPED_LOAD, 0, 20},
                                             {LINE + 512, STAMPED_LOAD, 0, 90},
                                             {LINE + 1024, STAMPED_LOAD, 0, 92}};
        memory_rebuild(memory, lines, 3, (struct stamped_stretch){100, 40000, before});
        memory_restart(memory);
        assert_int_equal(load(memory, 10, LINE).level, before ? LEVEL_LLC : LEVEL_DRAM);
        memory_free(memory);
    }
}

/* Once a line has been lost, the prefetcher of the LLC fetches it again: the line before it, which
 * is lost too, misses at 20,000, and the load 500 cycles later finds it. */
static void lost_lines_are_prefetched_again(void **state) {
    (void)state;
    struct machine machine = shared_machine(100);
    machine.llc.prefetcher = PREFETCH_NEXT_LINE;
    struct memory *memory = new_memory(&machine, 0);
    for (uint64_t cycle = 1000; cycle <= 20000; cycle += 19000) {
        assert_int_equal(load(memory, cycle, LINE).level, LEVEL_DRAM);
        assert_int_equal(load(memory, cycle + 500, LINE + 64).level, LEVEL_LLC);
        push_out(memory, cycle + 1000, LINE);
        push_out(memory, cycle + 1000, LINE + 64);
    }
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

/* A dirty line that the LLC has, and others push out 10,000 cycles after it was used, is written to
 * memory: that is known when it is looked for. */
static void a_lost_line_is_written_to_memory(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    store(memory, 1000, LINE);
    push_out(memory, 2000, LINE);
    assert_int_equal(statistics_of(memory).dram_writes, 0);
    load(memory, 60000, LINE);
    assert_int_equal(statistics_of(memory).dram_writes, 1);
    assert_int_equal(statistics_of(memory).llc.writebacks, 1);
    memory_free(memory);
}

/* What is found out in warming is not counted. */
static void a_line_lost_in_warming_is_not_counted(void **state) {
    (void)state;
    const struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    for (int time = 0; time < 2; time++) {
        memory_warm_load(memory, LINE, 8, 0, true);
        memory_warm_load(memory, LINE + 512, 8, 0, false);
        memory_warm_load(memory, LINE + 1024, 8, 0, false);
        memory_pass(memory, USED + 1);
    }
    assert_int_equal(statistics_of(memory).dram_writes, 0);
    assert_int_equal(statistics_of(memory).llc.writebacks, 0);
    memory_free(memory);
}

/* A dirty line comes to the LLC, where eight others of its set have taken the place of its copy. It
 * is not kept: it goes to memory at once, and is not written again when it leaves. */
static void a_line_that_is_not_kept_is_written_to_memory(void **state) {
    (void)state;
    struct machine machine = shared_machine(100);
    struct memory *memory = new_memory(&machine, 0);
    memory->llc.retention.admission = 0;
    store(memory, 1000, LINE);
    for (uint64_t i = 1; i <= 8; i++)
        fetch(memory, 1000 + 200 * i, LINE + 2048 * i);
    push_out(memory, 5000, LINE);
    assert_int_equal(statistics_of(memory).dram_writes, 1);
    load(memory, 90000, LINE);
    for (uint64_t i = 1; i <= 8; i++)
        fetch(memory, 100000 + 200 * i, LINE + 2048 * i);
    assert_int_equal(statistics_of(memory).dram_writes, 1);
    assert_true(memory_consistent(memory));
    memory_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_longer_once_it_was_used),
        cmocka_unit_test(is_gone_soon_unless_it_was_used),
        cmocka_unit_test(own_lines_take_places),
        cmocka_unit_test(a_line_that_is_not_kept_passes_through),
        cmocka_unit_test(no_use_makes_it_kept),
        cmocka_unit_test(lines_stay_as_long_as_the_shape_says),
        cmocka_unit_test(as_many_are_kept_as_are_admitted),
        cmocka_unit_test(a_line_that_comes_again_is_known),
        cmocka_unit_test(written_back_to_where_it_is),
        cmocka_unit_test(written_back_it_stays_used),
        cmocka_unit_test(written_back_to_memory_once_it_has_left),
        cmocka_unit_test(time_goes_on),
        cmocka_unit_test(rebuilt_with_their_age),
        cmocka_unit_test(rebuilt_with_what_came_again),
        cmocka_unit_test(rebuilt_where_a_line_was_there_before),
        cmocka_unit_test(rebuilt_with_what_came_too_late),
        cmocka_unit_test(rebuilt_by_the_last_times_of_many),
        cmocka_unit_test(rebuilt_with_page_tables_of_their_age),
        cmocka_unit_test(rebuilt_with_what_is_not_known),
        cmocka_unit_test(lost_lines_are_prefetched_again),
        cmocka_unit_test(a_lost_line_is_written_to_memory),
        cmocka_unit_test(a_line_lost_in_warming_is_not_counted),
        cmocka_unit_test(a_line_that_is_not_kept_is_written_to_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
