/* Throughput of chips, worked by hand: programs whose caches have one set, so that threads always
 * meet and contention is all or nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/throughput.h"

static void assert_near(double is, double should) {
    if (!(fabs(is - should) <= 1e-12 * fmax(fabs(should), 1)))
        fail_msg("%.17g should be %.17g", is, should);
}

/* L1D of one set of 2 ways, L2 of one set of 4; an L1D miss costs 8 cycles more than a hit, from
 * memory 108. */
static struct machine chip_of(uint32_t cores, uint32_t threads) {
    struct machine machine = {.name = "tiny", .page_size = 4096};
    machine.l1d = (struct machine_cache){.present = true, .size = 32, .ways = 2, .line = 16};
    machine.l2 =
        (struct machine_cache){.present = true, .size = 256, .ways = 4, .line = 64, .latency = 9};
    machine.dram.latency = 100;
    machine.chip = (struct machine_chip){.cores = cores, .threads = threads, .l2_banks = 1};
    return machine;
}

struct program {
    struct locality locality;
    struct locality_level levels[2];
    struct circular_count circular[2][4][LOCALITY_OCTAVES];
    double touched[2][4][LOCALITY_WINDOWS];
    uint64_t sequences[2], sets[2];
};

/* 1000 instructions with 500 accesses. Whatever the window, it touches one block of the one set. */
static void make(struct program *program, uint32_t l1d_misses, uint32_t l2_misses) {
    static const struct cache_shape SHAPES[] = {{1, 2, 16}, {1, 4, 64}};
    const uint32_t misses[] = {l1d_misses, l2_misses}, accesses[] = {500, l1d_misses};
    memset(program, 0, sizeof *program);
    program->locality = (struct locality){
        .events = {.instructions = 1000, .turns = 1000, .accesses = 500, .l1d_misses = l1d_misses},
        .level_count = 2,
        .levels = program->levels};
    for (int l = 0; l < 2; l++) {
        struct locality_level *level = &program->levels[l];
        *level = (struct locality_level){.shape = SHAPES[l],
                                         .run = 500,
                                         .accesses = accesses[l],
                                         .misses = misses[l],
                                         .circular = program->circular[l],
                                         .points = 9,
                                         .touched = program->touched[l],
                                         .set_sequences = &program->sequences[l],
                                         .set_touched = &program->sets[l]};
        for (uint32_t k = 0; k < level->points; k++)
            level->sets[k] = level->blocks[k] = program->touched[l][0][k] = 1;
        program->sets[l] = 1;
    }
}

/* `count` circular sequences of d blocks, 16 accesses long. */
static void add_sequences(struct program *program, int level, uint32_t d, uint64_t count) {
    program->circular[level][d - 1][4] = (struct circular_count){
        .count = count, .r = 16 * count, .n = 16 * count, .time = 16 * (double)count};
    program->sequences[level] += count;
}

static const struct throughput_options *options_of(const struct machine *machine) {
    static struct throughput_options options;
    options = (struct throughput_options){
        .machine = machine,
        .contention = {.model = CONTENTION_MEASURED, .groups = CONTENTION_GROUPS},
        .rounds = 1,
        .latency = LATENCY_MEAN};
    return &options;
}

static struct throughput_result predict(const struct locality *const *programs,
                                        const struct throughput_options *options) {
    struct throughput_result result;
    struct error error;
    if (!throughput_predict(programs, 1, options, &result, &error))
        fail_msg("%s", error.message);
    return result;
}

/* §4.4.2: 50 events of 5 cycles and 10 of 100 weigh 250 and 1000 of 1250 cycles: M = 81; their
 * plain mean is 1250 / 60. */
static void latency_of_several_causes(void **state) {
    (void)state;
    const struct throughput_stall stalls[] = {{50, 250}, {0, 0}, {10, 1000}};
    assert_near(throughput_latency(stalls, 3, LATENCY_BY_TIME), 81);
    assert_near(throughput_latency(stalls, 3, LATENCY_MEAN), 1250 / 60.);
    assert_near(throughput_latency(stalls, 0, LATENCY_MEAN), 1);
}

