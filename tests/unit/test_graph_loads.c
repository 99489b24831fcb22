/* What single loads cost, and pairs of them; and all that is read off the graph of a program. */
#include "core_fixture.h"
#include "graph/build.h"
#include "graph/inspect.h"
#include "graph_fixture.h"

/* A graph as two fragments of the same µops. */
static void inspect_twice(struct graph *graph, uint32_t loads, struct inspection *inspection) {
    struct error error = {0};
    struct graph_sink sink;
    struct graph_fragments *fragments = graph_fragments_new(MOST, 8 * MOST);
    assert_true(graph_fragments_sink(fragments, &sink, &error));
    for (int i = 0; i < 2; i++)
        assert_true(sink.take(sink.context, graph->uops, NULL, graph->count, true, &error));
    const struct inspection_options options = {.slack = true, .loads = loads};
    assert_true(inspect(&graph->machine, fragments, &options, inspection, &error));
    assert_int_equal(inspection->fragments, 2);
    assert_int_equal(inspection->kept, 2 * graph->count);
    assert_int_equal(inspection->cycles, 2 * evaluate(graph));
    assert_int_equal(inspection->critical.cycles, inspection->cycles);
    graph_fragments_free(fragments);
}

/* Two independent loads of 100 and 80 cycles beyond L1: without the first 20 cycles less, without
 * the second none, without both 100: the miss of the first hides all of the second's.
 * icost = 100 − 20 − 0. Twice that in two fragments. */
static void parallel_misses(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 100);
    add_load(graph, 80);
    struct inspection inspection;
    inspect_twice(graph, LOADS_DEFAULT, &inspection);
    const struct load_costs *costs = &inspection.loads;
    assert_int_equal(costs->count, 2);
    assert_int_equal(costs->cycles, 2 * 108);
    assert_int_equal(costs->loads[0].insn, 0);
    assert_int_equal(costs->loads[0].cost, 2 * 20);
    assert_int_equal(costs->loads[0].path, 2 * 100);
    assert_int_equal(costs->loads[0].tally.executions, 2);
    assert_int_equal(costs->loads[0].tally.misses, 2);
    assert_int_equal(costs->loads[0].tally.wait, 2 * 100);
    assert_int_equal(costs->loads[1].cost, 0);
    assert_int_equal(costs->loads[1].path, 0);
    assert_int_equal(costs->loads[1].tally.wait, 2 * 80);
    assert_int_equal(costs->together, 2 * 100);
    assert_int_equal(costs->dmiss, 2 * 100);
    assert_int_equal(costs->paired, 2);
    assert_int_equal(costs->icost[0][1], 2 * 80);
    assert_int_equal(costs->icost[1][0], 2 * 80);
    assert_int_equal(costs->icost[0][0], 0);
    inspection_free(&inspection);
    graph_free(graph);
}

/* A load of 60 cycles beyond L1 and another that depends on it, beside an operation of 66 cycles:
 * 4 + 63 + 63 = 130 against 4 + 66 = 70. Without either miss 70, without both 70: cost 60 each, and
 * 60 together; icost = 60 − 60 − 60: either suffices. */
static void serial_misses_beside_other_work(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 60);
    add_load(graph, 60)->producer[0] = 1;
    add(graph, GRAPH_LONG, 66);
    struct inspection inspection;
    inspect_twice(graph, LOADS_DEFAULT, &inspection);
    const struct load_costs *costs = &inspection.loads;
    assert_int_equal(costs->cycles, 2 * 131);
    assert_int_equal(costs->loads[0].cost, 2 * 60);
    assert_int_equal(costs->loads[1].cost, 2 * 60);
    assert_int_equal(costs->together, 2 * 60);
    assert_int_equal(costs->icost[0][1], 2 * -60);
    inspection_free(&inspection);
    graph_free(graph);
}

/* The same without the other work: each has a cost of its own. */
static void independent_misses(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 60);
    add_load(graph, 100)->producer[0] = 1;
    struct inspection inspection;
    inspect_twice(graph, LOADS_DEFAULT, &inspection);
    const struct load_costs *costs = &inspection.loads;
    assert_int_equal(costs->loads[0].insn, 1);
    assert_int_equal(costs->loads[0].cost, 2 * 100);
    assert_int_equal(costs->loads[1].cost, 2 * 60);
    assert_int_equal(costs->together, 2 * 160);
    assert_int_equal(costs->icost[0][1], 0);
    inspection_free(&inspection);
    graph_free(graph);
}

/* A load whose line another's miss brings has the wait, the other the cost: without the first the
 * line is there for both. Without the second's wait the first's P at 57 still makes the end. */
static void a_pending_hit_goes_with_the_access_that_fetched_its_line(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 50);
    struct graph_uop *second = add_load(graph, 0);
    second->fetched_by = 1;
    add(graph, GRAPH_LONG, 20)->producer[0] = 1; /* P = 57 + 20; 7 + 20 of hits */
    struct inspection inspection;
    inspect_twice(graph, LOADS_DEFAULT, &inspection);
    const struct load_costs *costs = &inspection.loads;
    assert_int_equal(costs->cycles, 2 * 78);
    assert_int_equal(costs->loads[0].insn, 0);
    assert_int_equal(costs->loads[0].cost, 2 * 50);
    assert_int_equal(costs->loads[1].insn, 1);
    assert_int_equal(costs->loads[1].cost, 2 * 20); /* 58 are left: C(0) */
    assert_int_equal(costs->loads[1].tally.wait, 2 * 50);
    assert_int_equal(costs->icost[0][1], 2 * -20);
    inspection_free(&inspection);
    graph_free(graph);
}

