/* The dependence graph of programs that ran on the little machine of core_fixture.h: its costs,
 * which are known, and its times beside the run's. */
#include "graph_fixture.h"

#include <math.h>

#include "core_fixture.h"
#include "graph/breakdown.h"
#include "graph/build.h"
#include "graph/lanes.h"

enum { LINE = 64, HIGH = 0x100000, FAR = 0x200000 };

struct built {
    struct graph_uop *uops;
    uint32_t count;
};

static bool keep_uops(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                      uint32_t count, bool first, struct error *error) {
    struct built *built = context;
    (void)lives;
    (void)error;
    assert_int_equal(first, built->count == 0);
    built->uops = realloc(built->uops, (built->count + count) * sizeof *uops);
    assert_non_null(built->uops);
    memcpy(built->uops + built->count, uops, count * sizeof *uops);
    built->count += count;
    return true;
}

static struct built build(struct program_fixture *program, const struct machine *machine) {
    struct built built = {0};
    const struct graph_sink sink = {keep_uops, &built};
    struct graph_builder *builder = graph_builder_new(machine, program->code.isa, &sink);
    assert_non_null(builder);
    struct tap_worker worker = graph_builder_worker(builder);
    program->worker = &worker;
    simulate_on(program, machine, 0, FIXTURE_DYNAMIC, NULL, NULL);
    program->worker = NULL;
    graph_builder_free(builder);
    assert_int_equal(built.count, program->life_count);
    return built;
}

/* The graph's node times are those of the run; returns how many µops were different, once set
 * right, so that those behind are not counted as well. */
static uint32_t compare_with_run(struct program_fixture *program, const struct machine *machine) {
    struct built built = build(program, machine);
    struct graph_machine graph;
    graph_machine_of(machine, &graph);
    struct graph_evaluation *evaluation = graph_evaluation_new(&graph, 0);
    int64_t move = 0;
    uint32_t different = 0;
    for (uint32_t i = 0; i < built.count; i++) {
        const struct graph_nodes *nodes = graph_evaluate(evaluation, &built.uops[i]);
        const struct life *life = &program->lives[i];
        if (i == 0)
            move = (int64_t)life->fetch - nodes->fetch;
        bool same = nodes->fetch + move == (int64_t)life->fetch &&
                    nodes->dispatch + move == (int64_t)life->dispatch &&
                    nodes->complete + move == (int64_t)life->complete &&
                    nodes->commit + move == (int64_t)life->commit;
        different += !same;
        move = (int64_t)life->commit - nodes->commit;
    }
    graph_evaluation_free(evaluation);
    free(built.uops);
    return different;
}

/* t(S) of categories that each idealise parts of one instruction. */
static void measure(struct program_fixture *program, const struct machine *machine,
                    const struct category *list, uint32_t count, double *times) {
    struct built built = build(program, machine);
    struct categories categories = {0};
    struct graph_machine graph;
    struct error error = {0};
    graph_machine_of(machine, &graph);
    for (uint32_t i = 0; i < count; i++)
        assert_true(categories_add(&categories, &list[i], &error));
    struct graph_lanes *lanes =
        graph_lanes_new(&graph, count ? &categories : NULL, LANES_BEST, &error);
    assert_non_null(lanes);
    graph_lanes_add(lanes, built.uops, built.count, true);
    graph_lanes_times(lanes, times);
    graph_lanes_free(lanes);
    categories_free(&categories);
    free(built.uops);
}

/* The misses of one instruction. */
static struct category misses_of(uint32_t insn) {
    struct category category = {.name = "misses",
                                .parts = UINT64_C(1) << GRAPH_PART_MISS_L2 |
                                         UINT64_C(1) << GRAPH_PART_MISS_LLC |
                                         UINT64_C(1) << GRAPH_PART_MISS_DRAM,
                                .insn_count = FIXTURE_INSNS};
    category.insns = calloc(FIXTURE_INSNS / 32, sizeof *category.insns);
    category.insns[insn / 32] |= 1u << insn % 32;
    return category;
}

/* Two misses of 100 cycles at once: F 1, D 4, E 5, P 5 + 1 + 2 + 100 = 108, C 109, less the first
 * fetch 108. Either alone costs nothing, both 100: they are parallel, icost +100. */
