#include "simulate/top_down_keeper.h"

#include <inttypes.h>
#include <stdlib.h>

struct top_down_keeper {
    const struct machine *machine;
    uint32_t ideal;
    struct executor *thread;
    struct pics *total; /* weighted */
};

struct top_down_keeper *top_down_keeper_new(const struct machine *machine, uint32_t ideal,
                                            struct executor *thread) {
    struct top_down_keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper)
        return NULL;
    *keeper = (struct top_down_keeper){machine, ideal, thread, pics_new()};
    if (keeper->total)
        return keeper;
    free(keeper);
    return NULL;
}

void top_down_keeper_free(struct top_down_keeper *keeper) {
    if (!keeper)
        return;
    pics_free(keeper->total);
    free(keeper);
}

struct top_down *top_down_keeper_attach(struct top_down_keeper *keeper, struct tap *tap,
                                        struct error *error) {
    struct top_down *core = top_down_new(keeper->machine, keeper->ideal);
    if (!core)
        return error_null(error, "out of memory for levels");
    struct tap_worker worker = top_down_worker(core);
    worker.executor = keeper->thread;
    if (tap_add_worker(tap, &worker, error))
        return core;
    top_down_free(core);
    return NULL;
}

bool top_down_keeper_collect(struct top_down_keeper *keeper, struct top_down *core,
                             uint64_t weight) {
    return top_down_finish(core) && pics_move(keeper->total, top_down_profile(core), weight);
}

bool top_down_keeper_finish(struct top_down_keeper *keeper, struct simulation *simulation,
                            struct error *error) {
    const uint64_t slots = simulation->cycles * keeper->machine->core.dispatch_width;
    const uint64_t classed = pics_total(keeper->total);
    if (!(simulation->slots = pics_cells(keeper->total, &simulation->slot_count)))
        return error_set(error, "out of memory for levels");
    return classed == slots || error_set(error,
                                         "levels: of %" PRIu64 " slots %" PRIu64
                                         " have a class (a defect of culprit: please report it)",
                                         slots, classed);
}
