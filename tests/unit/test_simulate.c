/* Hand-made traces through simulation_run(): sums exact, weights as the schedule says, threads
 * apart, selections cut to the instruction. */
#include "trace_script.h"

#include "simulate/simulate.h"
#include "unit/one_line_cache.h"

static struct script script;
static struct machine machine;
static struct simulation simulation;
static struct simulation_options options;

/* 0x1000: mov eax,[rdi]; add rdi,4; dec ecx; jnz 0x1000   0x100a: ret. dec and jnz may fuse. */
#define LOOP "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6"

enum { INSNS = 4, ITERATIONS = 1000 };

/* `chunks` chunks of ITERATIONS × INSNS instructions each of `threads` threads, in turn. */
static void make_trace(unsigned threads, unsigned chunks) {
    static uint64_t events[2 * ITERATIONS];
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, INSNS, LOOP, 10);
    for (unsigned i = 0; i < ITERATIONS; i++) {
        events[2 * i] = event_block(0);
        events[2 * i + 1] = event_access(0, 2, 0, 0x2000 + 4 * i);
    }
    for (unsigned chunk = 0; chunk < chunks; chunk++)
        for (unsigned thread = 0; thread < threads; thread++)
            script_data(&script, thread, events, 2 * ITERATIONS);
    for (unsigned thread = 0; thread < threads; thread++)
        script_thread_end(&script, thread);
    options = (struct simulation_options){
        .machine = &machine, .sampling = sampling_everything(), .selection = {.thread = -1}};
}

static void run(void) {
    struct error error = {0};
    struct trace *trace = script_open(&script);
    if (!simulation_run(trace, &options, &simulation, &error))
        fail_msg("%s", error.message);
    trace_close(trace);
}

static void expect_sums(void) {
    uint64_t states = 0, units = 0, executions = 0;
    for (int state = 0; state < STATE_COUNT; state++)
        states += simulation.states[state];
    for (uint64_t i = 0; i < simulation.cell_count; i++)
        units += simulation.cells[i].units;
    for (uint32_t i = 0; i < simulation.execution_count; i++)
        executions += simulation.executions[i];
    assert_true(simulation.cycles > 0);
    assert_int_equal(states, simulation.cycles);
    assert_int_equal(units, simulation.cycles * CYCLE_UNITS);
    assert_int_equal(executions, simulation.instructions);
    assert_int_equal(simulation.counted.instructions, simulation.instructions);
    uint64_t cycles = 0, instructions = 0;
    for (uint32_t i = 0; i < simulation.thread_count; i++) {
        cycles += simulation.threads[i].cycles;
        instructions += simulation.threads[i].instructions;
    }
    assert_int_equal(cycles, simulation.cycles);
    assert_int_equal(instructions, simulation.instructions);
}

static void everything_sums(void **state) {
    (void)state;
    make_trace(1, 5);
    run();
    expect_sums();
    assert_int_equal(simulation.instructions, 5 * ITERATIONS * INSNS);
    assert_int_equal(simulation.simulated, simulation.instructions);
    assert_int_equal(simulation.executed, simulation.instructions);
    for (int i = 0; i < INSNS; i++)
        assert_int_equal(simulation.executions[i], 5 * ITERATIONS);
    assert_int_equal(simulation.levels, 0);
    simulation_free(&simulation);
}

