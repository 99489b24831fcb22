/* A lane is one guest thread's core: its builder hands the graph, chunk by chunk, to one evaluation
 * for each set of at most two categories. */
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
    uint32_t ideal;
    struct executor *thread; /* or NULL */
    double cycles[SETS];     /* of cores that are done */
    uint64_t instructions;
    struct error error; /* of a core that is done */
    bool failed;
};

struct lane {
    struct graph_builder *builder;
    struct graph_evaluation *evaluations[SETS]; /* NULL: not measured */
    int64_t last[SETS];                         /* commit of the last µop */
    uint64_t instructions;
};

static bool is_measured(uint32_t set) {
    return __builtin_popcount(set) < 3;
}

static bool take(void *context, const struct graph_uop *uops, const struct life *lives,
                 uint32_t count, bool first, struct error *error) {
    struct lane *lane = context;
    (void)lives;
    (void)first; /* a core's run is one fragment */
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        if (uops[i].flags & GRAPH_LAST)
            lane->instructions += 1 + (uops[i].flags & GRAPH_FUSED ? 1 : 0);
    for (uint32_t set = 0; set < SETS; set++)
        for (uint32_t i = 0; lane->evaluations[set] && i < count; i++)
            lane->last[set] = graph_evaluate(lane->evaluations[set], &uops[i])->commit;
    return true;
}

static void detach(void *context, void *state) {
    struct graph_breakdown *graph = context;
    struct lane *lane = state;
    struct error error;
    if (lane->builder && !graph_builder_flush(lane->builder, &error) && !graph->failed) {
        graph->failed = true;
        graph->error = error;
    }
    for (uint32_t set = 0; set < SETS; set++) {
        graph->cycles[set] += lane->evaluations[set] ? (double)lane->last[set] : 0;
        graph_evaluation_free(lane->evaluations[set]);
    }
    graph->instructions += lane->instructions;
    graph_builder_free(lane->builder);
    free(lane);
}

static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    struct graph_breakdown *graph = context;
    struct lane *lane = *state = calloc(1, sizeof *lane);
    (void)source;
    if (!lane)
        return error_set(error, "out of memory for the graph");
    const struct graph_sink sink = {take, lane};
    if (!(lane->builder = graph_builder_new(&graph->machine, graph->isa, &sink)))
        return error_set(error, "out of memory for the graph");
    uint32_t ideal = graph->ideal & (SETS - 1);
    for (uint32_t set = 0; set < SETS; set++)
        if (is_measured(set) &&
            !(lane->evaluations[set] = graph_evaluation_new(&graph->graph, set | ideal)))
            return error_set(error, "out of memory for the graph");
    struct tap_worker worker = graph_builder_worker(lane->builder);
    worker.executor = graph->thread;
    return tap_add_worker(tap, &worker, error);
}

struct graph_breakdown *graph_breakdown_new(const struct graph_breakdown_options *options,
                                            struct error *error) {
    struct graph_breakdown *graph = calloc(1, sizeof *graph);
    if (!graph) {
        error_set(error, "out of memory for the graph");
        return NULL;
    }
    graph->machine = *options->machine;
    graph->isa = options->isa;
    graph->ideal = options->ideal;
    graph_machine_of(options->machine, &graph->graph);
    if (options->own_thread && !(graph->thread = executor_new("graph", error))) {
        free(graph);
        return NULL;
    }
    return graph;
}

struct simulation_observer graph_breakdown_observer(struct graph_breakdown *graph) {
    return (struct simulation_observer){.attach = attach, .detach = detach, .context = graph};
}

bool graph_breakdown_finish(struct graph_breakdown *graph, struct breakdown *breakdown,
                            struct error *error) {
    const char *names[GRAPH_CATEGORIES];
    for (uint32_t i = 0; i < GRAPH_CATEGORIES; i++)
        names[i] = ideal_name(i);
    if (!breakdown_init(breakdown, GRAPH_CATEGORIES, names, error))
        return false;
    if (graph->failed)
        *error = graph->error;
    breakdown->instructions = graph->instructions;
    for (uint32_t set = 0; set < SETS; set++)
        if (is_measured(set))
            breakdown->cycles[set] = graph->cycles[set];
    return !graph->failed;
}

void graph_breakdown_free(struct graph_breakdown *graph) {
    if (!graph)
        return;
    executor_free(graph->thread);
    free(graph);
}