/* A thread alone: CPI = 1 + 0.09 × 8 + 0.01 × 108 = 2.8, and a chain with the mean latency says
 * the same. By time M = (8 × 0.72 + 108 × 1.08) / 1.8 = 68, 1 / (1 + 0.1 × 68) = 1 / 7.8. */
static void alone(void **state) {
    (void)state;
    struct program a;
    make(&a, 100, 10);
    const struct machine machine = chip_of(1, 1);
    const struct locality *programs[] = {&a.locality};
    struct throughput_options options = *options_of(&machine);
    struct throughput_result result = predict(programs, &options);
    for (int model = 0; model < THROUGHPUT_MODELS; model++)
        assert_near(result.ipc[model], 1 / 2.8);
    assert_near(result.by_core[0].p, 0.1);
    assert_near(result.by_core[0].latency, 18);
    throughput_free(&result);
    options.latency = LATENCY_BY_TIME;
    result = predict(programs, &options);
    assert_near(result.by_core[0].latency, 68);
    assert_near(result.ipc[THROUGHPUT_MARKOV], 1 / 7.8);
    throughput_free(&result);
}

/* What else suspends a thread: 10 operations of 31 cycles, 20 mispredictions of 3 + 1, 5 fetches
 * from the L2 of 8, one of them from memory, 100 more, 2 pages of 50, 1 system call of 200: CPI = 1
 * + (300 + 80 + 140 + 100 + 200) / 1000. The access whose page was missing issues once more: 1001
 * issue slots. */
static void every_cause(void **state) {
    (void)state;
    struct program a;
    make(&a, 0, 0);
    struct machine machine = chip_of(1, 1);
    machine.core.frontend_depth = 3;
    machine.core.redirect = 1;
    machine.classes[OP_BRANCH].latency = 1;
    machine.page_walk = 50;
    struct locality_events *events = &a.locality.events;
    events->long_operations = 10;
    events->long_cycles = 300;
    events->mispredictions = 20;
    events->l1i_misses = 5;
    events->code_lines = 1;
    events->dtlb_misses = events->itlb_misses = 1;
    events->system_events = 1;
    events->system_cycles = 200;
    const struct locality *programs[] = {&a.locality};
    struct throughput_result result = predict(programs, options_of(&machine));
    assert_near(result.by_thread[0].ipc_alone, 1 / 1.82);
    assert_near(result.by_core[0].p, 38 / 1001.);
    assert_near(result.ipc[THROUGHPUT_MARKOV], 1 / 1.82);
    throughput_free(&result);
}

/* Three states solved by hand, with w = 1/M, s = 1 − w:
 *     π2 (1 − s²) = π1 p s        π0 p = π1 (1 − p) w + π2 w² */
static double two_threads(double p, double latency) {
    const double w = 1 / latency, s = 1 - w, two = p * s / (1 - s * s);
    const double none = ((1 - p) * w + two * w * w) / p;
    return (none + 1) / (none + 1 + two);
}

/* Two copies in a core. In the L1D (2 ways) the other's one block leaves room for one block of
 * their own: 100 sequences of two blocks miss, those of one hit. In the L2 (4 ways) those of four
 * blocks, 60, miss. So of 1000 instructions 200 miss the L1D, 70 of these the L2: CPI alone 2.8,
 * with contention 1 + 0.13 × 8 + 0.07 × 108 = 9.6; p = 0.2, M = 8.6 / 0.2 = 43. By mean values a
 * thread finds the other ready 1/9.6 of the time. */
