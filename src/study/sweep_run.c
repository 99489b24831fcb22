#include "study/sweep_run.h"

#include <stdlib.h>

/* Of as many dimensions as any setting asks for. */
static bool read_inputs(struct sweep_run *run, struct error *error) {
    const struct choose_settings *choose = run->settings.choose;
    const struct sweep_grid *grid = &run->settings.others[SWEEP_DIMENSIONS];
    uint32_t most = (uint32_t)grid->values[grid->count - 1];
    most = most > choose->dimensions ? most : choose->dimensions;
    for (uint32_t i = 0; i < run->count; i++) {
        struct profiled_runs *runs = &run->runs[i];
        struct region_costs *costs = &run->run_costs[i];
        profiled_runs_init(runs, most, choose->selection.clusters.seed, false);
        run->inputs[i] = (struct sweep_input){.runs = runs, .costs = costs};
        if (!profiled_runs_add(runs, run->vectors[i], error))
            return false;
        profiled_runs_merge_slices(runs, choose->merge_slices);
        if (!region_costs_add(costs, runs, 0, run->costs[i], error))
            return false;
        if (!(region_costs_total_cpi(costs, &runs->points) > 0))
            return error_set(error, "%s: the costs have no cycles", run->costs[i]);
    }
    return true;
}

bool sweep_run_go(struct sweep_run *run, struct error *error) {
    run->runs = calloc(run->count, sizeof *run->runs);
    run->run_costs = calloc(run->count, sizeof *run->run_costs);
    run->inputs = calloc(run->count, sizeof *run->inputs);
    if (!run->runs || !run->run_costs || !run->inputs)
        return error_set(error, "out of memory for %u runs", run->count);
    if (!read_inputs(run, error))
        return false;
    watch_begin(run->watch, "sweeping", "settings", 0);
    const bool good = sweep_make(&run->sweep, &run->settings, run->inputs, run->count,
                                 watch_progress_of, run->watch, error);
    watch_end(run->watch);
    return good;
}

void sweep_run_free(struct sweep_run *run) {
    sweep_free(&run->sweep);
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->runs)
            profiled_runs_free(&run->runs[i]);
        if (run->run_costs)
            region_costs_free(&run->run_costs[i]);
    }
    free(run->runs);
    free(run->run_costs);
    free(run->inputs);
}
