/* A lane is one guest thread's core: its builder hands the graph, chunk by chunk, to the evaluation
 * of all sets. Times only grow, so what passed between two collections is the difference of what
 * they find. */
#include "simulate/graph_breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "graph/lanes.h"
#include "util/executor.h"

enum { SETS = 1 << CATEGORIES_MAX };
static_assert(1 << GRAPH_CATEGORIES == (int)IDEAL_DLONG, "the categories come first");

struct graph_breakdown {
    struct machine machine;
    struct graph_machine graph;
    enum isa isa;
    struct categories standard;
    const struct categories *categories;
    uint32_t ideal;          /* of the simulation; standard categories only */
    struct executor *thread; /* or NULL */
    double cycles[SETS];
    uint64_t instructions;
};

struct graph_lane {
    struct graph_breakdown *graph;
    struct graph_builder *builder;
    struct graph_lanes *lanes;
    double settled[SETS];  /* times of the lanes that are in `cycles` */
    double cycles[SETS];   /* since the last collection */
    uint64_t instructions; /* likewise */
};

static void settle(struct graph_lane *lane) {
    double now[SETS];
    graph_lanes_times(lane->lanes, now);
    for (uint32_t set = 0; set < 1u << lane->graph->categories->count; set++) {
        lane->cycles[set] += now[set] - lane->settled[set];
        lane->settled[set] = now[set];
    }
}

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    struct graph_lane *lane = context;
    (void)lives;
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        if (uops[i].flags & GRAPH_LAST)
            lane->instructions += uops[i].flags & GRAPH_FUSED ? 2 : 1;
    graph_lanes_add(lane->lanes, uops, count, first);
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
    if (!(lane->lanes = graph_lanes_new(&graph->graph, graph->categories, LANES_BEST, error))) {
        *good = false;
        return lane;
    }
    struct tap_worker worker = graph_builder_worker(lane->builder);
    worker.executor = graph->thread;
    *good = tap_add_worker(tap, &worker, error);
    return lane;
}

void graph_lane_free(struct graph_lane *lane) {
    if (!lane)
        return;
    graph_lanes_free(lane->lanes);
    graph_builder_free(lane->builder);
    free(lane);
}

void graph_lane_collect(struct graph_lane *lane, uint64_t weight) {
    struct graph_breakdown *graph = lane->graph;
    settle(lane);
    for (uint32_t set = 0; set < 1u << graph->categories->count; set++)
        graph->cycles[set] += lane->cycles[set] * (double)weight;
    graph->instructions += lane->instructions * weight;
    memset(lane->cycles, 0, sizeof lane->cycles);
    lane->instructions = 0;
}

struct graph_breakdown *graph_breakdown_new(const struct simulation_options *options, enum isa isa,
                                            bool own_thread, struct error *error) {
    struct graph_breakdown *graph = calloc(1, sizeof *graph);
    if (!graph)
        return error_null(error, "out of memory for the graph");
    graph->machine = *options->machine;
    graph_machine_of(options->machine, &graph->graph);
    graph->isa = isa;
    categories_standard(&graph->standard);
    graph->categories = options->categories ? options->categories : &graph->standard;
    graph->ideal = options->categories ? 0 : options->ideal & (IDEAL_DLONG - 1);
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
    const struct categories *categories = graph->categories;
    const char *names[CATEGORIES_MAX];
    struct breakdown *breakdown = &simulation->breakdown;
    if (!(graph->cycles[0] > 0))
        return true;
    for (uint32_t i = 0; i < categories->count; i++)
        names[i] = categories->list[i].name;
    if (!breakdown_init(breakdown, categories->count, names, error))
        return false;
    bool sampled = simulation->levels;
    double scale = sampled ? (double)simulation->cycles / graph->cycles[graph->ideal] : 1;
    breakdown->instructions = sampled ? simulation->instructions : graph->instructions;
    for (uint32_t set = 0; set < breakdown_sets(breakdown); set++)
        breakdown->cycles[set] = graph->cycles[set | graph->ideal] * scale;
    return true;
}