static void copies_contend(void **state) {
    (void)state;
    struct program a;
    make(&a, 100, 10);
    add_sequences(&a, 0, 1, 300);
    add_sequences(&a, 0, 2, 100);
    add_sequences(&a, 1, 3, 30);
    add_sequences(&a, 1, 4, 60);
    const struct machine machine = chip_of(1, 2);
    const struct locality *programs[] = {&a.locality, &a.locality};
    struct throughput_result result = predict(programs, options_of(&machine));
    assert_near(result.ipc[THROUGHPUT_SUM_OF_CYCLES], 1 / 2.8);
    assert_near(result.ipc[THROUGHPUT_SUM_OF_IPCS], 2 / 2.8);
    assert_near(result.ipc[THROUGHPUT_BERNOULLI], 1 - (1.8 / 2.8) * (1.8 / 2.8));
    assert_near(result.by_thread[1].extra_l1d, 0.1);
    assert_near(result.by_thread[1].extra_l2, 0.06);
    assert_near(result.by_thread[1].ipc, 1 / 9.6);
    assert_near(result.by_core[0].p, 0.2);
    assert_near(result.by_core[0].latency, 43);
    assert_near(result.ipc[THROUGHPUT_MARKOV], two_threads(0.2, 43));
    assert_near(result.by_thread[0].ipc_shared, 1 / (8.6 + 1 + 1 / 9.6));
    assert_near(result.ipc[THROUGHPUT_MEAN_VALUE], 2 / (8.6 + 1 + 1 / 9.6));
    throughput_free(&result);
}

/* The same copies, whose L1D loses 100 blocks of 1000 instructions: half way between the rates at
 * which foreign blocks cost it 50 and 150. At these 8 and 6 of its accesses to the L2 miss when it
 * is alone, in place of 10, and 40 and 80 more beside the copy: 7 + 60 - 10 more than alone. */
static void crowded_l1s_show_the_l2_other_blocks(void **state) {
    (void)state;
    struct program a, crowded[2];
    make(&a, 100, 10);
    add_sequences(&a, 0, 2, 100);
    for (int i = 0; i < 2; i++) {
        make(&crowded[i], 150 + 100 * i, 8 - 2 * i);
        add_sequences(&crowded[i], 1, 4, 40 + 40 * i);
        crowded[i].levels[1].foreign = 0.25 * (i + 1);
    }
    struct locality_level levels[] = {crowded[0].levels[1], crowded[1].levels[1]};
    a.levels[1].crowded = levels;
    a.levels[1].crowded_count = 2;
    const struct machine machine = chip_of(1, 2);
    const struct locality *programs[] = {&a.locality, &a.locality};
    struct throughput_result result = predict(programs, options_of(&machine));
    assert_near(result.by_thread[0].extra_l1d, 0.1);
    assert_near(result.by_thread[0].extra_l2, 0.057);
    throughput_free(&result);
}

/* The DTLB, too, has two ways here and sees what the L1D sees: of 1000 instructions 100 find
 * neither line nor page beside a copy of the program, and issue once more: 1.1 slots, 0.1 × 8 + 0.1
 * × 49 cycles of waiting. Lines of code, likewise: 0.1 × 8. */
static void translations_contend(void **state) {
    (void)state;
    struct program a;
    make(&a, 0, 0);
    add_sequences(&a, 0, 1, 300);
    add_sequences(&a, 0, 2, 100);
    a.locality.core[LOCALITY_DTLB] = a.locality.core[LOCALITY_L1I] = a.levels[0];
    struct machine machine = chip_of(1, 2);
    machine.l1i = machine.l1d;
    machine.page_walk = 50;
    const struct locality *programs[] = {&a.locality, &a.locality};
    struct throughput_result result = predict(programs, options_of(&machine));
    assert_near(result.by_thread[0].extra_core[LOCALITY_DTLB], 0.1);
    assert_near(result.by_thread[0].extra_core[LOCALITY_L1I], 0.1);
    assert_near(result.by_thread[0].extra_core[LOCALITY_ITLB], 0);
    assert_near(result.by_thread[0].ipc_alone, 1);
    assert_near(result.by_thread[0].ipc, 1 / (1.1 + 0.8 + 4.9 + 0.8));
    throughput_free(&result);
}

