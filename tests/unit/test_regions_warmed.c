/* How many instructions before a region are shown to caches one by one, where regions follow one
 * another and caches are rebuilt from time stamps before those: prefetchers learn in them alone.
 *
 * One load teaches its stride by an access at +0 and by the next at +0x100, upon which the
 * prefetcher fetches the line at +0x200. The region begins with the access there. */
#include "unit/one_line_cache.h"
#include "unit/script_stream.h"

#include "simulate/regions.h"
#include "simulate/warming.h"

enum { START = 400000, LENGTH = 1000, CHUNK = 10000, MOST_EVENTS = START, DATA = 0x40000 };

/* Ten instructions: nine times nop, jmp to the first. One: jmp to itself. Two: mov eax,[rsi], jmp
 * to it. */
enum { TEN, ONE, LOAD };
static const char TEN_BYTES[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x90\xeb\xf5";
static const char ONE_BYTES[] = "\xeb\xfe";
static const char LOAD_BYTES[] = "\x8b\x06\xeb\xfc";

static uint64_t events[MOST_EVENTS];
static uint32_t event_count, executed;
static struct script script;
static struct machine machine;
static uint64_t warm = START; /* instructions, of the next region */

static void execute(uint32_t block, uint32_t insns) {
    events[event_count++] = event_block(block);
    executed += insns;
}

/* Up to this instruction nothing is loaded. */
static void execute_until(uint32_t position) {
    while (position - executed >= 10)
        execute(TEN, 10);
    while (executed < position)
        execute(ONE, 1);
}

static void load(uint64_t address) {
    execute(LOAD, 2);
    events[event_count++] = event_access(false, 2, 0, address);
}

/* Chunks of CHUNK events, or one less: none begins with what the load before it accesses. */
static void put_events(void) {
    for (uint32_t begin = 0, end; begin < event_count; begin = end) {
        end = begin + CHUNK < event_count ? begin + CHUNK : event_count;
        while (end < event_count && event_kind(events[end]) != EVENT_BLOCK)
            end--;
        script_data(&script, 0, events + begin, end - begin);
    }
}

/* Of which nothing is loaded before this instruction. */
static void begin_trace(uint32_t position) {
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 10, TEN_BYTES, 11);
    script_block(&script, 0, 0x1100, 1, ONE_BYTES, 2);
    script_block(&script, 0, 0x1200, 2, LOAD_BYTES, 4);
    event_count = executed = 0;
    execute_until(position);
}

static void end_trace(void) {
    execute_until(START + LENGTH + 100);
    put_events();
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = false};
}

/* The stride is taught by the instructions at `position` and two behind it. */
static void make_trace(uint32_t position) {
    begin_trace(position);
    load(DATA);
    load(DATA + 0x100);
    execute_until(START);
    load(DATA + 0x200);
    end_trace();
}

/* The region of the trace that was made, which begins with this instruction of the thread. */
static struct region_trace region_at(uint64_t first, struct region_streams *streams) {
    const struct region_trace region = {.name = "region 1",
                                        .path = "in memory",
                                        .stream = region_stream_new(streams, START),
                                        .start = START,
                                        .end = START + LENGTH,
                                        .warm = warm,
                                        .stamped = true,
                                        .only = -1,
                                        .first = first,
                                        .stands_for = LENGTH};
    script_put(&script, region.stream, 0, script.count);
    region_stream_end(region.stream);
    return region;
}

static uint64_t last_dram_reads; /* of the last region */

static void keep(void *context, const struct region_trace *region, const struct simulation *kept,
                 const struct code *code) {
    (void)context, (void)region, (void)code;
    last_dram_reads = kept->counted.memory.dram_reads;
}

static struct simulation simulate(const struct region_trace *regions, size_t count) {
    struct error error;
    struct simulation simulation;
    const struct region_run_options options = {
        .machine = &machine, .isa = ISA_X86_64, .chained = true, .keep = keep};
    struct region_run *run = region_run_new(&options, &error);
    for (size_t i = 0; i < count; i++)
        assert_true(region_run_add(run, &regions[i], &error));
    if (!region_run_finish(run, count * LENGTH, &simulation, &error))
        fail_msg("%s", error.message);
    assert_int_equal(simulation.instructions, count * LENGTH);
    region_run_free(run);
    return simulation;
}

