/* Costs by multisim of a sample: those of simulations of the whole run, where all is drawn; threads
 * are summed; of a longer run what is drawn stands for the rest, and the interval holds the truth.
 */
#include "trace_script.h"

#include <math.h>

#include "simulate/sampled_multisim.h"
#include "simulate/simulate.h"

/* 0x1000: mov eax,[rdi]; add rdi,4; dec ecx; jnz 0x1000 */
#define LOOP "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6"

enum { INSNS = 4, ITERATIONS = 1000, CHUNKS = 12, WARM_CHUNKS = 9 };

static struct script script;
static struct machine machine;

static int load(void **state) {
    (void)state;
    struct error error;
    return machine_load("fields2004", &machine, &error) ? 0 : -1;
}

/* `threads` threads, each CHUNKS chunks of the loop, the first of them through 16 MB of memory, the
 * last `warm` in one line. */
static struct trace *make_trace(uint32_t threads, uint32_t warm) {
    static uint64_t events[CHUNKS][2 * ITERATIONS];
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, INSNS, LOOP, 10);
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
        const uint64_t step = chunk < CHUNKS - warm ? 1408 : 0;
        for (unsigned i = 0; i < ITERATIONS; i++) {
            events[chunk][2 * i] = event_block(0);
            events[chunk][2 * i + 1] =
                event_access(0, 2, 0, 0x100000 + step * (chunk * ITERATIONS + i));
        }
        for (uint32_t thread = 0; thread < threads; thread++)
            script_data(&script, thread, events[chunk], 2 * ITERATIONS);
    }
    for (uint32_t thread = 0; thread < threads; thread++)
        script_thread_end(&script, thread);
    return script_open(&script);
}

struct measured {
    struct sampled_multisim_result result;
    struct multisim_run_cycles run;
    uint64_t cycles;
};

static struct measured measure(struct trace *trace, uint32_t ideal,
                               const struct multisim_draw *draw) {
    struct error error = {0};
    struct simulation simulation;
    struct measured measured = {0};
    struct sampled_multisim *multisim = sampled_multisim_new(
        &machine, draw ? ideal : 0, draw ? *draw : (struct multisim_draw){.cell = 1}, &error);
    const struct instruction_observer observer = sampled_multisim_observer(multisim);
    const struct simulation_options options = {.machine = &machine,
                                               .ideal = ideal,
                                               .sampling = sampling_everything(),
                                               .selection = {.thread = -1},
                                               .instructions = &observer,
                                               .instruction_observer_count = draw ? 1 : 0,
                                               .one_thread = true};
    if (!simulation_run(trace, &options, &simulation, &error))
        fail_msg("%s", error.message);
    measured.result = sampled_multisim_result(multisim);
    measured.run = multisim_run_cycles(simulation.cells, simulation.cell_count);
    measured.cycles = simulation.cycles;
    simulation_free(&simulation);
    trace_close(trace);
    sampled_multisim_free(multisim);
    return measured;
}

/* What idealising the set saves of the whole run, simulated. */
static double truth(uint32_t threads, uint32_t warm, uint32_t ideal, uint32_t set) {
    const double before = (double)measure(make_trace(threads, warm), ideal, NULL).cycles;
    return 1 - (double)measure(make_trace(threads, warm), ideal | set, NULL).cycles / before;
}

static void expect_near(double value, double expected, double most) {
    if (!(fabs(value - expected) <= most))
        fail_msg("%g, not %g", value, expected);
}

static const struct multisim_draw ALL = {
    .cell = 8000, .beginning = 1000000, .in_full = {1000000, 1000000}, .all_pairs = 1000000};
static const uint32_t SETS[] = {
    IDEAL_DMISS, IDEAL_WIN, IDEAL_DL1, IDEAL_BW, IDEAL_DMISS | IDEAL_BW, IDEAL_DMISS | IDEAL_WIN};

