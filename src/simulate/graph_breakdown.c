/* A lane is one guest thread's core: its builder hands the graph, chunk by chunk, to one evaluation
 * for each set of at most two categories. Times only grow, so what passed between two collections
 * is the difference of what they find. */
#include "simulate/graph_breakdown.h"

#include <stdlib.h>

#include "graph/build.h"
#include "graph/evaluate.h"
#include "util/executor.h"

enum { SETS = 1 << GRAPH_CATEGORIES };
static_assert(SETS == (int)IDEAL_DLONG, "the categories come first");

struct graph_breakdown {
    struct machine machine;
    struct graph_machine graph;
    enum isa isa;
    uint32_t ideal; /* of the simulation; categories only */
    struct tap_windows lives;
    struct executor *thread; /* or NULL */
    double cycles[SETS];
    uint64_t instructions;
};

struct graph_lane {
    struct graph_breakdown *graph;
    struct graph_builder *builder;
    struct graph_evaluation *evaluations[SETS]; /* NULL: not measured */
    double ended[SETS];                         /* cycles of the fragments before this one */
    int64_t last[SETS];                         /* commit of the last µop of this one */
    uint64_t instructions;
    double collected[SETS]; /* likewise, by the last collection */
    uint64_t collected_instructions;
};

static bool is_measured(uint32_t set) {
    return __builtin_popcount(set) < 3;
}

static bool begin_fragment(struct graph_lane *lane, struct error *error) {
    for (uint32_t set = 0; set < SETS; set++) {
        if (!is_measured(set))
            continue;
        lane->ended[set] += (double)lane->last[set];
        lane->last[set] = 0;
        graph_evaluation_free(lane->evaluations[set]);
        lane->evaluations[set] =
            graph_evaluation_new(&lane->graph->graph, set | lane->graph->ideal);
        if (!lane->evaluations[set])
            return error_set(error, "out of memory for the graph");
    }
    return true;
}

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    struct graph_lane *lane = context;
    (void)lives;
    if (first && !begin_fragment(lane, error))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (uops[i].flags & GRAPH_LAST)
            lane->instructions += uops[i].flags & GRAPH_FUSED ? 2 : 1;
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t i = 0; lane->evaluations[set] && i < count; i++)
            lane->last[set] = graph_evaluate(lane->evaluations[set], &uops[i])->commit;
    return true;
}

struct graph_lane *graph_lane_new(struct graph_breakdown *graph, struct tap *tap, bool *good,
                                  struct error *error) {
    struct graph_lane *lane = calloc(1, sizeof *lane);
    const struct graph_sink sink = {take, lane};
    if (!lane || !(lane->builder = graph_builder_new(&graph->machine, graph->isa, &sink))) {
        *good = error_set(error, "out of memory for the graph");
        return lane;
    }
    lane->graph = graph;
    struct tap_worker worker = graph_builder_worker(lane->builder);
    worker.executor = graph->thread;
    worker.lives = graph->lives;
    *good = tap_add_worker(tap, &worker, error);
    return lane;
}

void graph_lane_free(struct graph_lane *lane) {
    if (!lane)
        return;
    for (uint32_t set = 0; set < SETS; set++)
        graph_evaluation_free(lane->evaluations[set]);
    graph_builder_free(lane->builder);
    free(lane);
}

void graph_lane_collect(struct graph_lane *lane, uint64_t weight) {
    struct graph_breakdown *graph = lane->graph;
    for (uint32_t set = 0; set < SETS; set++) {
        double now = lane->ended[set] + (double)lane->last[set];
        graph->cycles[set] += (now - lane->collected[set]) * (double)weight;
        lane->collected[set] = now;
    }
    graph->instructions += (lane->instructions - lane->collected_instructions) * weight;
    lane->collected_instructions = lane->instructions;
}

struct graph_breakdown *graph_breakdown_new(const struct simulation_options *options, enum isa isa,
                                            bool own_thread, struct error *error) {
    struct graph_breakdown *graph = calloc(1, sizeof *graph);
    if (!graph) {
        error_set(error, "out of memory for the graph");
        return NULL;
    }
    graph->machine = *options->machine;
    graph_machine_of(options->machine, &graph->graph);
    graph->isa = isa;
    graph->ideal = options->ideal & (SETS - 1);
    graph->lives = options->graph_lives;
    if (own_thread && !(graph->thread = executor_new("graph", error))) {
        free(graph);
        return NULL;
    }
    return graph;
}

void graph_breakdown_free(struct graph_breakdown *graph) {
    if (!graph)
        return;
    executor_free(graph->thread);
    free(graph);
}

bool graph_breakdown_finish(const struct graph_breakdown *graph, struct simulation *simulation,
                            struct error *error) {
    const char *names[GRAPH_CATEGORIES];
    struct breakdown *breakdown = &simulation->breakdown;
    for (uint32_t i = 0; i < GRAPH_CATEGORIES; i++)
        names[i] = ideal_name(i);
    if (!breakdown_init(breakdown, GRAPH_CATEGORIES, names, error))
        return false;
    bool sampled = (graph->lives.every || simulation->levels) && graph->cycles[0] > 0;
    double scale = sampled ? (double)simulation->cycles / graph->cycles[0] : 1;
    breakdown->instructions = sampled ? simulation->instructions : graph->instructions;
    for (uint32_t set = 0; set < SETS; set++)
        if (is_measured(set))
            breakdown->cycles[set] = graph->cycles[set] * scale;
    return true;
}