/* What caches count in the region of the trace that was made. */
static struct memory_statistics simulated(void) {
    struct region_streams *streams = region_streams_new();
    const struct region_trace region = region_at(START, streams);
    struct simulation simulation = simulate(&region, 1);
    const struct memory_statistics memory = simulation.counted.memory;
    assert_int_equal(memory.l1d.accesses, 1);
    simulation_free(&simulation);
    region_streams_free(streams);
    return memory;
}

/* Misses of the region's load. */
static uint64_t misses_when_taught_at(uint32_t position) {
    make_trace(position);
    return simulated().l1d.misses;
}

static void shown_from_there_on(void **state) {
    (void)state;
    assert_int_equal(WARMING_SHOWN_ON, 300000);
    assert_true(WARMING_TRAINED_ON > START); /* all that goes before is decoded */
    assert_int_equal(misses_when_taught_at(START - WARMING_SHOWN_ON), 0);
    assert_int_equal(misses_when_taught_at(START - WARMING_SHOWN_ON - 1), 1);
}

/* In the chunk of events in which caches begin to be shown instructions, ten before that; unless
 * what comes before does not count. */
static void what_is_accessed_just_before_counts(void **state) {
    (void)state;
    begin_trace(START - WARMING_SHOWN_ON - 10);
    load(DATA);
    execute_until(START);
    load(DATA);
    end_trace();
    assert_int_equal(simulated().l1d.misses, 0);
    warm = WARMING_SHOWN_ON;
    assert_int_equal(simulated().l1d.misses, 1);
    warm = START;
}

/* The L1D is one line, which another takes. What is shown takes a cycle an instruction, of which
 * the region is the first. */
static void time_passes_in_what_is_shown(void **state) {
    (void)state;
    static const struct { uint32_t before, misses; } LOADS[] = {{150000, 0}, {250000, 1}};
    const struct machine whole = machine;
    share_last_cache(&machine, 200000);
    for (size_t i = 0; i < sizeof LOADS / sizeof *LOADS; i++) {
        begin_trace(START - LOADS[i].before);
        load(DATA);
        load(DATA + 0x1000);
        execute_until(START);
        load(DATA);
        end_trace();
        const struct memory_statistics memory = simulated();
        assert_int_equal(memory.l1d.misses, 1);
        assert_int_equal(memory.dram_reads, LOADS[i].misses);
    }
    machine = whole;
}

/* A thousand lines are accessed again and again in what is stamped; then others push them out of
 * the L2. The region loads one of them, 300,000 cycles after its last access: it is there if it was
 * used in the LLC, as it is with an L2 of 512 lines, and not with one of 4,096, which had them all
 * the time. */
static void lines_that_leave_the_l2_use_the_llc(void **state) {
    (void)state;
    enum { LINES = 1000, ROUNDS = 48, OTHERS = 10000 };
    const struct machine whole = machine;
    machine.l1d.prefetcher = PREFETCH_NONE;
    machine.l2.prefetcher = machine.l2.second_prefetcher = machine.l2.third_prefetcher =
        PREFETCH_NONE;
    machine.llc.first_retention = 100000;
    machine.llc.retention = 1000000;
    for (uint32_t lines = 512; lines <= 4096; lines *= 8) {
        machine.l2.size = lines * machine.l2.line;
        begin_trace(0);
        for (uint64_t i = 0; i < LINES * ROUNDS; i++)
            load(DATA + i % LINES * 64);
        execute_until(START - WARMING_SHOWN_ON);
        for (uint64_t i = 0; i < OTHERS; i++)
            load(2 * DATA + i * 64);
        execute_until(START);
        load(DATA);
        end_trace();
        const struct memory_statistics memory = simulated();
        assert_int_equal(memory.l2.misses, 1);
        assert_int_equal(memory.dram_reads, lines == 4096);
    }
    machine = whole;
}

static void make_idle_trace(void) {
    begin_trace(START);
    end_trace();
}

static double cpi_of_idle(void) {
    struct region_streams *streams = region_streams_new();
    make_idle_trace();
    const struct region_trace region = region_at(START, streams);
    struct simulation simulation = simulate(&region, 1);
    const double cpi = (double)simulation.cycles / LENGTH;
    simulation_free(&simulation);
    region_streams_free(streams);
    return cpi;
}