static void parallel_misses(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t a = load(program, 1, 0), b = load(program, 2, 0);
    execute_at(program, a, HIGH, 8);
    execute_at(program, b, HIGH + LINE, 8);
    double times[4];
    const struct category list[] = {misses_of(a), misses_of(b)};
    measure(program, &machine, list, 2, times);
    assert_true(times[0] == 108 && times[1] == 108 && times[2] == 108);
    assert_true(times[3] == 8); /* P 8, C 9 */
    program_fixture_free(program);
}

/* A load misses the TLB, for 20 cycles, and then goes to memory: F 1, D 4, E 5, P 5 + 1 + 2 + 20 +
 * 100 = 128, C 129, less the first fetch 128. The walk costs its 20, memory its 100, wherever the
 * other ends; a store's translation, 20 beside that, is a walk as well. */
static void walks_are_apart_from_what_serves_the_load(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.dtlb = (struct machine_tlb){.entries = 16};
    machine.page_walk = 20;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), HIGH, 8);
    double times[4];
    const struct category list[] = {{.name = "dtlb", .parts = UINT64_C(1) << GRAPH_PART_WALK},
                                    {.name = "dram", .parts = UINT64_C(1) << GRAPH_PART_MISS_DRAM}};
    measure(program, &machine, list, 2, times);
    assert_true(times[0] == 128 && times[1] == 108 && times[2] == 28 && times[3] == 8);
    program_fixture_free(program);
    program = program_fixture_new();
    execute_at(program, store(program, 0, 0), HIGH, 8);
    measure(program, &machine, list, 2, times);
    assert_true(times[0] == 26 && times[1] == 6 && times[2] == 26 && times[3] == 6);
    program_fixture_free(program);
}

/* The second load needs the first: E 5, P 108, E 108, P 211. A multiplication of 106 cycles beside
 * them takes from 5 to 111. Without one miss or both it is 111: each costs 100, both together, too.
 * They are serial, icost -100. */
static void serial_misses_beside_equal_work(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.classes[OP_INT_MUL].latency = 106;
    struct program_fixture *program = program_fixture_new();
    uint32_t a = load(program, 1, 0), b = load(program, 1, 1);
    execute_at(program, a, HIGH, 8);
    execute_at(program, b, HIGH + LINE, 8);
    execute(program, operation(program, OP_INT_MUL, 3, 0));
    double times[4];
    const struct category list[] = {misses_of(a), misses_of(b)};
    measure(program, &machine, list, 2, times);
    assert_true(times[0] == 211);
    assert_true(times[1] == 111 && times[2] == 111 && times[3] == 111);
    program_fixture_free(program);
}

/* One after the other and nothing beside: each costs 100, both 200, icost 0. */
static void independent_misses(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t a = load(program, 1, 0), b = load(program, 1, 1);
    execute_at(program, a, HIGH, 8);
    execute_at(program, b, HIGH + LINE, 8);
    double times[4];
    const struct category list[] = {misses_of(a), misses_of(b)};
    measure(program, &machine, list, 2, times);
    assert_true(times[0] == 211 && times[1] == 111 && times[2] == 111 && times[3] == 11);
    program_fixture_free(program);
}

/* Standard categories: a miss until 108 beside an operation of 103 cycles until 108. dmiss and
 * lgalu cost nothing alone, 100 together: then the load's hit lasts longest, P 8. Without that as
 * well, all that is left is 1 cycle of address generation. */
static void a_miss_beside_a_long_operation(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.classes[OP_INT_MUL].latency = 103;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), HIGH, 8);
    execute(program, operation(program, OP_INT_MUL, 3, 0));
    double times[512];
    measure(program, &machine, NULL, 0, times);
    assert_true(times[0] == 108);
    assert_true(times[IDEAL_DMISS] == 108 && times[IDEAL_LGALU] == 108);
    assert_true(times[IDEAL_DMISS | IDEAL_LGALU] == 8);
    assert_true(times[IDEAL_DMISS | IDEAL_LGALU | IDEAL_DL1] == 6);
    assert_true(times[511] == 6);
    program_fixture_free(program);
}

