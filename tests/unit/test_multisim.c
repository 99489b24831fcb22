/* Many cores over one trace file count what simulation_run() counts, one at a time or several at
 * once; an interrupt leaves the rest undone. */
#include "unit/loop_trace.h"

#include "simulate/multisim.h"
#include "simulate/simulate.h"

enum { CHUNKS = 3, RUNS = 6 };

static char path[TEMPORARY_BYTES];
static struct machine machine, small;

/* Both threads go through the same 128 KiB. */
static uint64_t address_of(unsigned thread, unsigned chunk, unsigned iteration) {
    (void)thread;
    return 0x20000 + 128 * (chunk * LOOP_ITERATIONS + iteration) % 0x20000;
}

static int write_trace(void **state) {
    (void)state;
    struct error error = {0};
    write_loop_trace(path, "multisim", ISA_X86_64, CHUNKS, address_of);
    assert_true(machine_load("zen4", &machine, &error));
    small = machine;
    assert_true(machine_set(&small, "core.rob=8", &error));
    return 0;
}

static int remove_trace(void **state) {
    (void)state;
    return unlink(path);
}

static void fill(struct multisim_run *runs) {
    static const uint32_t IDEALS[RUNS] = {0,        IDEAL_DMISS, IDEAL_DL1 | IDEAL_SHALU,
                                          IDEAL_BW, 0,           IDEAL_WIN};
    for (int i = 0; i < RUNS; i++)
        runs[i] = (struct multisim_run){.machine = i < 4 ? &machine : &small, .ideal = IDEALS[i]};
}

static void expect_same(const struct multisim_run *run, const struct selection *selection) {
    struct error error = {0};
    struct simulation simulation;
    struct simulation_options options = {.machine = run->machine,
                                         .ideal = run->ideal,
                                         .sampling = sampling_everything(),
                                         .selection = *selection,
                                         .one_thread = true};
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    if (!simulation_run(trace, &options, &simulation, &error))
        fail_msg("%s", error.message);
    assert_true(run->done);
    assert_int_equal(run->cycles, simulation.cycles);
    assert_int_equal(run->instructions, simulation.instructions);
    simulation_free(&simulation);
    trace_close(trace);
}

static void counts_as_a_simulation_does(void **state) {
    (void)state;
    static const struct selection SELECTIONS[] = {{.thread = -1},
                                                  {.thread = 1, .skip = 5001, .limit = 3333}};
    for (int s = 0; s < 2; s++)
        for (uint32_t jobs = 0; jobs <= 2; jobs++) {
            const struct multisim_options options = {
                .trace = path, .selection = SELECTIONS[s], .jobs = jobs};
            struct multisim_run runs[RUNS];
            struct error error = {0};
            fill(runs);
            if (!multisim(&options, runs, RUNS, &error))
                fail_msg("%s", error.message);
            for (int i = 0; i < RUNS; i++)
                expect_same(&runs[i], &options.selection);
            assert_true(runs[0].cycles != runs[1].cycles);
            assert_true(runs[0].cycles != runs[4].cycles);
        }
}

static void what_is_done_stays(void **state) {
    (void)state;
    const struct multisim_options options = {.trace = path, .selection = {.thread = -1}};
    struct multisim_run runs[RUNS];
    struct error error = {0};
    fill(runs);
    runs[2].done = true;
    runs[2].cycles = 17;
    assert_true(multisim(&options, runs, RUNS, &error));
    assert_int_equal(runs[2].cycles, 17);
    assert_true(runs[3].done);
}

static volatile sig_atomic_t stop;

static void interrupt_leaves_the_rest(void **state) {
    (void)state;
    const struct multisim_options options = {
        .trace = path, .selection = {.thread = -1}, .watcher.stop = &stop};
    struct multisim_run runs[RUNS];
    struct error error = {0};
    stop = SIGINT;
    fill(runs);
    assert_true(multisim(&options, runs, RUNS, &error));
    for (int i = 0; i < RUNS; i++)
        assert_false(runs[i].done);
}

static void a_missing_trace_is_named(void **state) {
    (void)state;
    const struct multisim_options options = {.trace = "/nowhere/x.ctrace",
                                             .selection = {.thread = -1}};
    struct multisim_run runs[RUNS];
    struct error error = {0};
    fill(runs);
    assert_false(multisim(&options, runs, RUNS, &error));
    assert_non_null(strstr(error.message, "/nowhere/x.ctrace"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_as_a_simulation_does),
        cmocka_unit_test(what_is_done_stays),
        cmocka_unit_test(interrupt_leaves_the_rest),
        cmocka_unit_test(a_missing_trace_is_named),
    };
    return cmocka_run_group_tests(tests, write_trace, remove_trace);
}