/* The second region of two loads a line that is accessed once in what is stamped before it, the
 * time of 50,000 instructions after that began and of 350,000 before the region. So long it is
 * there only if it came before, too: if there is as much again between the regions, of one thread.
 * All takes the time that the first region tells. */
static void what_lies_between_regions_is_like_the_next(void **state) {
    (void)state;
    enum { ACCESS = 50000 };
    const struct machine whole = machine;
    share_last_cache(&machine, 0);
    const double cpi = cpi_of_idle();
    assert_true(cpi < 0.4); /* not 1, as it would be taken to be */
    machine.llc.first_retention = (uint64_t)(100000 * cpi);
    machine.llc.retention = (uint64_t)(500000 * cpi);
    static const struct {
        uint64_t instructions;
        uint32_t thread, reads;
    } BETWEEN[] = {{0, 0, 1}, {60000, 0, 0}, {60000, 1, 1}};
    for (size_t i = 0; i < sizeof BETWEEN / sizeof *BETWEEN; i++) {
        struct region_streams *streams = region_streams_new();
        struct region_trace regions[2];
        make_idle_trace();
        regions[0] = region_at(START, streams);
        begin_trace(ACCESS);
        load(DATA);
        load(DATA + 0x1000);
        execute_until(START);
        load(DATA);
        end_trace();
        regions[1] = region_at(START + LENGTH + BETWEEN[i].instructions + START, streams);
        regions[1].thread = BETWEEN[i].thread;
        struct simulation simulation = simulate(regions, 2);
        assert_int_equal(simulation.counted.memory.l1d.misses, 1);
        assert_int_equal(simulation.counted.memory.dram_reads, BETWEEN[i].reads);
        simulation_free(&simulation);
        region_streams_free(streams);
    }
    machine = whole;
}

/* A region of loads from memory: with an idle one it takes more than a cycle an instruction. */
static void make_slow_trace(void) {
    begin_trace(START);
    for (uint64_t i = 0; i < LENGTH / 2; i++)
        load(DATA + 0x100000 * (i + 1));
    end_trace();
}

/* 100,000 instructions before the fifth region it loads a line, which then is there for as many
 * cycles. The time that these take is that of the first two regions, which are done by then: one
 * that is slow tells it, if it is of those, and not if it is the third one. */
static void time_is_told_by_regions_that_are_done(void **state) {
    (void)state;
    enum { REGIONS = 5 };
    const struct machine whole = machine;
    share_last_cache(&machine, 100000);
    for (size_t slow = 1; slow <= 2; slow++) {
        struct region_streams *streams = region_streams_new();
        struct region_trace regions[REGIONS];
        for (size_t i = 0; i < REGIONS; i++) {
            if (i == slow) {
                make_slow_trace();
            } else if (i + 1 < REGIONS) {
                make_idle_trace();
            } else {
                begin_trace(START - 100000);
                load(DATA);
                load(DATA + 0x1000);
                execute_until(START);
                load(DATA);
                end_trace();
            }
            regions[i] = region_at(START, streams);
        }
        struct simulation simulation = simulate(regions, REGIONS);
        assert_int_equal(last_dram_reads, slow == 1);
        simulation_free(&simulation);
        region_streams_free(streams);
    }
    machine = whole;
}

static int load_machine(void **state) {
    (void)state;
    struct error error;
    if (!machine_load("machines/zen4.ini", &machine, &error))
        return -1;
    machine.l1d.prefetcher = PREFETCH_STRIDE;
    machine.l1d.prefetch_degree = 1;
    machine.l1d.second_prefetcher = machine.l1d.third_prefetcher = PREFETCH_NONE;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shown_from_there_on),
                                       cmocka_unit_test(what_is_accessed_just_before_counts),
                                       cmocka_unit_test(time_passes_in_what_is_shown),
                                       cmocka_unit_test(lines_that_leave_the_l2_use_the_llc),
                                       cmocka_unit_test(what_lies_between_regions_is_like_the_next),
                                       cmocka_unit_test(time_is_told_by_regions_that_are_done)};
    return cmocka_run_group_tests(tests, load_machine, NULL);
}