/* A store to half of what a load reads, or to the half in another line with one more to the first:
 * tests/unit/test_core_memory.c. The load commits in 113, in 114 where there are two; forwarded in
 * 8 and 9. Less the first fetch. */
static void store_holds_a_part_of_what_is_loaded(void **state) {
    (void)state;
    struct machine machine = little_machine();
    static const uint64_t FIRST[] = {HIGH + 4, HIGH + LINE - 4};
    for (int two = 0; two < 2; two++) {
        struct program_fixture *program = program_fixture_new();
        execute_at(program, store(program, 0, 0), FIRST[two], 4);
        if (two)
            execute_at(program, store(program, 0, 0), HIGH + LINE, 4);
        execute_at(program, load(program, 2, 0), two ? HIGH + LINE - 4 : HIGH, 8);
        double times[512];
        measure(program, &machine, NULL, 0, times);
        assert_true(times[0] == 112 + two);
        assert_true(times[IDEAL_STFWD] == 7 + two);
        simulate(program, &machine, IDEAL_STFWD);
        assert_int_equal(program->lives[1 + two].commit - program->lives[0].fetch, 7 + two);
        assert_int_equal(compare_with_run(program, &machine), 0);
        program_fixture_free(program);
    }
}

/* Dispatch stops for the microcode of repeated string instructions, which bw takes away. */
static void microcode_stops_dispatch(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    double times[512];
    machine.core.string_start = 28;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 6; k++)
            execute(program, alu(program, (uint8_t)(1 + k), 0, 0));
        const uint32_t rep = with_flags(program, store(program, 0, 0), INSN_REP);
        struct dynamic_insn *dynamic = execute_at(program, rep, HIGH, 128);
        dynamic->flags |= DYN_REP;
        dynamic->repeat = 16;
    }
    assert_int_equal(compare_with_run(program, &machine), 0);
    /* The additions behind the first are dispatched 28 cycles later. */
    measure(program, &machine, NULL, 0, times);
    simulate(program, &machine, 0);
    const uint64_t all = program->statistics.cycles;
    assert_true(program->lives[8].dispatch - program->lives[7].dispatch == 28);
    machine.core.string_start = 0;
    simulate(program, &machine, IDEAL_BW);
    assert_true(times[0] - times[IDEAL_BW] == (double)(all - program->statistics.cycles));
    program_fixture_free(program);
}

/* Fetch waits for the commit of CPUID, and for the host of the virtual machine that executes it. */
static void host_executes_cpuid(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    machine.core.cpuid_cycles = 300;
    const uint32_t cpuid =
        with_flags(program, operation(program, OP_SYSTEM, 2, 0), INSN_SERIALISING);
    program->insns[cpuid].is_cpuid = true;
    for (int i = 0; i < 3; i++) {
        execute(program, alu(program, 1, 0, 0));
        execute(program, cpuid);
    }
    execute(program, alu(program, 1, 0, 0));
    assert_int_equal(compare_with_run(program, &machine), 0);
    program_fixture_free(program);
}

/* Loads and stores to few and to many lines, chains of operations, branches that go either way.
 * Loads are of eight bytes, those of few lines `offset` bytes from where stores are, and with
 * `operands` of an instruction that adds what it loads. */
static void execute_anything(struct program_fixture *program, uint32_t count, uint32_t store_bytes,
                             uint32_t offset, bool operands) {
    uint32_t add = alu(program, 2, 2, 3);
    uint32_t other = alu(program, 6, 7, 0), multiply = operation(program, OP_INT_MUL, 7, 6);
    uint32_t write = store(program, 2, 1), read = load(program, 3, 0);
    if (operands)
        add_uop(program, OP_INT_ALU, 2, 2, 3);
    const uint32_t wide = load(program, 4, 3);
    uint32_t jump = branch(program, BRANCH_CONDITIONAL, 3);
    program->insns[other].adds_constant = true;
    random_state = 3;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = next_random(100);
        if (kind < 5)
            execute(program, multiply);
        else if (kind < 30)
            execute(program, add);
        else if (kind < 55)
            execute(program, other);
        else if (kind < 65)
            execute_at(program, write, HIGH + 8 * next_random(64), store_bytes);
        else if (kind < 80)
            execute_at(program, read, HIGH + 8 * next_random(64) + offset, 8);
        else if (kind < 88)
            execute_at(program, wide, HIGH + LINE * next_random(2048), 8);
        else
            execute(program, jump)->flags |= next_random(2) ? DYN_TAKEN : 0;
    }
}