/* Of 20 loads 4 are asked for: the two on the critical path, 0 and 1 in a chain, and of the others
 * the two that wait longest, 18 and 19. */
static void loads_are_chosen_by_path_and_by_wait(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 200);
    add_load(graph, 190)->producer[0] = 1;
    for (uint16_t i = 2; i < 20; i++)
        add_load(graph, 210 + i);
    struct inspection inspection;
    inspect_twice(graph, 4, &inspection);
    const struct load_costs *costs = &inspection.loads;
    uint32_t chosen = 0;
    assert_int_equal(costs->count, 4);
    for (uint32_t i = 0; i < 4; i++)
        chosen |= 1u << costs->loads[i].insn;
    assert_int_equal(chosen, 1 << 0 | 1 << 1 | 1 << 18 | 1 << 19);
    inspection_free(&inspection);
    inspect_twice(graph, LOADS_MOST, &inspection);
    assert_int_equal(inspection.loads.count, 20);
    assert_int_equal(inspection.loads.paired, LOADS_PAIRED);
    assert_true(inspection.loads.cycles == inspection.cycles);
    inspection_free(&inspection);
    graph_free(graph);
}

/* What a load costs is what the category of its misses costs that graph/category.h knows, in random
 * graphs. */
static void loads_are_categories_of_their_own(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct graph *graph = graph_new();
        graph->machine.queue_issue[0] = 2;
        make_random(graph, 1000, seed);
        struct inspection inspection;
        inspect_twice(graph, 8, &inspection);
        assert_int_equal(inspection.loads.count, 8);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t insn = inspection.loads.loads[i].insn, insns[2] = {0};
            insns[insn / 32] |= 1u << insn % 32;
            struct categories categories = {0};
            const struct category category = {
                .name = "misses",
                .parts = 1 << GRAPH_PART_WALK | 1 << GRAPH_PART_MISS_L2 | 1 << GRAPH_PART_MISS_LLC |
                         1 << GRAPH_PART_MISS_DRAM,
                .change = CATEGORY_REMOVE,
                .insns = memcpy(malloc(sizeof insns), insns, sizeof insns),
                .insn_count = 64};
            struct error error = {0};
            assert_true(categories_add(&categories, &category, &error));
            struct graph_evaluation *evaluation =
                graph_evaluation_new_of(&graph->machine, &categories, 1);
            int64_t commit = 0;
            for (uint32_t k = 0; k < graph->count; k++)
                commit = graph_evaluate(evaluation, &graph->uops[k])->commit;
            assert_int_equal(2 * commit, inspection.loads.cycles - inspection.loads.loads[i].cost);
            graph_evaluation_free(evaluation);
            categories_free(&categories);
        }
        inspection_free(&inspection);
        graph_free(graph);
    }
}

/* ---- a program on a core ---- */

static bool collect(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                    uint32_t count, bool first, struct error *error) {
    (void)lives, (void)error, (void)first;
    struct graph *graph = context;
    assert_true(graph->count + count <= MOST);
    memcpy(graph->uops + graph->count, uops, count * sizeof *uops);
    graph->count += count;
    return true;
}

/* A thousand steps of a chase from line to line, each a miss of over 100 cycles, with two adds
 * beside it: that one load is over 90 % of the critical path, and
 * costs as much. */
static void a_chase_is_its_load(void **state) {
    (void)state;
    struct error error = {0};
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    uint32_t step = load(program, 1, 1), beside = alu(program, 2, 2, 0),
             more = alu(program, 3, 1, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        execute_at(program, step, (1 << 20) + 4096 * (i * 97 % 1000), 8);
        execute(program, beside);
        execute(program, more);
    }
    simulate(program, &machine, 0);
    struct graph *graph = graph_new();
    graph_machine_of(&machine, &graph->machine);
    const struct graph_sink sink = {collect, graph};
    struct graph_builder *builder = graph_builder_new(&machine, ISA_RISCV64, &sink);
    assert_non_null(builder);
    assert_true(graph_builder_add(builder, program->packed, program->life_count, &error));
    graph_builder_free(builder);
    struct inspection inspection;
    inspect_twice(graph, LOADS_DEFAULT, &inspection);
    const struct critical *critical = &inspection.critical;
    assert_true(inspection.cycles > 2 * 100000);
    assert_true(10 * critical_find(critical, step)->cycles > 9 * inspection.cycles);
    assert_true(10 * critical->parts[PART_MISS] > 9 * inspection.cycles);
    assert_int_equal(inspection.loads.count, 1);
    assert_int_equal(inspection.loads.loads[0].insn, step);
    assert_int_equal(inspection.loads.loads[0].tally.executions, 2000);
    assert_true(10 * inspection.loads.loads[0].cost > 9 * inspection.cycles);
    /* The adds beside the chase could take most of a miss longer, but the last ones. */
    assert_true(inspection.slack.insns[beside].sum >
                90 * inspection.slack.insns[beside].executions);
    assert_int_equal(inspection.slack.insns[step].least, 0);
    inspection_free(&inspection);
    graph_free(graph);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallel_misses),
        cmocka_unit_test(serial_misses_beside_other_work),
        cmocka_unit_test(independent_misses),
        cmocka_unit_test(a_pending_hit_goes_with_the_access_that_fetched_its_line),
        cmocka_unit_test(loads_are_chosen_by_path_and_by_wait),
        cmocka_unit_test(loads_are_categories_of_their_own),
        cmocka_unit_test(a_chase_is_its_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
