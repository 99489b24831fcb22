/* Breakdowns measured behind a simulation: their length is the simulated one, threads are summed,
 * what runs idealised already costs nothing. */
#include "trace_script.h"

#include <math.h>

#include "simulate/simulate.h"

/* 0x1000: mov eax,[rdi]; add rdi,4; dec ecx; jnz 0x1000 */
#define LOOP "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6"

enum { INSNS = 4, ITERATIONS = 1000, CHUNKS = 12 };

static struct script script;
static struct machine machine;

static int load(void **state) {
    (void)state;
    struct error error;
    return machine_load("fields2004", &machine, &error) ? 0 : -1;
}

/* `threads` threads, each CHUNKS chunks of the loop through 16 MB of memory. */
static struct trace *make_trace(uint32_t threads) {
    static uint64_t events[CHUNKS][2 * ITERATIONS];
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, INSNS, LOOP, 10);
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
        for (unsigned i = 0; i < ITERATIONS; i++) {
            events[chunk][2 * i] = event_block(0);
            events[chunk][2 * i + 1] =
                event_access(0, 2, 0, 0x100000 + 1408 * (chunk * ITERATIONS + i));
        }
        for (uint32_t thread = 0; thread < threads; thread++)
            script_data(&script, thread, events[chunk], 2 * ITERATIONS);
    }
    for (uint32_t thread = 0; thread < threads; thread++)
        script_thread_end(&script, thread);
    return script_open(&script);
}

static struct simulation_options in_full(uint32_t ideal) {
    return (struct simulation_options){.machine = &machine,
                                       .ideal = ideal,
                                       .sampling = sampling_everything(),
                                       .selection = {.thread = -1},
                                       .graph = true,
                                       .one_thread = true};
}

/* Returns the simulated cycles. */
static uint64_t measure(uint32_t threads, const struct simulation_options *options,
                        struct breakdown *breakdown) {
    struct error error = {0};
    struct simulation simulation;
    struct trace *trace = make_trace(threads);
    if (!simulation_run(trace, options, &simulation, &error))
        fail_msg("%s", error.message);
    uint64_t cycles = simulation.cycles;
    *breakdown = simulation.breakdown;
    simulation.breakdown = (struct breakdown){0};
    assert_int_equal(breakdown->instructions, simulation.instructions);
    simulation_free(&simulation);
    trace_close(trace);
    return cycles;
}

static uint64_t simulate(uint32_t ideal) {
    struct error error = {0};
    struct simulation simulation;
    struct simulation_options run = in_full(ideal);
    run.graph = false;
    struct trace *trace = make_trace(1);
    assert_true(simulation_run(trace, &run, &simulation, &error));
    uint64_t cycles = simulation.cycles;
    simulation_free(&simulation);
    trace_close(trace);
    return cycles;
}

/* A graph begins with the first fetch, which came from memory: some 140 cycles after the core. */
static void expect_length(const struct breakdown *breakdown, uint64_t cycles) {
    if (!(breakdown->cycles[0] <= (double)cycles && breakdown->cycles[0] > (double)cycles - 150))
        fail_msg("%g is not about %g", breakdown->cycles[0], (double)cycles);
}

static void expect_within(double value, double expected, double part) {
    if (!(fabs(value - expected) <= part * expected))
        fail_msg("%g is not within %g of %g", value, part, expected);
}

/* The loop waits for memory: 12,000 misses of 100 cycles and more, as many at once as the window
 * holds. */
static void length_and_costs_are_the_simulated(void **state) {
    (void)state;
    struct breakdown breakdown;
    const struct simulation_options options = in_full(0);
    uint64_t cycles = measure(1, &options, &breakdown);
    static const uint32_t IDEALS[] = {IDEAL_DMISS, IDEAL_WIN, IDEAL_DL1, IDEAL_DMISS | IDEAL_BW};
    double before = (double)cycles - breakdown.cycles[0];
    assert_int_equal(breakdown.count, GRAPH_CATEGORIES);
    expect_length(&breakdown, cycles);
    for (size_t i = 0; i < sizeof IDEALS / sizeof *IDEALS; i++)
        expect_within(breakdown.cycles[IDEALS[i]], (double)simulate(IDEALS[i]) - before, 0.02);
    assert_true(breakdown_cost(&breakdown, IDEAL_DMISS) > 0.5 * breakdown.cycles[0]);
    breakdown_free(&breakdown);
}

static void threads_are_summed(void **state) {
    (void)state;
    struct breakdown one, three;
    struct simulation_options options = in_full(0);
    measure(1, &options, &one);
    options.one_thread = false;
    measure(3, &options, &three);
    for (uint32_t set = 0; set < breakdown_sets(&one); set++)
        if (!isnan(one.cycles[set]))
            assert_true(three.cycles[set] == 3 * one.cycles[set]);
    assert_int_equal(three.instructions, 3 * one.instructions);
    breakdown_free(&one);
    breakdown_free(&three);
}

static void the_ideal_costs_nothing(void **state) {
    (void)state;
    struct breakdown breakdown;
    const struct simulation_options options = in_full(IDEAL_DMISS | IDEAL_DLONG);
    uint64_t cycles = measure(1, &options, &breakdown);
    expect_length(&breakdown, cycles);
    assert_true(breakdown_cost(&breakdown, IDEAL_DMISS) == 0);
    assert_true(breakdown_icost(&breakdown, IDEAL_DMISS | IDEAL_WIN) == 0);
    breakdown_free(&breakdown);
}

static void expect_like(const struct breakdown *breakdown, const struct breakdown *whole,
                        double part) {
    for (uint32_t i = 0; i < GRAPH_CATEGORIES; i++) {
        double cost = breakdown_cost(breakdown, 1u << i) / breakdown->cycles[0];
        double expected = breakdown_cost(whole, 1u << i) / whole->cycles[0];
        if (!(fabs(cost - expected) < part))
            fail_msg("%s costs %g, not %g", whole->names[i], cost, expected);
    }
}

/* Of 48,000 instructions 8,000 in full, then windows of 2,000 in periods of 4,000, 8,000 and
 * 16,000: weighted, they are the run. */
static void windows_are_weighted(void **state) {
    (void)state;
    struct breakdown whole, weighted;
    struct simulation_options options = in_full(0);
    measure(1, &options, &whole);
    options.sampling = (struct sampling){.full = 8000, .window = 2000, .warm = 500, .windows = 2};
    uint64_t cycles = measure(1, &options, &weighted);
    expect_within(weighted.cycles[0], (double)cycles, 1e-9);
    expect_like(&weighted, &whole, 0.05);
    breakdown_free(&whole);
    breakdown_free(&weighted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_and_costs_are_the_simulated),
        cmocka_unit_test(threads_are_summed),
        cmocka_unit_test(the_ideal_costs_nothing),
        cmocka_unit_test(windows_are_weighted),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
