/* A core's state is its builder, whose sink is the core's stream of fragments. All streams fill one
 * store, hence the thread. */
#include "simulate/graph_keeper.h"

#include <stdlib.h>

#include "util/executor.h"

struct graph_keeper {
    struct machine machine;
    enum isa isa;
    struct executor *thread;
    struct graph_fragments *fragments;
};

static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    struct graph_keeper *keeper = context;
    struct graph_sink sink;
    struct graph_builder *builder;
    (void)source;
    if (!graph_fragments_sink(keeper->fragments, &sink, error))
        return false;
    if (!(builder = *state = graph_builder_new(&keeper->machine, keeper->isa, &sink)))
        return error_set(error, "out of memory for the dependence graph");
    struct tap_worker worker = graph_builder_worker(builder);
    worker.executor = keeper->thread;
    return tap_add_worker(tap, &worker, error);
}

static void detach(void *context, void *state) {
    (void)context;
    graph_builder_free(state);
}

struct graph_keeper *graph_keeper_new(const struct machine *machine, enum isa isa,
                                      struct error *error) {
    struct graph_keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper || !(keeper->fragments = graph_fragments_new(FRAGMENT_LENGTH, FRAGMENTS_MOST))) {
        error_set(error, "out of memory for the dependence graph");
        free(keeper);
        return NULL;
    }
    keeper->machine = *machine;
    keeper->isa = isa;
    if (!(keeper->thread = executor_new("fragments", error))) {
        graph_keeper_free(keeper);
        return NULL;
    }
    return keeper;
}

struct simulation_observer graph_keeper_observer(struct graph_keeper *keeper) {
    return (struct simulation_observer){.attach = attach, .detach = detach, .context = keeper};
}

const struct graph_fragments *graph_keeper_fragments(const struct graph_keeper *keeper) {
    return keeper->fragments;
}

void graph_keeper_free(struct graph_keeper *keeper) {
    if (!keeper)
        return;
    executor_free(keeper->thread);
    graph_fragments_free(keeper->fragments);
    free(keeper);
}
