/* Graphs made by hand: instructions of one µop each, at whose fields a test sets what it wants.
 *
 * The wide machine takes 3 cycles from fetch to dispatch, 1 to issue, 1 from the result to commit;
 * a load takes 1 + 2 cycles; there is room and bandwidth for everything. */
#pragma once

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
                                    .most_of_place = 1,
                                    .frontend_depth = 3,
                                    .redirect = 2,
                                    .late_bubble = 2,
                                    .dispatch_to_issue = 1,
                                    .wakeup_extra = 1,
                                    .complete_to_commit = 1,
                                    .l1_latency = 2,
                                    .split_load = 3,
                                    .forward_latency = 4,
                                    .load_latency = 1,
                                    .store_queue = 50,
                                    .store_drain = 4};
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

/* ---- random graphs ---- */

static uint64_t random_state;

static inline uint32_t next_random(uint32_t below) {
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)((random_state >> 33) % below);
}
static inline bool one_in(uint32_t of) {
    return next_random(of) == 0;
}

/* A distance of up to 40, which may lead beyond the begin. */
static inline uint16_t distance(uint32_t one_of) {
    return one_in(one_of) ? (uint16_t)(1 + next_random(40)) : 0;
}

/* Graphs with every kind of edge; times need not be those of any real core. Static instructions
 * below 50 are loads, those from 50 to 99 others. Where places have two µops, some do. */
static inline void make_random(struct graph *graph, uint32_t count, uint64_t seed) {
    static const uint32_t ends[3] = {GRAPH_MISPREDICTED, GRAPH_LATE, GRAPH_TAKEN};
    random_state = seed;
    graph->machine.dispatch_width = 4;
    graph->machine.commit_width = 3;
    graph->machine.window = 30;
    graph->machine.fetch_room = 50;
    graph->machine.taken_bubble = 1;
    graph->machine.mshrs[LEVEL_L2] = 3;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = next_random(10);
        uint32_t flags = kind < 3 ? GRAPH_LOAD : kind < 5 ? GRAPH_STORE : GRAPH_SHORT;
        struct graph_uop *uop = add(graph, flags, (uint16_t)(1 + next_random(3)));
        uop->insn = next_random(50) + (kind < 3 ? 0 : 50);
        for (int k = 0; k < 2; k++)
            uop->producer[k] = distance(2);
        uop->fetch_width = distance(2);
        uop->fetch_taken = distance(8);
        uop->fetch_packet = distance(8);
        uop->load_entry = distance(8);
        uop->store_entry = kind < 3 ? 0 : distance(8);
        uop->int_register = distance(8);
        uop->fp_register = distance(8);
        uop->queue_entry = distance(16);
        uop->serial = distance(50);
        uop->fill = one_in(8) ? (uint16_t)next_random(300) : 0;
        uop->store_wait = (uint16_t)next_random(5);
        uop->fetch_cache = one_in(20) ? 10 : 0;
        uop->fetch_tlb = one_in(50) ? 20 : 0;
        uop->after_commit = one_in(50) ? 3 : 0;
        uop->mshr_wait = one_in(20) ? 4 : 0; /* or write_wait */
        uop->unit_wait = one_in(20) ? 2 : 0;
        uop->pool = next_random(3) & 3;
        uop->flags |= one_in(4) ? GRAPH_WAKEUP << next_random(UOP_MAX_SOURCES + 1) : 0;
        if (graph->machine.most_of_place == 2 && i && !(uop[-1].flags & GRAPH_SHARES) && one_in(3))
            uop->flags |= GRAPH_SHARES;
        if (one_in(10) && kind >= 5)
            uop->flags |= GRAPH_ELIMINATED;
        if (one_in(10))
            uop->flags |= ends[next_random(3)] |
                          (one_in(2) ? (1 + next_random(2)) * GRAPH_BREAK_UNIT : GRAPH_WAITS_HEAD);
        if (kind < 5)
            uop->walk = one_in(5) ? (uint16_t)next_random(80) : 0;
        if (kind < 3)
            uop->level = LEVEL_L2, uop->miss = one_in(5) ? (uint16_t)next_random(80) : 0;
        if (kind < 3) {
            uop->flags |= (one_in(3) ? GRAPH_PENDING : 0) | (one_in(4) ? GRAPH_SPLIT : 0);
            uop->store = distance(3);
            uop->store_data = distance(3);
            uop->fetched_by = distance(6);
            uop->flags |= one_in(2)   ? (one_in(2) ? GRAPH_COVERED | GRAPH_HUNG : GRAPH_COVERED)
                          : one_in(2) ? GRAPH_FORWARDED
                                      : 0;
        } else if (kind < 5) {
            uop->producer[UOP_MAX_SOURCES] = distance(2);
        }
    }
}
