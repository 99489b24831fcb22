/* A graph builder whose sink is a sampler. */
#include "shotgun/lane.h"

#include <stdlib.h>

#include "graph/build.h"
#include "shotgun/sampler.h"

struct shotgun_lane {
    const struct machine *machine;
    const enum isa *isa;
    struct shotgun_database *database;
    uint64_t end; /* cycle of the latest commit */
    struct shotgun_sampler *sampler;
    struct graph_builder *builder; /* NULL until the first records come */
};

struct shotgun_lane *shotgun_lane_new(const struct machine *machine, const enum isa *isa,
                                      struct shotgun_database *database,
                                      const struct places *places, struct shotgun_truth *truth) {
    struct shotgun_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    *lane = (struct shotgun_lane){.machine = machine,
                                  .isa = isa,
                                  .database = database,
                                  .sampler = shotgun_sampler_new(database, places, truth)};
    if (lane->sampler)
        return lane;
    free(lane);
    return NULL;
}

void shotgun_lane_free(struct shotgun_lane *lane) {
    if (!lane)
        return;
    graph_builder_free(lane->builder);
    shotgun_sampler_free(lane->sampler);
    free(lane);
}

static bool take(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error) {
    struct shotgun_lane *lane = context;
    uint64_t end = lives[count - 1].end;
    lane->database->cycles += end - (first ? lives[0].end : lane->end);
    lane->end = end;
    return shotgun_sampler_take(lane->sampler, uops, count, first, error);
}

bool shotgun_lane_consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct shotgun_lane *lane = context;
    if (!lane->builder) {
        struct graph_sink sink = {.take = take, .context = lane};
        lane->builder = graph_builder_new(lane->machine, *lane->isa, &sink);
        if (!lane->builder)
            return error_set(error, "out of memory for the graph of a thread");
    }
    struct tap_worker worker = graph_builder_worker(lane->builder);
    return worker.consume(worker.context, buffer, error);
}
