#include "simulate/top_down_keeper.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/executor.h"

struct top_down_keeper {
    struct machine machine;
    uint32_t ideal;
    struct executor *thread;
    struct pics *total; /* of the cores that are done */
    bool out_of_memory;
};

struct top_down_keeper *top_down_keeper_new(const struct machine *machine, uint32_t ideal,
                                            struct error *error) {
    struct top_down_keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper)
        return error_null(error, "out of memory for levels");
    if (!(keeper->total = pics_new()) || !(keeper->thread = executor_new("levels", error))) {
        if (!keeper->total)
            error_set(error, "out of memory for levels");
        top_down_keeper_free(keeper);
        return NULL;
    }
    keeper->machine = *machine;
    keeper->ideal = ideal;
    return keeper;
}

void top_down_keeper_free(struct top_down_keeper *keeper) {
    if (!keeper)
        return;
    executor_free(keeper->thread);
    pics_free(keeper->total);
    free(keeper);
}

static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    struct top_down_keeper *keeper = context;
    struct top_down *top_down = *state = top_down_new(&keeper->machine, keeper->ideal);
    (void)source;
    if (!top_down)
        return error_set(error, "out of memory for levels");
    struct tap_worker worker = top_down_worker(top_down);
    worker.executor = keeper->thread;
    return tap_add_worker(tap, &worker, error);
}

static void detach(void *context, void *state) {
    struct top_down_keeper *keeper = context;
    if (!top_down_finish(state) || !pics_move(keeper->total, top_down_profile(state), 1))
        keeper->out_of_memory = true;
    top_down_free(state);
}

struct simulation_observer top_down_keeper_observer(struct top_down_keeper *keeper) {
    return (struct simulation_observer){.attach = attach, .detach = detach, .context = keeper};
}

struct pics_cell *top_down_keeper_cells(struct top_down_keeper *keeper, uint64_t cycles,
                                        uint64_t *count, struct error *error) {
    const uint64_t slots = cycles * keeper->machine.core.dispatch_width;
    const uint64_t total = pics_total(keeper->total);
    struct pics_cell *cells = keeper->out_of_memory ? NULL : pics_cells(keeper->total, count);
    if (!cells)
        return error_null(error, "out of memory for levels");
    if (total == slots)
        return cells;
    free(cells);
    return error_null(error,
                      "levels: of %" PRIu64 " slots %" PRIu64
                      " have a class (a defect of culprit: please report it)",
                      slots, total);
}
