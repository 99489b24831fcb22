/* Regions are simulated by other threads as soon as their traces are complete, while the command
 * runs on; one after the other, each with the caches and predictors that the one before it left,
 * which in the end knows more of the run than any warm-up of its own would tell it. */
#include "cmd/second_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "cmd/muted_output.h"
#include "region/split.h"
#include "trace/region_file.h"
#include "util/progress.h"
#include "util/text.h"

enum { LEAST_REGIONS = 40 }; /* when there are as many slices */

struct second_run {
    const struct second_run_request *request;
    const struct projection *slices;
    const struct slice_table *table;
    struct region_choice choice;
    struct capture_image *images;
    struct capture_region *wanted; /* in the order of the run */
    char **paths;
    uint64_t *stand_for; /* instructions, as wanted[] */
    struct second_run_result *result;
    struct muted_output output;
    int input; /* descriptor */
    struct progress progress;
    uint64_t simulated_to; /* position of the end of the region before */
    bool added;            /* no region failed to be added */
    struct error add_error;
};

/* ---- the choice ---- */

static int by_slice(const void *a, const void *b) {
    const struct region_point *x = a, *y = b;
    return (x->slice > y->slice) - (x->slice < y->slice);
}

static struct capture_marker marker_of(const struct slice_place *place) {
    const struct region_marker *start = &place->start;
    return (struct capture_marker){.image =
                                       start->image == MARKER_NO_IMAGE ? UINT32_MAX : start->image,
                                   .thread = place->thread,
                                   .offset = start->offset,
                                   .count = start->count};
}

/* What the clusters have in instructions. */
static void sum_clusters(struct second_run *run) {
    for (uint32_t i = 0; i < run->choice.point_count; i++)
        for (size_t k = 0; k < run->choice.slice_count; k++)
            if (run->choice.labels[k] == run->choice.points[i].cluster)
                run->stand_for[i] += run->table->slices[k].instructions;
}

static bool want_region(struct second_run *run, uint32_t i, struct error *error) {
    const struct slice_table *table = run->table;
    uint32_t slice = run->choice.points[i].slice;
    const struct slice_place *place = &table->slices[slice];
    if (asprintf(&run->paths[i], "%s/r%" PRIu32 ".ctrace", run->request->folder, i + 1) < 0) {
        run->paths[i] = NULL;
        return error_set(error, "out of memory for the regions");
    }
    run->wanted[i] = (struct capture_region){.id = i + 1,
                                             .process = place->process,
                                             .thread = place->thread,
                                             .first = place->first,
                                             .instructions = place->instructions,
                                             .start = marker_of(place),
                                             .path = run->paths[i]};
    if (slice + 1 < table->slice_count)
        run->wanted[i].end = marker_of(&table->slices[slice + 1]);
    return true;
}

static bool choose(struct second_run *run, struct error *error) {
    const struct region_settings settings = REGION_DEFAULTS;
    if (!chunk_profile_finish(run->request->profile, &run->slices, &run->table, error) ||
        !region_choose(run->slices, &settings, &run->choice, error) ||
        !region_split(run->slices, LEAST_REGIONS, &run->choice, error))
        return false;
    uint32_t count = run->choice.point_count;
    qsort(run->choice.points, count, sizeof *run->choice.points, by_slice);
    run->wanted = calloc(count, sizeof *run->wanted);
    run->paths = calloc(count, sizeof *run->paths);
    run->stand_for = calloc(count, sizeof *run->stand_for);
    run->images = calloc(run->table->image_count + 1, sizeof *run->images);
    if (!run->wanted || !run->paths || !run->stand_for || !run->images)
        return error_set(error, "out of memory for the regions");
    for (size_t i = 0; i < run->table->image_count; i++) {
        const struct region_image *image = &run->table->images[i];
        run->images[i] =
            (struct capture_image){.path = image->path, .build_id_size = image->build_id_size};
        memcpy(run->images[i].build_id, image->build_id, sizeof image->build_id);
    }
    sum_clusters(run);
    for (uint32_t i = 0; i < count; i++)
        if (!want_region(run, i, error))
            return false;
    return true;
}

/* ---- the run ---- */

static void show_progress(void *context, uint64_t instructions) {
    progress_update(context, instructions);
}

static void on_complete(void *context, const struct capture_region *region) {
    struct second_run *run = context;
    uint64_t gap = region->found_first - run->simulated_to, warm_up = run->request->warm_up;
    int64_t skew = region_skew(region);
    uint64_t distance = skew < 0 ? -(uint64_t)skew : (uint64_t)skew;
    if (distance > run->result->skew)
        run->result->skew = distance;
    char name[32];
    snprintf(name, sizeof name, "region %" PRIu32, region->id);
    const struct region_trace trace = {.name = name,
                                       .path = region->path,
                                       .start = region_trace_start(region),
                                       .end = region_trace_end(region),
                                       .warm = gap < warm_up ? gap : warm_up,
                                       .only = -1,
                                       .process = region->process,
                                       .thread = region->thread,
                                       .stands_for = run->stand_for[region->id - 1]};
    run->simulated_to = region->found_end;
    if (run->added)
        run->added = region_run_add(run->result->regions, &trace, &run->add_error);
}

static struct capture_options muted_capture(const struct second_run *run) {
    struct capture_options capture = *run->request->capture;
    capture.watch_effects = capture.harmless = run->request->harmless;
    capture.stop_at_limit = true;
    capture.descriptors[0] = run->input;
    capture.descriptors[1] = run->output.files[0];
    capture.descriptors[2] = run->output.files[1];
    return capture;
}

