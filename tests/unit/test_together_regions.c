/* Hand-made threads on one chip, simulated by regions of their run. */
#include "together_script.h"

#include "simulate/region_forks.h"
#include "simulate/together_plan.h"
#include "unit/one_line_cache.h"

static uint8_t no_flags[INSNS + 8];
static struct watcher watcher; /* of the next run */
static uint32_t ideal;         /* likewise */
static struct region_forks *forks;

/* By regions, as run(). */
static void run_regions(const struct together_plan *plan) {
    struct error error = {0};
    write_trace();
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    together = (struct together){.path = path, .cores = 2, .plan = plan, .forks = forks};
    const struct simulation_options options = {.machine = &machine,
                                               .ideal = ideal,
                                               .sampling = sampling_everything(),
                                               .selection = {.thread = -1},
                                               .together = &together,
                                               .watcher = watcher};
    if (!simulation_run(trace, &options, &simulation, &error))
        fail_msg("%s", error.message);
    trace_close(trace);
}

/* One that lasts as long as the run is the run, and if it stands for three such, three times it. */
static void a_region_of_all_is_the_run(void **state) {
    (void)state;
    make_and_join(1000);
    run(2, 0, false);
    const struct simulation whole = simulation;
    simulation = (struct simulation){0};
    const uint64_t waited = whole.together.threads[0].cycles[THREAD_WAITING];
    assert_true(waited > 0);
    for (uint64_t weight = 1; weight <= 3; weight += 2) {
        struct planned_region region = {.work = whole.executed,
                                        .stands_for = weight * whole.executed};
        const struct together_plan plan = {.flags = no_flags,
                                           .regions = &region,
                                           .count = 1,
                                           .instructions = whole.executed,
                                           .work = whole.executed,
                                           .slices = 1};
        run_regions(&plan);
        const struct together_result *result = &simulation.together;
        assert_int_equal(result->regions, 1);
        assert_int_equal(result->cycles, weight * whole.together.cycles);
        assert_int_equal(simulation.cycles, weight * whole.cycles);
        assert_int_equal(simulation.instructions, weight * whole.executed);
        assert_int_equal(result->threads[0].cycles[THREAD_WAITING], weight * waited);
        assert_int_equal(result->wait_count, 1);
        assert_int_equal(result->waits[0].count, weight);
        assert_int_equal(result->course.active, weight * whole.together.course.active);
        assert_int_equal(result->courses[1].active, weight * whole.together.courses[1].active);
        simulation_free(&simulation);
    }
    simulation = whole;
    simulation_free(&simulation);
}

static volatile sig_atomic_t stop;

static void stop_behind(void *context, uint64_t done) {
    stop = done > *(const uint64_t *)context;
}

/* A region that stands for itself alone leaves no error, but what comes behind it is not known. */
static void what_was_interrupted_has_no_interval(void **state) {
    (void)state;
    enum { WORDS = 8000, LONG = 4000 };
    uint64_t enough = 2 * LONG;
    make_and_join(WORDS / 2);
    struct planned_region regions[] = {
        {.work = LONG, .stands_for = LONG},
        {.before = 6 * LONG, .work_before = 6 * LONG, .work = LONG, .stands_for = LONG}};
    const struct together_plan plan = {.flags = no_flags,
                                       .regions = regions,
                                       .count = 2,
                                       .instructions = WORDS * INSNS,
                                       .work = WORDS * INSNS,
                                       .slices = 2};
    stop = 0;
    watcher = (struct watcher){stop_behind, &enough, &stop};
    run_regions(&plan);
    watcher = (struct watcher){0};
    assert_true(simulation.interrupted);
    assert_int_equal(simulation.together.regions, 1);
    assert_true(simulation.together.interval < 0);
    simulation_free(&simulation);
}

/* The first thread waits for the other's end when the region begins, and still when it ends: all of
 * its cycles are waited, by nobody woken. */
static void a_region_begins_with_who_waits(void **state) {
    (void)state;
    enum { WORDS = 8000, BEFORE = (200 + 100) * INSNS + 2 + 4000, LONG = 8000 };
    make_and_join(WORDS / 2);
    struct planned_region region = {
        .before = BEFORE, .work_before = BEFORE, .work = LONG, .stands_for = LONG};
    const struct together_plan plan = {.flags = no_flags,
                                       .regions = &region,
                                       .count = 1,
                                       .warm_up = 1000,
                                       .instructions = WORDS * INSNS,
                                       .work = WORDS * INSNS,
                                       .slices = 1};
    run_regions(&plan);
    const struct together_result *result = &simulation.together;
    const struct together_thread *first = &result->threads[0], *second = first + 1;
    assert_int_equal(first->cycles[THREAD_WAITING], result->cycles);
    assert_int_equal(second->cycles[THREAD_RUNNING], result->cycles);
    assert_int_equal(first->cycles[THREAD_RUNNING], 0);
    assert_int_equal(result->waits[0].cycles, result->cycles);
    assert_int_equal(result->waits[0].count, 0);
    /* It ends between two pieces that are handed to a core. */
    assert_in_range(simulation.simulated, LONG, LONG + CORE_PUSH);
    assert_int_equal(simulation.instructions, simulation.simulated);
    assert_in_range(simulation.warmed, 1000, 1000 + 2 * CORE_PUSH);
    assert_int_equal(result->course.unknown, 0);
    simulation_free(&simulation);
}

