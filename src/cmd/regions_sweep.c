/* culprit regions --sweep: each file of vectors with its costs, all settings, what is best. */
#include <stdlib.h>

#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "cmd/regions_request.h"
#include "report/regions.h"
#include "util/text.h"

struct sweep_work {
    const struct regions_request *request;
    struct profiled_runs *runs; /* one of each file */
    struct region_costs *costs;
    struct sweep_input *inputs;
    struct sweep sweep;
};

/* Of as many dimensions as any setting asks for. */
static bool read_inputs(struct sweep_work *work, struct error *error) {
    const struct regions_request *request = work->request;
    const struct choose_settings *settings = &request->settings;
    const struct sweep_grid *grid = &request->grids.others[SWEEP_DIMENSIONS];
    uint32_t most = (uint32_t)grid->values[grid->count - 1];
    most = most > settings->dimensions ? most : settings->dimensions;
    for (uint32_t i = 0; i < request->vector_count; i++) {
        profiled_runs_init(&work->runs[i], most, settings->selection.clusters.seed, false);
        work->inputs[i] = (struct sweep_input){.runs = &work->runs[i], .costs = &work->costs[i]};
        if (!profiled_runs_add(&work->runs[i], request->vectors[i], error))
            return false;
        profiled_runs_merge_slices(&work->runs[i], settings->merge_slices);
        if (!region_costs_add(&work->costs[i], &work->runs[i], 0, request->costs[i], error))
            return false;
        if (!(region_costs_total_cpi(&work->costs[i], &work->runs[i].points) > 0))
            return error_set(error, "%s: the costs have no cycles", request->costs[i]);
    }
    return true;
}

static bool print_sweep(struct sweep_work *work, struct error *error) {
    const struct regions_request *request = work->request;
    if (request->svg) {
        struct output output = {0};
        bool good = output_open(&output, "--svg", request->svg, NULL, error);
        if (good)
            sweep_svg(&work->sweep, request->vector_count, output.file);
        good = good && output_close(&output, error);
        output_discard(&output);
        if (!good)
            return false;
    }
    if (request->json)
        return regions_print_json(sweep_json(&work->sweep), error);
    sweep_text(&work->sweep, request->vector_count, stdout);
    size_t best = work->sweep.recommended_clusters;
    if (best != SIZE_MAX) {
        char path[4096];
        printf("\nnext: culprit regions --max-clusters %u -o regions.csv %s\n",
               work->sweep.points[best].max_clusters,
               text_clean(path, sizeof path, request->vectors[0]));
    }
    return true;
}

bool regions_sweep(const struct regions_request *request, struct error *error) {
    struct sweep_work work = {.request = request};
    size_t count = request->vector_count;
    work.runs = calloc(count, sizeof *work.runs);
    work.costs = calloc(count, sizeof *work.costs);
    work.inputs = calloc(count, sizeof *work.inputs);
    bool good = work.runs && work.costs && work.inputs;
    if (!good)
        error_set(error, "out of memory for %zu runs", count);
    good = good && read_inputs(&work, error);
    struct sweep_settings grids = request->grids;
    grids.choose = &request->settings;
    watch_begin(&verb_watch, "sweeping", "settings", 0);
    good = good && sweep_make(&work.sweep, &grids, work.inputs, count, watch_progress_of,
                              &verb_watch, error);
    watch_end(&verb_watch);
    good = good && print_sweep(&work, error);
    sweep_free(&work.sweep);
    for (size_t i = 0; i < count; i++) {
        if (work.runs)
            profiled_runs_free(&work.runs[i]);
        if (work.costs)
            region_costs_free(&work.costs[i]);
    }
    free(work.runs);
    free(work.costs);
    free(work.inputs);
    return good;
}