static bool open_ends(struct second_run *run, struct error *error) {
    run->input = kept_input_again(run->request->input, error);
    return run->input >= 0 && muted_output_open(&run->output, error);
}

static void close_ends(struct second_run *run) {
    if (run->input >= 0)
        close(run->input);
    run->input = -1;
    muted_output_close(&run->output);
}

static struct region_run *new_regions(struct second_run *run, struct error *error) {
    struct forecasting *forecasting = &run->result->forecasting;
    if (!forecasting_start(forecasting, run->request->machine, run->request->ideal,
                           FORECAST_SOME_OF_REGION, error))
        return NULL;
    const struct region_run_options options = {.machine = run->request->machine,
                                               .ideal = run->request->ideal,
                                               .graph = !run->request->machine->core.in_order,
                                               .graph_lives = GRAPH_SOME_OF_REGION,
                                               .instructions = forecasting_observer(forecasting),
                                               .isa = run->request->isa,
                                               .chained = true,
                                               .stop = &interrupt_signal,
                                               .progress = show_progress,
                                               .progress_context = &run->progress,
                                               .keep =
                                                   run->request->saving ? saving_keep_region : NULL,
                                               .keep_context = run->request->saving};
    return region_run_new(&options, error);
}

/* False with `why` set in place of `error`: the run went another way. */
static bool capture_regions(struct second_run *run, struct error *error) {
    const struct region_capture_options options = {.capture = muted_capture(run),
                                                   .images = run->images,
                                                   .image_count = run->table->image_count,
                                                   .warm_up = run->request->warm_up,
                                                   .complete = on_complete,
                                                   .context = run};
    int exec_status;
    uint32_t count = run->choice.point_count;
    struct region_capture *capture =
        run->request->trace
            ? region_capture_file(&options, run->wanted, count, run->request->trace, error)
            : region_capture_start(&options, run->wanted, count, &exec_status, error);
    if (!capture)
        return false;
    struct error diverged = {0};
    interrupt_watch_regions(capture);
    bool complete = region_capture_run(capture, &diverged);
    interrupt_watch_regions(NULL);
    region_capture_close(capture);
    if (!run->added) {
        *error = run->add_error;
        return false;
    }
    if (!complete && run->request->trace && !interrupt_signal) {
        *error = diverged;
        return false;
    }
    if (!complete && !interrupt_signal)
        run->result->why = diverged;
    return complete || interrupt_signal;
}

/* ---- when the second run went another way ---- */

static bool sample_again(struct second_run *run, struct error *error) {
    struct second_run_result *result = run->result;
    struct capture_options capture = muted_capture(run);
    struct forecasting forecasting;
    int exec_status;
    if (!(result->trace = trace_capture(&capture, &exec_status, error)))
        return false;
    interrupt_watch(result->trace);
    if (!forecasting_start(&forecasting, run->request->machine, run->request->ideal, FORECAST_SOME,
                           error))
        return false;
    const struct simulation_options options = {.machine = run->request->machine,
                                               .ideal = run->request->ideal,
                                               .graph = !run->request->machine->core.in_order,
                                               .graph_lives = GRAPH_SOME,
                                               .instructions = forecasting_observer(&forecasting),
                                               .sampling = run->request->sampling,
                                               .selection = {.thread = -1},
                                               .progress = show_progress,
                                               .progress_context = &run->progress,
                                               .stop = &interrupt_signal};
    progress_start(&run->progress, stderr, "sampling", "instructions", run->request->instructions);
    bool good = simulation_run(result->trace, &options, &result->sampled, error);
    progress_finish(&run->progress);
    forecasting_end(&forecasting, &result->forecast);
    interrupt_watch(NULL);
    return good;
}

/* Instructions simulated and warmed. */
static uint64_t work(const struct second_run *run) {
    uint64_t sum = 0, end = 0;
    for (uint32_t i = 0; i < run->choice.point_count; i++) {
        const struct capture_region *region = &run->wanted[i];
        uint64_t gap = region->first - end;
        sum += region->instructions + (gap < run->request->warm_up ? gap : run->request->warm_up);
        end = region->first + region->instructions;
    }
    return sum;
}

static bool steps(struct second_run *run, struct error *error) {
    struct second_run_result *result = run->result;
    if (!choose(run, error) || (!run->request->trace && !open_ends(run, error)) ||
        !(result->regions = new_regions(run, error)))
        return false;
    result->slices = run->choice.slice_count;
    progress_start(&run->progress, stderr, "simulating regions", "instructions", work(run));
    bool good = capture_regions(run, error) && region_run_wait(result->regions, error);
    progress_finish(&run->progress);
    if (good)
        forecasting_end(&result->forecasting, &result->forecast);
    if (good || !result->why.message[0])
        return good;
    close_ends(run);
    return open_ends(run, error) && sample_again(run, error);
}

bool second_run(const struct second_run_request *request, struct second_run_result *result,
                struct error *error) {
    struct second_run run = {.request = request, .result = result, .input = -1, .added = true};
    bool good = steps(&run, error);
    close_ends(&run);
    for (uint32_t i = 0; i < run.choice.point_count && run.paths; i++) {
        if (run.paths[i])
            unlink(run.paths[i]);
        free(run.paths[i]);
    }
    free(run.paths);
    free(run.wanted);
    free(run.stand_for);
    free(run.images);
    region_choice_free(&run.choice);
    return good;
}

void second_run_free(struct second_run_result *result) {
    region_run_free(result->regions);
    forecasting_end(&result->forecasting, NULL);
    simulation_free(&result->sampled);
    trace_close(result->trace);
}