/* Threads that run and one that waits go on, in new cores, as they would have: what is ideal anyway
 * takes the same cycles once more, and what is not saves what it saves in a run of its own: threads
 * that do not wait for each other are at the same places there. */
static void regions_simulated_again(void **state) {
    (void)state;
    enum { WORDS = 8000, LONG = 4000, COUNT = 6 };
    static const uint32_t IDEALS[] = {IDEAL_IMISS, IDEAL_DMISS};
    struct planned_region regions[COUNT];
    double saving, interval;
    make_and_join(WORDS / 2);
    for (uint64_t i = 0; i < COUNT; i++)
        regions[i] = (struct planned_region){
            .before = 2 * i * LONG, .work_before = 2 * i * LONG, .work = LONG, .stands_for = LONG};
    const struct together_plan plan = {.flags = no_flags,
                                       .regions = regions,
                                       .count = COUNT,
                                       .warm_up = 1000,
                                       .instructions = WORDS * INSNS,
                                       .work = WORDS * INSNS,
                                       .slices = COUNT};
    ideal = IDEAL_IMISS;
    run_regions(&plan);
    const uint64_t without = simulation.together.cycles;
    simulation_free(&simulation);
    forks = region_forks_new(IDEALS, 2, 2, COUNT, 2);
    run_regions(&plan);
    assert_int_equal(simulation.together.cycles, without);
    simulation_free(&simulation);
    assert_true(region_forks_saving(forks, IDEAL_IMISS, &saving, &interval));
    assert_float_equal(saving, 0, 0);
    assert_true(region_forks_saving(forks, IDEAL_DMISS, &saving, &interval));
    region_forks_free(forks);
    forks = NULL;
    ideal |= IDEAL_DMISS;
    run_regions(&plan);
    const double saved = 1 - (double)simulation.together.cycles / (double)without;
    simulation_free(&simulation);
    ideal = 0;
    assert_true(saved > 0.5);
    assert_float_equal(saving, saved, 1e-9);
}

/* The first thread is to read what the other writes behind the region: it waits for that, too. */
static void a_region_lies_in_a_wait_for_a_write(void **state) {
    (void)state;
    enum { WORDS = 4000, READS = 100, BEFORE = READS * INSNS + 4000, LONG = 8000 };
    uint64_t next[2 * READS + 4];
    uint32_t count = 0;
    begin();
    for (uint32_t i = 0; i <= READS; i++) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] = event_access(0, 2, 0, i < READS ? 0x1000000 + 4 * i : WORD);
    }
    next[count++] = event_mark(MARK_WRITER, 1);
    next[count++] = event_mark(MARK_WRITTEN, WORDS * INSNS + 1);
    script_data(&script, 0, next, count);
    add_work(1, WORDS);
    script_thread_end(&script, 0);
    script_thread_end(&script, 1);
    struct planned_region region = {
        .before = BEFORE, .work_before = BEFORE, .work = LONG, .stands_for = LONG};
    const struct together_plan plan = {.flags = no_flags,
                                       .regions = &region,
                                       .count = 1,
                                       .warm_up = 1000,
                                       .instructions = WORDS * INSNS,
                                       .work = WORDS * INSNS,
                                       .slices = 1};
    run_regions(&plan);
    const struct together_result *result = &simulation.together;
    assert_int_equal(result->threads[0].cycles[THREAD_SPINNING], result->cycles);
    assert_int_equal(result->wait_count, 1);
    assert_int_equal(result->waits[0].reason, WAIT_SPINNING);
    assert_int_equal(result->waits[0].address, WORD);
    assert_int_equal(result->waits[0].cycles, result->cycles);
    assert_int_equal(result->waits[0].count, 0);
    simulation_free(&simulation);
}

/* The second region has the write in it that the first thread waits for in both; behind it that one
 * works, too. How far the writer has come counts what a core did that has been replaced. */