/* On the little machine, two of shared units, one that minds loads in two lines, one that adds
 * constants at rename, and one that besides keeps a load and its operation as one, F, D, P and C of
 * every µop are as they were, but for one in a hundred: not every slot goes to the same µop. */
static void graphs_are_as_the_run(void **state) {
    (void)state;
    struct machine machine = little_machine();
    for (uint32_t i = 0; i < 12; i++) {
        const uint32_t store_bytes = i % 2 ? 8 : 4;
        struct program_fixture *program = program_fixture_new();
        if (i == 2) { /* multiplications and branches share units with additions */
            machine.pools[0].units = machine.pool_count = 3;
            machine.pools[2] = (struct machine_pool){
                .name = "mul", .units = 2, .shares = "alu1+alu2", .shared = {{6}}};
            machine.classes[OP_BRANCH].pool = 2;
        }
        if (i == 4) { /* and the data of stores, too */
            strcpy(machine.core.store_data, "alu0");
            machine.store_data.units[0] = 1;
        }
        if (i == 6) {
            machine = little_machine();
            machine.core.split_load = 2;
        }
        if (i == 8) {
            machine = little_machine();
            machine.core.eliminate_additions = true;
        }
        if (i == 10)
            machine.core.fuse_loads = true;
        execute_anything(program, 20000, store_bytes, i < 6 ? 0 : FAR + 60, i >= 10);
        uint32_t different = compare_with_run(program, &machine);
        if (different > program->life_count / 100)
            fail_msg("%u of %u differ", different, program->life_count);
        program_fixture_free(program);
    }
}

/* The graph is as long as the run, within 0.2 %, on every machine that comes with the program;
 * without waits for stores that cannot forward within 2 %. The run is so long that the misses of
 * its beginning, which come in another order without those waits, are few of it. */
static void graphs_are_as_long_as_the_run(void **state) {
    (void)state;
    static const char *const MACHINES[] = {"boom-simpoint",  "boom-tea",   "boom-tip",
                                           "chen-ooo",       "fields2004", "zen4",
                                           "sapphire-rapids"};
    enum { COUNT = sizeof MACHINES / sizeof *MACHINES };
    for (size_t i = 0; i < 2 * COUNT; i++) {
        struct error error = {0};
        struct machine machine;
        if (!machine_load(MACHINES[i / 2], &machine, &error))
            fail_msg("%s", error.message);
        struct program_fixture *program = program_fixture_new();
        execute_anything(program, 60000, i % 2 ? 4 : 8, 0, true);
        double times[512];
        measure(program, &machine, NULL, 0, times);
        double cycles =
            (double)(program->lives[program->life_count - 1].commit - program->lives[0].fetch);
        if (times[0] < 0.998 * cycles || times[0] > 1.002 * cycles)
            fail_msg("%s: %.0f, not %.0f cycles", MACHINES[i / 2], times[0], cycles);
        simulate(program, &machine, IDEAL_STFWD);
        cycles = (double)(program->lives[program->life_count - 1].commit - program->lives[0].fetch);
        if (fabs(times[IDEAL_STFWD] / cycles - 1) > 0.02)
            fail_msg("%s, stfwd: %.0f, not %.0f cycles", MACHINES[i / 2], times[IDEAL_STFWD],
                     cycles);
        program_fixture_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(microcode_stops_dispatch),
        cmocka_unit_test(host_executes_cpuid),
        cmocka_unit_test(parallel_misses),
        cmocka_unit_test(walks_are_apart_from_what_serves_the_load),
        cmocka_unit_test(serial_misses_beside_equal_work),
        cmocka_unit_test(independent_misses),
        cmocka_unit_test(a_miss_beside_a_long_operation),
        cmocka_unit_test(store_holds_a_part_of_what_is_loaded),
        cmocka_unit_test(graphs_are_as_the_run),
        cmocka_unit_test(graphs_are_as_long_as_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
