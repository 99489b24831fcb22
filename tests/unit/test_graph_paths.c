/* What is read off a graph by walking along its edges: critical path, slack. */
#include "graph/slack.h"
#include "graph_fixture.h"

/* Evaluates, walks the critical path, finds the latest times. */
static int64_t walk(struct graph *graph) {
    struct error error = {0};
    struct graph_fragment fragment = whole(graph);
    int64_t length = evaluate(graph);
    critical_free(&graph->critical);
    assert_true(critical_add(&graph->critical, &graph->machine, &fragment, graph->nodes, &error));
    slack_latest(&graph->machine, &fragment, graph->nodes, graph->latest);
    return length;
}

static int64_t part(const struct graph *graph, unsigned part) {
    return graph->critical.parts[part];
}

static int64_t of_insn(const struct graph *graph, uint32_t insn) {
    const struct critical_insn *row = critical_find(&graph->critical, insn);
    return row ? row->cycles : 0;
}

/* Slack of a result. */
static int64_t slack_of(const struct graph *graph, uint32_t index) {
    return graph->latest[index].complete - graph->nodes[index].complete;
}

/* Two loads that miss, for 100 and 60 cycles, and the sum of what they load:
 *
 *              F  D  R  E    P    C
 *     load A   0  3  4  4  107  108    P = 4 + 1 + 2 + 100
 *     load B   0  3  4  4   67  108
 *     add      0  3  107 107 108 109
 *
 * Path: C(add) ◄1 PC ◄1 EP ◄0 RE ◄0 PR ◄ EP(A) 1 + 2 + 100 ◄0 RE ◄1 DR ◄3 FD. B may take until 107
 * as well: 40 cycles more. */
static void path_and_slack_of_two_misses(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 100);
    add_load(graph, 60);
    struct graph_uop *sum = add(graph, GRAPH_SHORT, 1);
    sum->producer[0] = 1;
    sum->producer[1] = 2;
    assert_int_equal(walk(graph), 109);
    assert_int_equal(graph->critical.cycles, 109);
    assert_int_equal(part(graph, PART_MISS), 100);
    assert_int_equal(part(graph, PART_L1), 2);
    assert_int_equal(part(graph, EDGE_EP), 2);
    assert_int_equal(part(graph, EDGE_PC), 1);
    assert_int_equal(part(graph, EDGE_DR), 1);
    assert_int_equal(part(graph, EDGE_FD), 3);
    assert_int_equal(of_insn(graph, 0), 107);
    assert_int_equal(of_insn(graph, 1), 0);
    assert_int_equal(of_insn(graph, 2), 2);
    assert_int_equal(critical_misses(critical_find(&graph->critical, 0)), 100);
    assert_int_equal(slack_of(graph, 0), 0);
    assert_int_equal(slack_of(graph, 1), 40);
    assert_int_equal(slack_of(graph, 2), 0);
    graph_free(graph);
}

/* A branch that depends on a load's miss is mispredicted; fetch goes on 2 cycles after it was
 * resolved, and the instruction there waits 5 more for the instruction cache:
 *
 *              F   D   R   E   P   C
 *     load     0   3   4   4  17  18    P = 4 + 1 + 2 + 10
 *     branch   0   3  17  17  18  19
 *     add     25  28  29  29  30  31    F = 18 + 2 + 5
 *
 * The 2 cycles are the branch's, the 5 the add's. */
static void path_through_a_misprediction(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 10);
    add(graph, GRAPH_SHORT | GRAPH_MISPREDICTED, 1)->producer[0] = 1;
    add(graph, GRAPH_SHORT, 1)->fetch_cache = 5;
    assert_int_equal(walk(graph), 31);
    assert_int_equal(part(graph, EDGE_PD), 2);
    assert_int_equal(part(graph, PART_FETCH_MISS), 5);
    assert_int_equal(part(graph, EDGE_FD), 6);
    assert_int_equal(part(graph, EDGE_DR), 2);
    assert_int_equal(part(graph, EDGE_EP), 3);
    assert_int_equal(part(graph, PART_L1), 2);
    assert_int_equal(part(graph, PART_MISS), 10);
    assert_int_equal(part(graph, EDGE_PC), 1);
    assert_int_equal(of_insn(graph, 1), 2 + 1);
    assert_int_equal(of_insn(graph, 2), 5 + 3 + 1 + 1 + 1);
    /* The branch may not be later, nor anything before it. */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(slack_of(graph, i), 0);
    graph_free(graph);
}

/* Three loads of a line: the first, a miss of 50 cycles, brings it; the second, 10 cycles later
 * behind a chain of a 10-cycle operation, waits for it: P at 57 like that of the first. The path
 * goes to the load that fetched the line, over PP, so that the miss is the first load's. */