/* A with CPI 1 + 0.125 × 8 = 2 beside B, which never waits, on two cores in either order: of three
 * instructions one is A's, so p = 0.125 / 3, M = 8. By mean values B takes two of three slots, A
 * the third (1 of its 3 cycles waiting). Nothing is extra: sequences have one block. The L1Ds are
 * private: the cores disturb each other in the L2 alone, where four blocks have room. */
static void different_programs(void **state) {
    (void)state;
    struct program a, b;
    make(&a, 125, 0);
    make(&b, 0, 0);
    add_sequences(&a, 0, 1, 375);
    add_sequences(&a, 1, 1, 125);
    add_sequences(&b, 0, 1, 500);
    const struct machine machine = chip_of(3, 2);
    const struct locality *programs[] = {&a.locality, &b.locality, &b.locality,
                                         &a.locality, &b.locality, NULL};
    struct throughput_result result = predict(programs, options_of(&machine));
    const double core = two_threads(0.125 / 3, 8);
    assert_near(result.by_core[0].p, 0.125 / 3);
    assert_near(result.by_core[0].ipc[THROUGHPUT_MARKOV], core);
    assert_near(result.by_core[1].ipc[THROUGHPUT_MARKOV], core);
    assert_near(result.by_core[2].ipc[THROUGHPUT_MARKOV], 1);
    assert_near(result.ipc[THROUGHPUT_MARKOV], 2 * core + 1);
    assert_near(result.by_core[0].ipc[THROUGHPUT_SUM_OF_CYCLES], 0.75);
    assert_near(result.by_core[0].ipc[THROUGHPUT_BERNOULLI], 1);
    assert_near(result.by_core[1].ipc[THROUGHPUT_MEAN_VALUE], 1);
    assert_near(result.by_thread[0].ipc_shared, 1 / 3.);
    assert_near(result.by_thread[3].ipc_shared, 1 / 3.);
    assert_near(result.by_thread[2].ipc_shared, 2 / 3.);
    assert_near(result.by_thread[5].ipc_alone, 0);
    throughput_free(&result);
}

/* Every second instruction has two accesses and takes two issue slots: alone 1 / 1.5, and however
 * many threads there are, no more. */
static void turns_fill_the_core(void **state) {
    (void)state;
    struct program a;
    make(&a, 0, 0);
    a.locality.events.turns = 1500;
    const struct machine machine = chip_of(1, 2);
    const struct locality *programs[] = {&a.locality, &a.locality};
    struct throughput_result result = predict(programs, options_of(&machine));
    assert_near(result.ipc[THROUGHPUT_MARKOV], 1 / 1.5);
    assert_near(result.ipc[THROUGHPUT_BERNOULLI], 1 / 1.5);
    assert_near(result.ipc[THROUGHPUT_SUM_OF_IPCS], 2 / 1.5);
    throughput_free(&result);
}

static void refused(const struct locality *const *programs, const struct machine *machine,
                    const char *word) {
    struct throughput_result result;
    struct error error = {0};
    assert_false(throughput_predict(programs, 1, options_of(machine), &result, &error));
    if (!strstr(error.message, word))
        fail_msg("'%s' does not speak of %s", error.message, word);
    throughput_free(&result);
}

static void wrong_input(void **state) {
    (void)state;
    struct program a;
    make(&a, 0, 0);
    const struct locality *programs[] = {&a.locality}, *idle[] = {NULL};
    struct machine machine = chip_of(1, 1);
    refused(idle, &machine, "no hardware thread");
    machine.l2.size = 512;
    refused(programs, &machine, "other caches");
    machine = chip_of(2, 1000);
    refused(programs, &machine, "models take");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_of_several_causes),
        cmocka_unit_test(alone),
        cmocka_unit_test(every_cause),
        cmocka_unit_test(copies_contend),
        cmocka_unit_test(crowded_l1s_show_the_l2_other_blocks),
        cmocka_unit_test(translations_contend),
        cmocka_unit_test(different_programs),
        cmocka_unit_test(turns_fill_the_core),
        cmocka_unit_test(wrong_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