static void a_write_in_a_region_simulated_again(void **state) {
    (void)state;
    enum { WORDS = 8000, READS = 100, LONG = 4000, WRITTEN = WORDS / 2 * INSNS + 1 };
    static const uint32_t IDEALS[] = {IDEAL_IMISS};
    uint64_t next[4 * READS + 4];
    uint32_t count = 0;
    double saving, interval;
    begin();
    for (uint32_t i = 0; i < 2 * READS; i++) {
        next[count++] = event_block(BLOCK_LOOP);
        next[count++] = event_access(0, 2, 0, i == READS ? WORD : 0x1000000 + 4 * i);
        if (i != READS)
            continue;
        next[count++] = event_mark(MARK_WRITER, 1);
        next[count++] = event_mark(MARK_WRITTEN, WRITTEN);
    }
    script_data(&script, 0, next, count);
    add_work(1, WORDS);
    script_thread_end(&script, 0);
    script_thread_end(&script, 1);
    struct planned_region regions[] = {
        {.work_before = READS * INSNS + LONG, .work = LONG, .stands_for = LONG},
        {.work_before = READS * INSNS + WRITTEN - LONG, .work = 2 * LONG, .stands_for = LONG}};
    regions[0].before = regions[0].work_before;
    regions[1].before = regions[1].work_before;
    const struct together_plan plan = {.flags = no_flags,
                                       .regions = regions,
                                       .count = 2,
                                       .warm_up = 1000,
                                       .instructions = WORDS * INSNS,
                                       .work = WORDS * INSNS,
                                       .slices = 2};
    ideal = IDEAL_IMISS;
    forks = region_forks_new(IDEALS, 1, 1, 2, 2);
    run_regions(&plan);
    assert_int_equal(simulation.together.waits[0].count, 1);
    simulation_free(&simulation);
    assert_true(region_forks_saving(forks, IDEAL_IMISS, &saving, &interval));
    assert_float_equal(saving, 0, 0);
    region_forks_free(forks);
    forks = NULL;
    ideal = 0;
}

/* A sleep in which no thread works lies in no region, or in one that stands for several such: it is
 * told once, either way. */
static void a_long_sleep_counts_once(void **state) {
    (void)state;
    enum { SLEEP_NS = 1000000, WORDS = 2000, ALL = 2 * (WORDS * INSNS + 1) };
    for (unsigned inside = 0; inside < 2; inside++) {
        begin();
        struct thread_event *sleep = add_event(0, THREAD_EVENT_BLOCK, WORDS);
        sleep->cause = THREAD_CAUSE_TIME;
        sleep->asked_ns = SLEEP_NS;
        add_work(0, WORDS);
        add_work(0, WORDS);
        script_thread_end(&script, 0);
        struct planned_region region = {.before = inside ? WORDS * INSNS - 500 : 1000,
                                        .work_before = inside ? WORDS * INSNS - 500 : 1000,
                                        .work = 1000,
                                        .stands_for = 5000};
        const struct together_plan plan = {.flags = no_flags,
                                           .regions = &region,
                                           .count = 1,
                                           .warm_up = 1000,
                                           .instructions = ALL,
                                           .work = ALL,
                                           .slices = 1};
        run_regions(&plan);
        const struct together_thread *thread = &simulation.together.threads[0];
        const double cycles = SLEEP_NS * machine.clock_ghz;
        assert_in_range(thread->cycles[THREAD_SLEEPING], (uint64_t)cycles - 1,
                        (uint64_t)cycles + 1);
        assert_int_equal(simulation.together.cycles,
                         thread->cycles[THREAD_SLEEPING] + thread->cycles[THREAD_RUNNING]);
        assert_int_equal(simulation.instructions, 5 * simulation.simulated);
        simulation_free(&simulation);
    }
}

/* A line is loaded shortly before a region, in what warms it, and another one takes its place in
 * the L1D, which has one. Others use the LLC too: there it stays 40,000 cycles, of which the
 * instructions before take 96,000, one each. The region finds it. */
static void what_warms_is_as_old_as_it_is(void **state) {
    (void)state;
    enum { WORDS = 4000, TIMES = 6, ALL = TIMES * (WORDS * INSNS + 1) + 1000 * INSNS };
    const struct machine whole = machine;
    share_last_cache(&machine, 40000);
    begin();
    for (uint32_t i = 0; i < TIMES; i++)
        add_work(0, WORDS);
    uint64_t last[2 * 1000];
    for (uint32_t i = 0; i < 1000; i++) {
        last[2 * i] = event_block(BLOCK_LOOP);
        last[2 * i + 1] = event_access(0, 2, 0, i == 0 || i == 200 ? 0x2000000 : 0x3000000);
    }
    script_data(&script, 0, last, 2000);
    script_thread_end(&script, 0);
    const uint64_t before = ALL - 900 * INSNS;
    struct planned_region region = {
        .before = before, .work_before = before, .work = 400 * INSNS, .stands_for = ALL};
    const struct together_plan plan = {.flags = no_flags,
                                       .regions = &region,
                                       .count = 1,
                                       .warm_up = 2000,
                                       .instructions = ALL,
                                       .work = ALL,
                                       .slices = 1};
    run_regions(&plan);
    assert_int_equal(simulation.together.regions, 1);
    assert_true(simulation.counted.memory.l1d.misses > 0);
    assert_int_equal(simulation.counted.memory.dram_reads, 0);
    simulation_free(&simulation);
    machine = whole;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_interrupted_has_no_interval),
        cmocka_unit_test(a_region_of_all_is_the_run),
        cmocka_unit_test(a_region_begins_with_who_waits),
        cmocka_unit_test(regions_simulated_again),
        cmocka_unit_test(a_region_lies_in_a_wait_for_a_write),
        cmocka_unit_test(a_write_in_a_region_simulated_again),
        cmocka_unit_test(a_long_sleep_counts_once),
        cmocka_unit_test(what_warms_is_as_old_as_it_is),
    };
    return cmocka_run_group_tests(tests, load_machine, remove_trace);
}
