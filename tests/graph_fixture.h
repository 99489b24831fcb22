/* Graphs made by hand: instructions of one µop each, at whose fields a test sets what it wants.
 *
 * The wide machine takes 3 cycles from fetch to dispatch, 1 to issue, 1 from the result to commit;
 * a load takes 1 + 2 cycles; there is room and bandwidth for everything. */
#ifndef CULPRIT_TESTS_GRAPH_FIXTURE_H
#define CULPRIT_TESTS_GRAPH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/critical.h"

enum { MOST = 4096 };

static inline struct graph_machine wide_machine(void) {
    struct graph_machine machine = {.dispatch_width = 1000,
                                    .commit_width = 1000,
                                    .window = 1000,
                                    .ideal_window = 20000,
                                    .fetch_room = 1000,
                                    .frontend_depth = 3,
                                    .redirect = 2,
                                    .late_bubble = 2,
                                    .dispatch_to_issue = 1,
                                    .wakeup_extra = 1,
                                    .complete_to_commit = 1,
                                    .l1_latency = 2,
                                    .forward_latency = 4,
                                    .load_latency = 1};
    for (int i = 0; i < MACHINE_MAX_POOLS; i++)
        machine.pool_units[i] = 255;
    for (int i = 0; i < MACHINE_MAX_QUEUES; i++)
        machine.queue_issue[i] = 255;
    return machine;
}

struct graph {
    struct graph_machine machine;
    struct graph_uop uops[MOST];
    struct graph_nodes nodes[MOST];  /* of the last evaluation */
    struct graph_nodes latest[MOST]; /* of the last walk, as is the critical path */
    struct critical critical;
    uint32_t count;
};

static inline struct graph_fragment whole(struct graph *graph) {
    return (struct graph_fragment){graph->uops, graph->count};
}

static inline struct graph *graph_new(void) {
    struct graph *graph = calloc(1, sizeof *graph);
    assert_non_null(graph);
    graph->machine = wide_machine();
    return graph;
}

static inline void graph_free(struct graph *graph) {
    critical_free(&graph->critical);
    free(graph);
}

/* An instruction of one µop; its number is its static instruction. */
static inline struct graph_uop *add(struct graph *graph, uint32_t flags, uint16_t execution) {
    struct graph_uop *uop = &graph->uops[graph->count];
    *uop = (struct graph_uop){
        .insn = graph->count++, .flags = flags | GRAPH_FIRST | GRAPH_LAST, .execution = execution};
    return uop;
}

static inline struct graph_uop *add_load(struct graph *graph, uint16_t miss) {
    struct graph_uop *uop = add(graph, GRAPH_LOAD, 1);
    uop->miss = miss;
    return uop;
}

static inline int64_t evaluate(struct graph *graph) {
    struct graph_fragment fragment = whole(graph);
    struct graph_evaluation *evaluation = graph_evaluation_new(&graph->machine, 0);
    assert_non_null(evaluation);
    graph_fragment_times(evaluation, &fragment, graph->nodes);
    graph_evaluation_free(evaluation);
    return graph->nodes[graph->count - 1].commit;
}

#endif