/* Threads on cores of their own: each takes as long as it would alone. */
static void threads_are_summed(void **state) {
    (void)state;
    make_trace(1, 3);
    run();
    uint64_t alone = simulation.cycles;
    simulation_free(&simulation);
    make_trace(3, 3);
    run();
    expect_sums();
    assert_int_equal(simulation.thread_count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(simulation.threads[i].cycles, alone);
    assert_int_equal(simulation.cycles, 3 * alone);
    simulation_free(&simulation);
}

/* Of 40,000 instructions: 0-9,999 all; level 1 (periods of 2,000) windows of 1,000 that end at
 * 12,000 14,000 16,000 18,000; level 2 (4,000) at 22,000 26,000 30,000 34,000; level 3 (8,000) has
 * no window before 40,000 but 41,000-41,999. So 10,000 + 4 × 1,000 × 2 + 4 × 1,000 × 4 = 34,000 are
 * stood for. Warmed: 500 before each of 8 windows. */
static void weights_follow_schedule(void **state) {
    (void)state;
    make_trace(1, 10);
    options.sampling = (struct sampling){.full = 10000, .window = 1000, .warm = 500, .windows = 4};
    run();
    expect_sums();
    assert_int_equal(simulation.executed, 40000);
    assert_int_equal(simulation.simulated, 18000);
    assert_int_equal(simulation.warmed, 4000);
    assert_int_equal(simulation.instructions, 34000);
    assert_int_equal(simulation.levels, 3);
    assert_int_equal(sampling_windows(&simulation.spread), 8);
    assert_int_equal(simulation.spread.level[1].windows, 4);
    assert_true(sampling_interval(&simulation.spread) >= 0);
    simulation_free(&simulation);
}

/* The same with two threads in turn: windows hold whatever ran then. */
static void sampling_spans_threads(void **state) {
    (void)state;
    make_trace(2, 5);
    options.sampling = (struct sampling){.full = 10000, .window = 1000, .warm = 500, .windows = 4};
    run();
    expect_sums();
    assert_int_equal(simulation.instructions, 34000);
    simulation_free(&simulation);
}

/* Thread 0 loads two lines, of which the L1D has one, in a first window of two iterations; in the
 * next one it loads them again. Others use the LLC too: there a line stays 40,000 cycles. The last
 * block of a chunk comes with the thread's next one. */
static uint64_t misses_when_skipped(unsigned thread) {
    static uint64_t first[6], skipped[2 * ITERATIONS], last[2 * ITERATIONS];
    for (unsigned i = 0; i < 2 * ITERATIONS; i += 2) {
        skipped[i] = last[i] = event_block(0);
        skipped[i + 1] = last[i + 1] = event_access(0, 2, 0, 0x3000);
    }
    last[1] = event_access(0, 2, 0, 0x2000);
    memcpy(first, last, sizeof first);
    make_trace(0, 0);
    script_data(&script, 0, first, 6);
    script_data(&script, thread, skipped, 2 * ITERATIONS);
    script_data(&script, 0, last, 2 * ITERATIONS);
    script_thread_end(&script, 0);
    options.sampling =
        (struct sampling){.full = 2 * INSNS, .window = ITERATIONS * INSNS, .windows = 1};
    run();
    expect_sums();
    const uint64_t misses = simulation.counted.memory.llc.misses;
    simulation_free(&simulation);
    return misses;
}

/* The first window waits for memory: its CPI is above 10. So what thread 0 itself skips takes more
 * than 40,000 cycles, and it misses both lines, in a window that stands for two; what thread 1
 * skips takes it no time. */
static void others_go_on_while_its_own_is_skipped(void **state) {
    (void)state;
    const struct machine whole = machine;
    share_last_cache(&machine, 40000);
    assert_int_equal(misses_when_skipped(0), misses_when_skipped(1) + 2 * 2);
    machine = whole;
}

static bool locate_nothing(void *context, const struct code_image *image, uint64_t offset,
                           struct path_extent *extent) {
    (void)context, (void)image, (void)offset, (void)extent;
    return false;
}

/* What a core that has loaded two lines knows, of which the L1D has the second one. */
static struct core_learned after_two_loads(void) {
    struct error error;
    struct core_learned learned;
    struct core *core = core_new(&machine, &(struct core_options){0}, &error);
    assert_non_null(core);
    assert_true(core_finish(core, &error));
    core_give(core, &learned);
    core_free(core);
    memory_warm_load(learned.memory, 0x2000, 4, 0, false);
    memory_warm_load(learned.memory, 0x3000, 4, 0, false);
    return learned;
}

/* A region loads the first line, which stays in the LLC for the time of 3,000 instructions. The
 * 8,000 before the region are part of what its core knows, also where calls are followed. */
static void what_leads_to_a_region_is_known(void **state) {
    (void)state;
    const struct path_extents extents = {.locate = locate_nothing};
    const struct machine whole = machine;
    share_last_cache(&machine, 3000);
    for (int followed = 0; followed < 2; followed++) {
        struct core_learned learned = after_two_loads();
        make_trace(1, 3);
        options.sampling = sampling_region(8000, 8004, 0);
        options.learned = &learned;
        options.details.extents = followed ? &extents : NULL;
        run();
        assert_int_equal(simulation.simulated, 4);
        assert_int_equal(simulation.counted.memory.l1d.misses, 1);
        assert_int_equal(simulation.counted.memory.page_walks, 1);
        assert_int_equal(simulation.counted.memory.dram_reads, 2); /* code, and its page's entry */
        simulation_free(&simulation);
        core_learned_free(&learned);
    }
    machine = whole;
}

static void selection_is_exact(void **state) {
    (void)state;
    make_trace(2, 4);
    options.selection = (struct selection){.skip = 1001, .limit = 7002, .thread = 1};
    run();
    expect_sums();
    assert_int_equal(simulation.instructions, 7002);
    assert_int_equal(simulation.threads[0].instructions, 0);
    /* It began at instruction 1 of the loop: instructions 1 and 2 came once more than 3 and 0. */
    assert_int_equal(simulation.executions[1], 1751);
    assert_int_equal(simulation.executions[2], 1751);
    assert_int_equal(simulation.executions[3], 1750);
    assert_int_equal(simulation.executions[0], 1750);
    simulation_free(&simulation);
}

static void unknown_function_is_an_error(void **state) {
    (void)state;
    make_trace(1, 1);
    options.selection = (struct selection){.from_symbol = "no_such_function", .thread = -1};
    struct error error = {0};
    struct trace *trace = script_open(&script);
    assert_false(simulation_run(trace, &options, &simulation, &error));
    assert_non_null(strstr(error.message, "no_such_function"));
    assert_int_equal(simulation.cycles, 0);
    simulation_free(&simulation);
    trace_close(trace);
}

static void stop_ends_the_run(void **state) {
    (void)state;
    volatile sig_atomic_t stop = 1;
    make_trace(1, 5);
    options.watcher.stop = &stop;
    run();
    assert_true(simulation.interrupted);
    assert_int_equal(simulation.cycles, 0);
    simulation_free(&simulation);
}

/* What was done before an error of the trace stays: here a chunk that does not continue its
 * thread. */
static void error_keeps_what_was_done(void **state) {
    (void)state;
    make_trace(1, 4);
    unsigned chunks = 0;
    for (size_t i = 0; i < script.count; i++)
        if (script.items[i].kind == ITEM_DATA && ++chunks == 3)
            script.items[i].data.process = 7;
    struct error error = {0};
    struct trace *trace = script_open(&script);
    assert_false(simulation_run(trace, &options, &simulation, &error));
    assert_true(error.message[0]);
    expect_sums();
    assert_in_range(simulation.instructions, 4 * ITERATIONS, 2 * ITERATIONS * INSNS);
    simulation_free(&simulation);
    trace_close(trace);
}

/* TEA of every cycle of all cores is the golden reference; the summary of commits has every cycle.
 */
static void profiles_see_every_core(void **state) {
    (void)state;
    const struct profile_options tea = {.profiler = profiler_find("TEA"),
                                        .sampling = {.period = 1}};
    make_trace(3, 3);
    options.profiles = &tea;
    options.profile_count = options.profile_threads = 1;
    options.observe_commits = true;
    run();
    expect_sums();
    assert_int_equal(simulation.profile_count, 1);
    assert_int_equal(simulation.profiles[0].result.samples, simulation.cycles);
    uint64_t count;
    struct pics_cell *cells = pics_cells(simulation.profiles[0].result.pics, &count);
    assert_int_equal(count, simulation.cell_count);
    assert_memory_equal(cells, simulation.cells, count * sizeof *cells);
    free(cells);
    uint64_t cycles = 0;
    for (int category = 0; category < CATEGORY_COUNT; category++)
        cycles += simulation.commits.categories[category];
    assert_int_equal(cycles, simulation.cycles);
    assert_int_equal(simulation.commits.executions, simulation.uops);
    simulation_free(&simulation);
}

/* Twelve profilers, on one thread and on five. */
static void profiles_do_not_depend_on_threads(void **state) {
    (void)state;
    struct profile_options profiles[12];
    struct {
        struct pics_cell *cells;
        uint64_t count, samples;
    } first[12];
    for (int i = 0; i < 12; i++)
        profiles[i] = (struct profile_options){
            .profiler = profilers[i],
            .sampling = {.mode = SAMPLER_RANDOM, .samples = 500, .seed = 3}};
    for (unsigned threads = 1; threads <= 5; threads += 4) {
        make_trace(2, 4);
        options.profiles = profiles;
        options.profile_count = 12;
        options.profile_threads = threads;
        run();
        for (int i = 0; i < 12; i++) {
            const struct profile_result *result = &simulation.profiles[i].result;
            uint64_t count;
            struct pics_cell *cells = pics_cells(result->pics, &count);
            if (threads == 1) {
                assert_in_range(result->samples, 450, 1000);
                first[i].cells = cells;
                first[i].count = count;
                first[i].samples = result->samples;
                continue;
            }
            assert_int_equal(result->samples, first[i].samples);
            assert_int_equal(count, first[i].count);
            assert_memory_equal(cells, first[i].cells, count * sizeof *cells);
            free(cells);
            free(first[i].cells);
        }
        simulation_free(&simulation);
    }
}

/* Two threads of 12,000 instructions in chunks of 4,000; slices of 2,500: four whole ones and 2,000
 * at the end. Each iteration is one load. */
static void slices_are_the_run(void **state) {
    (void)state;
    static const struct slicing slicing = {.size = 2500};
    make_trace(2, 3);
    options.slicing = &slicing;
    run();
    expect_sums();
    assert_int_equal(simulation.slice_count, 10);
    uint64_t cycles = 0, states[STATE_COUNT] = {0}, units = 0, misses = 0;
    for (unsigned i = 0; i < 10; i++) {
        const struct slice_record *slice = &simulation.slices[i];
        uint64_t in_states = 0, in_parts = 0;
        assert_int_equal(slice->thread, i / 5);
        assert_int_equal(slice->first, i % 5 * 2500);
        assert_int_equal(slice->instructions, i % 5 < 4 ? 2500 : 2000);
        assert_int_equal(slice->counted.instructions, slice->instructions);
        assert_int_equal(slice->counted.loads, slice->instructions / INSNS);
        for (int k = 0; k < STATE_COUNT; k++) {
            in_states += slice->states[k];
            states[k] += slice->states[k];
        }
        for (int part = 0; part < PART_COUNT; part++)
            in_parts += slice->parts[part];
        assert_int_equal(in_states, slice->cycles);
        assert_int_equal(in_parts, slice->cycles * CYCLE_UNITS);
        cycles += slice->cycles;
        units += in_parts;
        misses += slice->counted.memory.l1d.misses;
    }
    assert_int_equal(cycles, simulation.cycles);
    assert_int_equal(units, simulation.cycles * CYCLE_UNITS);
    assert_int_equal(misses, simulation.counted.memory.l1d.misses);
    for (int k = 0; k < STATE_COUNT; k++)
        assert_int_equal(states[k], simulation.states[k]);
    simulation_free(&simulation);
}

/* Thread 1 ends slices at 1 and 7,999, thread 0 nowhere. */
static void slices_end_where_told(void **state) {
    (void)state;
    struct slice_end ends[] = {{1, 7999}, {1, 1}, {1, 7999}};
    struct slicing slicing = {.ends = ends, .end_count = slice_ends_sort(ends, 3)};
    static const uint64_t expected[][3] = {{0, 0, 8000}, {1, 0, 1}, {1, 1, 7998}, {1, 7999, 1}};
    make_trace(2, 2);
    options.slicing = &slicing;
    run();
    expect_sums();
    assert_int_equal(slicing.end_count, 2);
    assert_int_equal(simulation.slice_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(simulation.slices[i].thread, expected[i][0]);
        assert_int_equal(simulation.slices[i].first, expected[i][1]);
        assert_int_equal(simulation.slices[i].instructions, expected[i][2]);
    }
    simulation_free(&simulation);
}

/* Instructions 9,001 to 13,000 of 40,000, warmed by the 3,000 before: of the loop's four, each a
 * thousand times. */
static void region_alone(void **state) {
    (void)state;
    make_trace(1, 10);
    options.sampling = sampling_region(9001, 13001, 3000);
    run();
    expect_sums();
    assert_int_equal(simulation.executed, 13001);
    assert_int_equal(simulation.warmed, 3000);
    assert_int_equal(simulation.simulated, 4000);
    assert_int_equal(simulation.instructions, 4000);
    for (int i = 0; i < INSNS; i++)
        assert_int_equal(simulation.executions[i], 1000);
    uint64_t misses = simulation.counted.memory.l1d.misses;
    assert_int_equal(misses, 0); /* every chunk goes over the same 4,000 bytes */
    simulation_free(&simulation);
    options.sampling = sampling_region(8000, 12000, 0);
    run();
    assert_true(simulation.counted.memory.l1d.misses > 0);
    simulation_free(&simulation);
}

/* What faulted is simulated with the slice that it stands in, and counts nowhere. */
static void faults_do_not_count(void **state) {
    (void)state;
    const struct dynamic_insn insns[] = {{.insn = 0}, {.insn = 1, .flags = DYN_FAULT}, {.insn = 2},
                                         {.insn = 3}, {.insn = 1, .flags = DYN_FAULT}, {.insn = 2}};
    const struct trace_batch batch = {.insns = insns, .insn_count = 6};
    uint32_t counted;
    assert_int_equal(batch_count(&batch, 0, 2, &counted), 3);
    assert_int_equal(counted, 2);
    assert_int_equal(batch_count(&batch, 3, 1, &counted), 4);
    assert_int_equal(counted, 1);
    assert_int_equal(batch_count(&batch, 4, UINT64_MAX, &counted), 6);
    assert_int_equal(counted, 1);
    assert_int_equal(batch_count(&batch, 2, 0, &counted), 2);
    assert_int_equal(counted, 0);
}

static int load_machine(void **state) {
    (void)state;
    struct error error;
    return machine_load("machines/zen4.ini", &machine, &error) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_sums),
        cmocka_unit_test(threads_are_summed),
        cmocka_unit_test(weights_follow_schedule),
        cmocka_unit_test(sampling_spans_threads),
        cmocka_unit_test(others_go_on_while_its_own_is_skipped),
        cmocka_unit_test(what_leads_to_a_region_is_known),
        cmocka_unit_test(selection_is_exact),
        cmocka_unit_test(unknown_function_is_an_error),
        cmocka_unit_test(stop_ends_the_run),
        cmocka_unit_test(error_keeps_what_was_done),
        cmocka_unit_test(profiles_see_every_core),
        cmocka_unit_test(profiles_do_not_depend_on_threads),
        cmocka_unit_test(slices_are_the_run),
        cmocka_unit_test(slices_end_where_told),
        cmocka_unit_test(region_alone),
        cmocka_unit_test(faults_do_not_count),
    };
    return cmocka_run_group_tests(tests, load_machine, NULL);
}