/* Of 48,000 instructions six cells: the cores begin six times with nothing in flight. */
static void what_is_drawn_in_full_is_the_truth(void **state) {
    (void)state;
    const struct measured measured = measure(make_trace(1, 0), 0, &ALL);
    assert_int_equal(measured.result.cells, 6);
    assert_int_equal(measured.result.instructions, 48000);
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++) {
        const struct multisim_cost cost =
            sampled_multisim_cost(&measured.result, &measured.run, SETS[i]);
        expect_near(cost.share, truth(1, 0, 0, SETS[i]), 0.01);
        assert_true(cost.half_interval == 0);
    }
}

/* Each begins with caches of its own: what one of them saves three save of three times as much. */
static void threads_begin_cold_each(void **state) {
    (void)state;
    const struct measured measured = measure(make_trace(3, WARM_CHUNKS), 0, &ALL);
    assert_int_equal(measured.result.cells, 18);
    const struct multisim_cost cost =
        sampled_multisim_cost(&measured.result, &measured.run, IDEAL_DMISS);
    expect_near(cost.share, truth(3, WARM_CHUNKS, 0, IDEAL_DMISS), 0.01);
    assert_true(cost.share > 0.3);
}

static void the_ideal_costs_nothing(void **state) {
    (void)state;
    const struct measured measured = measure(make_trace(1, 0), IDEAL_DMISS, &ALL);
    assert_true(sampled_multisim_cost(&measured.result, &measured.run, IDEAL_DMISS).share == 0);
    expect_near(sampled_multisim_cost(&measured.result, &measured.run, IDEAL_BW).share,
                truth(1, 0, IDEAL_DMISS, IDEAL_BW), 0.01);
}

/* Cells of 8,000; of those behind N instructions 10,000 / N are drawn, where the credit is 1:
 *
 *     k       0    1    2     3      4     5
 *     adds    1    1   5/8   5/12   5/16  1/4
 *     credit  1    1   5/8  25/24  17/48 29/48
 *
 * so three cells stand for 1 + 1 + 12/5 cells. Data miss in the first one and a half alone: the
 * ratio to cycles with misses tells what they are of the run. */
static void what_is_drawn_stands_for_the_rest(void **state) {
    (void)state;
    const struct multisim_draw draw = {
        .cell = 8000, .beginning = 1000000, .in_full = {10000, 10000}, .all_pairs = 1000000};
    const struct measured measured = measure(make_trace(1, WARM_CHUNKS), 0, &draw);
    const double expected = truth(1, WARM_CHUNKS, 0, IDEAL_DMISS);
    const struct multisim_cost cost =
        sampled_multisim_cost(&measured.result, &measured.run, IDEAL_DMISS);
    assert_int_equal(measured.result.cells, 3);
    expect_near(cost.share, expected, 0.005);
    assert_true(cost.half_interval == 0); /* no other cell has such cycles */
}

/* Parts of a run are added. */
static void parts_are_summed(void **state) {
    (void)state;
    struct measured one = measure(make_trace(1, 0), 0, &ALL), sum = one;
    sampled_multisim_sum(&sum.result, &one.result);
    assert_int_equal(sum.result.cells, 12);
    assert_true(sampled_multisim_cost(&sum.result, &sum.run, IDEAL_DMISS).share ==
                sampled_multisim_cost(&one.result, &one.run, IDEAL_DMISS).share);
    struct breakdown breakdown;
    struct error error;
    assert_true(sampled_multisim_breakdown(&sum.result, &sum.run, &breakdown, &error));
    expect_near(breakdown_cost(&breakdown, IDEAL_DMISS) / breakdown.cycles[0],
                sampled_multisim_cost(&one.result, &one.run, IDEAL_DMISS).share, 1e-9);
    expect_near(breakdown_icost(&breakdown, IDEAL_DMISS | IDEAL_WIN) / breakdown.cycles[0],
                sampled_multisim_icost(&one.result, &one.run, IDEAL_DMISS | IDEAL_WIN).share, 1e-9);
    assert_true(isnan(breakdown.cycles[IDEAL_DMISS | IDEAL_WIN | IDEAL_BW]));
    breakdown_free(&breakdown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_drawn_in_full_is_the_truth),
        cmocka_unit_test(threads_begin_cold_each),
        cmocka_unit_test(the_ideal_costs_nothing),
        cmocka_unit_test(what_is_drawn_stands_for_the_rest),
        cmocka_unit_test(parts_are_summed),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