static void path_over_a_pending_hit(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    add_load(graph, 50);
    add(graph, GRAPH_LONG, 10);
    struct graph_uop *second = add_load(graph, 0);
    second->producer[0] = 1;
    second->fetched_by = 2;
    add(graph, GRAPH_LONG, 7)->producer[0] = 1;
    /* P(0) = 4 + 53 = 57, E(2) = 14, P(2) = max(17, 57), P(3) = 64, C = 65 */
    assert_int_equal(walk(graph), 65);
    assert_int_equal(part(graph, PART_MISS), 50);
    assert_int_equal(of_insn(graph, 0), 57);
    assert_int_equal(of_insn(graph, 2), 0);
    assert_int_equal(of_insn(graph, 3), 8);
    /* The 10-cycle operation may take 40 more: P(2) would be 17 + 40. */
    assert_int_equal(slack_of(graph, 1), 40);
    graph_free(graph);
}

/* One issue slot per cycle: the second of two adds, ready together, waits for one; that is on RE,
 * and the path goes on to its own R. */
static void a_wait_for_a_slot_is_no_edge(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    graph->machine.queue_issue[0] = 1;
    add(graph, GRAPH_SHORT, 1);
    add(graph, GRAPH_SHORT, 1);
    assert_int_equal(walk(graph), 7); /* E = 5, P = 6, C = 7 */
    assert_int_equal(part(graph, EDGE_RE), 1);
    assert_int_equal(of_insn(graph, 0), 0);
    assert_int_equal(of_insn(graph, 1), 7);
    graph_free(graph);
}

/* ---- random graphs ---- */

/* Node times by the edges alone, with P of one µop `delay` cycles later, on the edges of the times
 * in graph->nodes: what its slack is about. */
static int64_t length_by_edges(struct graph *graph, uint32_t delayed, int64_t delay,
                               struct graph_nodes *times) {
    struct graph_fragment fragment = whole(graph);
    struct graph_edge edges[GRAPH_MOST_EDGES];
    memset(times, 0, graph->count * sizeof *times);
    for (uint32_t i = 0; i < graph->count; i++) {
        if (i == 0)
            times[0].fetch = graph->uops[0].fetch_cache + graph->uops[0].fetch_tlb;
        uint32_t count = graph_edges(&graph->machine, &fragment, graph->nodes, i, edges);
        assert_true(count <= GRAPH_MOST_EDGES);
        for (uint32_t k = 0; k < count; k++) {
            int64_t time = times[edges[k].source].time[edges[k].from] + edges[k].weight;
            if (i == delayed && edges[k].to == NODE_P)
                time += delay;
            int64_t *node = &times[i].time[edges[k].to];
            *node = time > *node ? time : *node;
        }
    }
    return times[graph->count - 1].commit;
}

/* The edges give the node times of evaluate.c, every one. */
static void edges_are_those_of_the_evaluation(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct graph *graph = graph_new();
        struct graph_nodes *times = calloc(MOST, sizeof *times);
        graph->machine.queue_issue[0] = seed % 2 ? 2 : 255;
        graph->machine.pool_units[1] = seed % 3 ? 1 : 255;
        graph->machine.most_of_place = seed % 5 ? 1 : 2;
        make_random(graph, 1000, seed);
        int64_t length = evaluate(graph);
        assert_int_equal(length_by_edges(graph, UINT32_MAX, 0, times), length);
        for (uint32_t i = 0; i < graph->count; i++)
            assert_memory_equal(times[i].time, graph->nodes[i].time, sizeof times->time);
        free(times);
        graph_free(graph);
    }
}

/* The path's cycles are the length; instructions and parts add up; nodes on the path have no slack,
 * others none below 0. */
static void paths_are_as_long_as_their_fragments(void **state) {
    (void)state;
    for (uint64_t seed = 100; seed < 150; seed++) {
        struct graph *graph = graph_new();
        graph->machine.queue_issue[0] = 2;
        make_random(graph, 1000, seed);
        int64_t length = walk(graph), parts = 0, insns = 0;
        assert_int_equal(graph->critical.cycles, length);
        for (unsigned i = 0; i < CRITICAL_PARTS; i++)
            parts += graph->critical.parts[i];
        for (size_t i = 0; i < graph->critical.count; i++)
            insns += graph->critical.insns[i].cycles;
        assert_int_equal(parts, length);
        assert_int_equal(insns, length);
        for (uint32_t i = 0; i < graph->count; i++)
            for (unsigned node = 0; node < NODE_COUNT; node++)
                assert_true(graph->latest[i].time[node] >= graph->nodes[i].time[node]);
        assert_int_equal(graph->latest[graph->count - 1].commit, length);
        assert_int_equal(graph->latest[0].fetch, graph->nodes[0].fetch);
        graph_free(graph);
    }
}

/* A result later by its slack changes nothing; by one cycle more, the length by one. */
static void slack_is_exact(void **state) {
    (void)state;
    for (uint64_t seed = 200; seed < 210; seed++) {
        struct graph *graph = graph_new();
        struct graph_nodes *times = calloc(MOST, sizeof *times);
        graph->machine.queue_issue[0] = 2;
        make_random(graph, 300, seed);
        int64_t length = walk(graph);
        for (uint32_t i = 0; i < graph->count; i++) {
            assert_int_equal(length_by_edges(graph, i, slack_of(graph, i), times), length);
            assert_int_equal(length_by_edges(graph, i, slack_of(graph, i) + 1, times), length + 1);
        }
        free(times);
        graph_free(graph);
    }
}

/* The same of whole evaluations with one latency raised, on a machine with slots and MSHRs for
 * all, so that none moves, and with loads that always or never forward. */
static void slack_is_exact_when_evaluated(void **state) {
    (void)state;
    for (uint64_t seed = 300; seed < 310; seed++) {
        struct graph *graph = graph_new();
        make_random(graph, 300, seed);
        for (uint32_t i = 0; i < graph->count; i++)
            graph->uops[i].flags &= ~(uint32_t)(GRAPH_COVERED | GRAPH_HUNG);
        graph->machine.mshrs[LEVEL_L2] = 0;
        int64_t length = walk(graph), slacks[MOST] = {0};
        uint32_t tried = 0;
        for (uint32_t i = 0; i < graph->count; i++)
            slacks[i] = slack_of(graph, i);
        for (uint32_t i = 0; i < graph->count; i++) {
            struct graph_uop *uop = &graph->uops[i];
            if (uop->flags & (GRAPH_LOAD | GRAPH_STORE | GRAPH_ELIMINATED))
                continue;
            uint16_t execution = uop->execution;
            uop->execution = (uint16_t)(execution + slacks[i]);
            assert_int_equal(evaluate(graph), length);
            uop->execution++;
            assert_int_equal(evaluate(graph), length + 1);
            uop->execution = execution;
            tried++;
        }
        assert_true(tried > 50);
        graph_free(graph);
    }
}

/* An execution's slack is the least of its µops', and one cut by the begin does not count. */
static void slack_of_executions(void **state) {
    (void)state;
    struct error error = {0};
    struct graph *graph = graph_new();
    struct graph_nodes latest[4] = {0};
    const int64_t slacks[4] = {7, 9, 4, 3};
    for (uint32_t i = 0; i < 4; i++) {
        add(graph, 0, 1)->insn = i == 3 ? 8 : 5;
        latest[i].complete = slacks[i];
    }
    graph->uops[0].flags = GRAPH_LAST;  /* end of an instruction that began before */
    graph->uops[1].flags = GRAPH_FIRST; /* with the next an instruction of 9 and 4 */
    graph->uops[2].flags = GRAPH_LAST;
    struct graph_nodes earliest[4] = {0};
    struct graph_fragment fragment = whole(graph);
    struct slack slack = {0};
    assert_true(slack_add(&slack, &fragment, earliest, latest, &error));
    latest[2].complete = 6;
    assert_true(slack_add(&slack, &fragment, earliest, latest, &error));
    assert_int_equal(slack.executions, 4);
    assert_int_equal(slack.insns[5].executions, 2);
    assert_int_equal(slack.insns[5].least, 4);
    assert_int_equal(slack.insns[5].sum, 10);
    assert_int_equal(slack.insns[8].executions, 2);
    assert_int_equal(slack.insns[8].sum, 6);
    assert_int_equal(slack.insns[7].executions, 0);
    assert_int_equal(slack.bins[slack_bin(4)], 2); /* 4 to 7 */
    assert_int_equal(slack.bins[slack_bin(3)], 2); /* 2 to 3 */
    assert_int_equal(slack_bin(0), 0);
    assert_int_equal(slack_bin(1), 1);
    assert_int_equal(slack_bin(2), 2);
    assert_int_equal(slack_bin(UINT64_MAX), SLACK_BINS - 1);
    slack_free(&slack);
    graph_free(graph);
}

/* A store waits 4 cycles for a unit, and the write of the store whose entry it takes took 7 cycles
 * more than one: a store waits for no MSHR before it issues.
 *
 *              F  D  R  E  P   C
 *     store    0  3  4  8  9  10 */
static void store_waits_for_no_mshr(void **state) {
    (void)state;
    struct graph *graph = graph_new();
    struct graph_uop *store = add(graph, GRAPH_STORE, 1);
    store->unit_wait = 4;
    store->write_wait = 7;
    assert_int_equal(walk(graph), 10);
    assert_int_equal(part(graph, EDGE_RE), 4);
    assert_int_equal(part(graph, PART_MSHR), 0);
    graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_and_slack_of_two_misses),
        cmocka_unit_test(store_waits_for_no_mshr),
        cmocka_unit_test(path_through_a_misprediction),
        cmocka_unit_test(path_over_a_pending_hit),
        cmocka_unit_test(a_wait_for_a_slot_is_no_edge),
        cmocka_unit_test(edges_are_those_of_the_evaluation),
        cmocka_unit_test(paths_are_as_long_as_their_fragments),
        cmocka_unit_test(slack_is_exact),
        cmocka_unit_test(slack_is_exact_when_evaluated),
        cmocka_unit_test(slack_of_executions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
