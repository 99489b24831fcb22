/* Regions are simulated by other threads as soon as their traces are complete, while the command
 * runs on; one after the other, each with the caches and predictors that the one before it left,
 * which in the end knows more of the run than any warm-up of its own would tell it. */
#include "study/second_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "region/captured.h"
#include "simulate/warming.h"
#include "study/chosen_regions.h"
#include "study/muted_output.h"
#include "trace/region_file.h"
#include "util/order.h"
#include "util/temporary.h"

/* Of what may be lost of a run that goes another way, in instructions (REGIONS_MOST_LOST), code
 * that no other region has: it may take half or twice as long as the nearest. */
static const double MOST_LOST_ALONE = 0.05;

struct second_run {
    const struct second_run_request *request;
    const struct projection *slices;
    const struct slice_table *table;
    struct region_choice choice;    /* of those that are given: a slice for each */
    uint32_t *clusters;             /* of the slices, before they were split */
    struct region_capture *capture; /* while it runs */
    struct region_streams *streams; /* NULL: the traces of regions are files */
    size_t failed;                  /* regions, as far as looked at */
    struct capture_image *images;
    struct before_region **before; /* of those that are told what comes before them, as wanted[] */
    const struct kept_code **code; /* that those lie in, as wanted[] */
    struct capture_region *wanted; /* in the order of the run */
    char **paths;
    uint64_t *stand_for; /* instructions, as wanted[] */
    size_t *order;       /* in which they were added, as wanted[]; valid for complete ones */
    size_t added_count;
    bool *lost; /* as wanted[] */
    struct second_run_result *result;
    struct muted_output output;
    int input;             /* descriptor */
    uint32_t thread;       /* of the region before */
    uint64_t simulated_to; /* position of its end */
    bool added;            /* no region failed to be added */
    struct error add_error;
};

/* ---- the choice ---- */

/* Slices of one cluster that follow one another are one phase. */
static bool find_phases(struct second_run *run, struct error *error) {
    const size_t count = run->choice.slice_count;
    struct phase *phases = malloc((count ? count : 1) * sizeof *phases);
    if (!phases)
        return error_set(error, "out of memory for the phases of the run");
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct slice_place *slice = &run->table->slices[i];
        struct phase *last = &phases[found ? found - 1 : 0];
        if (found && last->thread == slice->thread && last->cluster == run->clusters[i])
            last->instructions += slice->instructions;
        else
            phases[found++] =
                (struct phase){slice->thread, run->clusters[i], slice->first, slice->instructions};
    }
    run->result->phases = phases;
    run->result->phase_count = found;
    return true;
}

static struct capture_marker marker_of(const struct slice_place *place) {
    const struct region_marker *start = &place->start;
    return (struct capture_marker){.image =
                                       start->image == MARKER_NO_IMAGE ? UINT32_MAX : start->image,
                                   .offset = start->offset,
                                   .count = start->count};
}

/* What the clusters have in instructions. */
static void sum_clusters(struct second_run *run) {
    memset(run->stand_for, 0, run->choice.point_count * sizeof *run->stand_for);
    for (uint32_t i = 0; i < run->choice.point_count; i++)
        for (size_t k = 0; k < run->choice.slice_count; k++)
            if (run->choice.labels[k] == run->choice.points[i].cluster)
                run->stand_for[i] += run->table->slices[k].instructions;
}

static bool name_trace(struct second_run *run, uint32_t i, struct error *error) {
    if (asprintf(&run->paths[i], "%s/r%" PRIu32 ".ctrace", run->request->folder, i + 1) >= 0)
        return true;
    run->paths[i] = NULL;
    return error_set(error, "out of memory for the regions");
}

static bool want_region(struct second_run *run, uint32_t i, struct error *error) {
    const struct slice_table *table = run->table;
    uint32_t slice = run->choice.points[i].slice;
    const struct slice_place *place = &table->slices[slice];
    if (!name_trace(run, i, error))
        return false;
    run->wanted[i] = (struct capture_region){.id = i + 1,
                                             .process = place->process,
                                             .thread = place->thread,
                                             .ordinal = 0, /* no program of it has threads */
                                             .first = place->first,
                                             .instructions = place->instructions,
                                             .start = marker_of(place),
                                             .path = run->paths[i]};
    if (slice + 1 < table->slice_count && table->slices[slice + 1].thread == place->thread)
        run->wanted[i].end = marker_of(&table->slices[slice + 1]);
    return true;
}

/* Regions are simulated one after the other with the same caches: none is warmed with what another
 * simulates. */
static void warm_once(struct second_run *run) {
    for (uint32_t i = 1; i < run->choice.point_count; i++) {
        const struct capture_region *before = &run->wanted[i - 1];
        if (before->thread == run->wanted[i].thread)
            run->wanted[i].warm_from = before->first + before->instructions;
    }
}

/* Those that are given, in the order of the run. */
static bool want_given(struct second_run *run, uint32_t i, struct error *error) {
    const struct slice_place *place = &run->table->slices[0];
    const struct given_region *given = &run->request->given->regions[i];
    if (!name_trace(run, i, error))
        return false;
    const bool ends = given->first + given->instructions < run->request->instructions;
    run->stand_for[i] = given->stands_for;
    run->wanted[i] = (struct capture_region){.id = i + 1,
                                             .process = place->process,
                                             .thread = place->thread,
                                             .first = given->first,
                                             .instructions = given->instructions,
                                             .start = {.image = UINT32_MAX, .count = 1},
                                             .end = {.image = UINT32_MAX, .count = ends},
                                             .path = run->paths[i]};
    return true;
}

static bool take_given(struct second_run *run, struct error *error) {
    const struct given_regions *given = run->request->given;
    struct region_choice *choice = &run->choice;
    choice->slice_count = given->slice_count;
    choice->points = calloc(given->count + 1, sizeof *choice->points);
    run->clusters = calloc(given->count + 1, sizeof *run->clusters);
    if (!choice->points || !run->clusters)
        return error_set(error, "out of memory for the regions");
    choice->point_count = given->count;
    for (uint32_t i = 0; i < given->count; i++) {
        choice->points[i] = (struct region_point){.slice = i, .cluster = i};
        run->clusters[i] = given->regions[i].cluster;
    }
    return true;
}

static bool choose_points(struct second_run *run, struct error *error) {
    if (!chunk_profile_finish(run->request->profile, &run->slices, &run->table, error))
        return false;
    return run->request->given ? take_given(run, error)
                               : chosen_regions_find(run->slices, run->request->regions,
                                                     &run->choice, &run->clusters, error);
}

static bool choose(struct second_run *run, struct error *error) {
    if (!choose_points(run, error))
        return false;
    uint32_t count = run->choice.point_count;
    run->wanted = calloc(count, sizeof *run->wanted);
    run->paths = calloc(count, sizeof *run->paths);
    run->stand_for = calloc(count, sizeof *run->stand_for);
    run->order = calloc(count, sizeof *run->order);
    run->lost = calloc(count, sizeof *run->lost);
    run->before = calloc(count, sizeof(struct before_region *));
    run->code = calloc(count, sizeof(const struct kept_code *));
    run->images = calloc(run->table->image_count + 1, sizeof *run->images);
    if (!run->wanted || !run->paths || !run->stand_for || !run->order || !run->lost ||
        !run->before || !run->code || !run->images)
        return error_set(error, "out of memory for the regions");
    for (size_t i = 0; i < run->table->image_count; i++) {
        const struct region_image *image = &run->table->images[i];
        run->images[i] =
            (struct capture_image){.path = image->path, .build_id_size = image->build_id_size};
        memcpy(run->images[i].build_id, image->build_id, sizeof image->build_id);
    }
    if (!run->request->given)
        sum_clusters(run);
    for (uint32_t i = 0; i < count; i++)
        if (!(run->request->given ? want_given(run, i, error) : want_region(run, i, error)))
            return false;
    warm_once(run);
    return true;
}

/* ---- the run ---- */

/* Whether what comes before regions is stamped while they are captured: not where their traces are
 * read while they are written, nor where calls are followed through them. */
static bool is_told(const struct second_run *run) {
    return run->request->stamped && !run->streams &&
           (run->request->starts || !run->request->details.extents);
}

static uint64_t shown_from(const struct capture_region *region) {
    return region->found_first > WARMING_SHOWN_ON ? region->found_first - WARMING_SHOWN_ON : 0;
}

/* What was simulated for the region before is known. */
static bool on_before(void *context, const struct capture_region *region,
                      const struct item_data *data, const struct kept_code *code,
                      struct error *error) {
    struct second_run *run = context;
    struct before_region **before = &run->before[region->id - 1];
    const bool known =
        region->thread == run->thread && data->first_insn + data->insn_count <= run->simulated_to;
    const struct stamped_chunk chunk = {data->events, data->event_count, data->insn_count};
    const struct stamped_blocks blocks = stamped_blocks_of(code);
    const uint64_t until = region->started ? shown_from(region) : UINT64_MAX;
    run->code[region->id - 1] = code;
    if (!*before && !(*before = before_region_new(run->request->machine)))
        return error_set(error, "out of memory for time stamps");
    return known || data->first_insn >= until ||
           before_region_add(*before, &chunk, until - data->first_insn, &blocks, error);
}

static void forget_stamps(struct second_run *run, size_t number) {
    before_region_free(run->before[number]);
    run->before[number] = NULL;
}

static bool take_stamps(struct second_run *run, const struct capture_region *region,
                        struct region_trace *trace) {
    const size_t number = region->id - 1;
    const uint64_t told = region->found_first - region->told_first;
    const struct stamped_blocks blocks = stamped_blocks_of(run->code[number]);
    const bool good =
        before_region_end(run->before[number], &blocks, &trace->before, &run->add_error);
    trace->is_stamped = good;
    if (told < trace->warm)
        trace->warm = told;
    if (trace->warm <= WARMING_SHOWN_ON) /* caches are shown all of it */
        stamped_before_free(&trace->before);
    forget_stamps(run, number);
    return good;
}

/* `stream`: NULL when it is a file. */
static void add_region(struct second_run *run, const struct capture_region *region,
                       struct region_stream *stream) {
    uint64_t before = region->thread == run->thread ? run->simulated_to : 0;
    uint64_t gap = region->found_first - before, warm_up = run->request->warm_up;
    int64_t skew = region_skew(region);
    uint64_t distance = skew < 0 ? -(uint64_t)skew : (uint64_t)skew;
    if (distance > run->result->skew)
        run->result->skew = distance;
    char name[REGION_NAME];
    struct region_trace trace = region_trace_of(region, run->request->starts, name);
    trace.stream = stream;
    trace.warm = gap < warm_up ? gap : warm_up;
    trace.stamped = run->request->stamped;
    trace.cluster = run->clusters[run->choice.points[region->id - 1].slice];
    trace.stands_for = run->stand_for[region->id - 1];
    run->thread = region->thread;
    run->simulated_to = region->found_end;
    run->order[region->id - 1] = run->added_count++;
    if (run->added && is_told(run))
        run->added = take_stamps(run, region, &trace);
    if (run->added)
        run->added = region_run_add(run->result->regions, &trace, &run->add_error);
    else
        region_stream_leave(stream);
}

static void on_complete(void *context, const struct capture_region *region) {
    struct second_run *run = context;
    if (!run->streams)
        add_region(run, region, NULL);
}

/* In a file each is where it is expected. */
static void on_streamed(void *context, const struct capture_region *region,
                        struct region_stream *stream) {
    struct capture_region known = *region;
    known.found_first = region->first;
    known.found_end = region->first + region->instructions;
    add_region(context, &known, stream);
}

/* Traces begin before it is known where regions are, by a share of what lies before them
 * (trace/region_windows.c): this bounds what two of them hold in common. */
static const uint64_t MOST_STREAMED = 4000000000;

static bool make_streams(struct second_run *run, struct error *error) {
    if (!run->request->trace || run->request->instructions > MOST_STREAMED)
        return true;
    return (run->streams = region_streams_new()) || error_set(error, "out of memory for regions");
}

/* Of the regions that failed so far. */
static struct region_loss loss_so_far(struct second_run *run) {
    for (uint32_t i = 0; i < run->choice.point_count; i++)
        run->lost[i] = run->wanted[i].state == REGION_FAILED;
    return region_loss_of(run->slices, &run->choice, run->clusters, run->lost);
}

static bool is_too_much(const struct second_run *run, const struct region_loss *loss) {
    double all = (double)run->request->instructions;
    return (double)loss->instructions > REGIONS_MOST_LOST * all ||
           (double)loss->alone > MOST_LOST_ALONE * all;
}

/* What is read does not run away from what is simulated. */
static void wait_for_readers(const struct second_run *run) {
    while (region_streams_full(run->streams) && !run->request->watch->signal &&
           !region_run_failed(run->result->regions))
        region_streams_wait(run->streams);
}

/* Ends a run of which too much is lost already. */
static void forget_failed(struct second_run *run) {
    for (uint32_t i = 0; i < run->choice.point_count; i++)
        if (run->wanted[i].state == REGION_FAILED)
            forget_stamps(run, i);
}

static void on_progress(void *context, const struct region_capture_progress *sofar) {
    struct second_run *run = context;
    if (run->streams)
        wait_for_readers(run);
    while (region_run_full(run->result->regions) && !run->request->watch->signal)
        region_run_wait_for_room(run->result->regions);
    if (sofar->failed == run->failed)
        return;
    forget_failed(run);
    if (run->request->trace)
        return;
    run->failed = sofar->failed;
    struct region_loss loss = loss_so_far(run);
    if (is_too_much(run, &loss))
        region_capture_interrupt(run->capture);
}

static struct capture_options muted_capture(const struct second_run *run) {
    struct capture_options capture = *run->request->capture;
    capture.watch_effects = capture.harmless = run->request->harmless;
    capture.stop_at_limit = true;
    capture.outlived = NULL;
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
    if (!run->request->forecast_is_known &&
        !forecasting_start(forecasting, run->request->machine, run->request->ideal,
                           FORECAST_SOME_OF_REGION, MULTISIM_DRAW_OF_REGIONS, error))
        return NULL;
    const struct region_run_options options = {
        .machine = run->request->machine,
        .ideal = run->request->ideal,
        .instructions = forecasting->observers,
        .instruction_observer_count = forecasting->observer_count,
        .count_splits = forecasting->multisim != NULL,
        .isa = run->request->isa,
        .chained = true,
        .details = run->request->details,
        .starts = run->request->starts,
        .reweighted = true,
        .watcher = watcher_of(run->request->watch),
        .keep = run->request->saving ? saving_keep_region : NULL,
        .keep_context = run->request->saving};
    return region_run_new(&options, error);
}

/* Regions that the run did not come to are left out, unless that is too much. */
static bool do_without(struct second_run *run) {
    struct region_loss loss = loss_so_far(run);
    if (is_too_much(run, &loss))
        return false;
    run->result->loss = loss;
    region_leave_out(run->slices, run->clusters, run->lost, &run->choice);
    sum_clusters(run);
    return true;
}

/* What is left stands for what is lost. */
static void reweigh(struct second_run *run) {
    for (uint32_t i = 0; i < run->choice.point_count; i++) {
        const struct capture_region *region = &run->wanted[i];
        uint64_t length = region->found_end - region->found_first;
        if (run->lost[i])
            continue;
        region_run_reweigh(run->result->regions, run->order[i], run->stand_for[i]);
        if (run->request->saving)
            saving_weigh(run->request->saving, run->order[i],
                         (double)run->stand_for[i] / (double)length);
    }
}

/* False with `why` set in place of `error`: the run went another way. */
static bool capture_regions(struct second_run *run, struct error *error) {
    const struct region_capture_options options = {.capture = muted_capture(run),
                                                   .images = run->images,
                                                   .image_count = run->table->image_count,
                                                   .warm_up = run->request->warm_up,
                                                   .before = is_told(run) ? on_before : NULL,
                                                   .written = WARMING_TRAINED_ON,
                                                   .progress = on_progress,
                                                   .complete = on_complete,
                                                   .streams = run->streams,
                                                   .streamed = on_streamed,
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
    run->capture = capture;
    watch_regions(run->request->watch, capture);
    bool complete = region_capture_run(capture, &diverged);
    watch_regions(run->request->watch, NULL);
    size_t symbol_count;
    const struct code_symbol *symbols = region_capture_symbols(capture, &symbol_count);
    bool named = region_run_name(run->result->regions, symbols, symbol_count, error);
    region_capture_close(capture);
    if (!named)
        return false;
    if (!run->added) {
        *error = run->add_error;
        return false;
    }
    if (!complete && run->request->trace && !run->request->watch->signal) {
        *error = diverged;
        return false;
    }
    if (complete || run->request->watch->signal)
        return true;
    run->result->why = diverged;
    temporary_unname(&run->request->watch->temporaries, &run->result->why);
    return do_without(run);
}

/* ---- when the second run went another way ---- */

static bool sample_again(struct second_run *run, struct error *error) {
    struct second_run_result *result = run->result;
    struct capture_options capture = muted_capture(run);
    struct forecasting forecasting;
    int exec_status;
    if (!(result->trace = trace_capture(&capture, &exec_status, error)))
        return false;
    watch_trace(run->request->watch, result->trace);
    if (!forecasting_start(&forecasting, run->request->machine, run->request->ideal, FORECAST_SOME,
                           MULTISIM_DRAW, error))
        return false;
    const struct simulation_options options = {.machine = run->request->machine,
                                               .ideal = run->request->ideal,
                                               .details = run->request->details,
                                               .instructions = forecasting.observers,
                                               .instruction_observer_count =
                                                   forecasting.observer_count,
                                               .count_splits = forecasting.multisim != NULL,
                                               .sampling = run->request->sampling,
                                               .selection = {.thread = -1},
                                               .watcher = watcher_of(run->request->watch)};
    watch_begin_within(run->request->watch, "sampling", "instructions", run->request->instructions);
    bool good = simulation_run(result->trace, &options, &result->sampled, error);
    watch_end(run->request->watch);
    forecasting_end(&forecasting, &result->forecast);
    watch_trace(run->request->watch, NULL);
    return good;
}

/* Instructions simulated and warmed. */
static uint64_t work(const struct second_run *run) {
    uint64_t sum = 0, end = 0;
    for (uint32_t i = 0; i < run->choice.point_count; i++) {
        const struct capture_region *region = &run->wanted[i];
        if (i && region->thread != run->wanted[i - 1].thread)
            end = 0;
        uint64_t gap = region->first - end;
        sum += region->instructions + (gap < run->request->warm_up ? gap : run->request->warm_up);
        end = region->first + region->instructions;
    }
    return sum;
}

/* Nothing that was found of the second run counts: its regions are simulated no further. */
static bool abandon_regions(struct second_run *run, struct error *error) {
    struct second_run_result *result = run->result;
    region_run_free(result->regions);
    forecasting_end(&result->forecasting, NULL);
    return (result->regions = new_regions(run, error)) != NULL;
}

static bool steps(struct second_run *run, struct error *error) {
    struct second_run_result *result = run->result;
    if (!choose(run, error) || (!run->request->trace && !open_ends(run, error)) ||
        !(result->regions = new_regions(run, error)) || !make_streams(run, error))
        return false;
    result->slices = run->choice.slice_count;
    if (!run->request->given && !find_phases(run, error))
        return false;
    watch_begin_within(run->request->watch, "simulating regions", "instructions", work(run));
    bool good = capture_regions(run, error) && region_run_wait(result->regions, error);
    watch_end(run->request->watch);
    if (good && result->loss.points)
        reweigh(run);
    if (good)
        forecasting_end(&result->forecasting, &result->forecast);
    if (good || !result->why.message[0])
        return good;
    close_ends(run);
    return abandon_regions(run, error) && open_ends(run, error) && sample_again(run, error);
}

bool second_run(const struct second_run_request *request, struct second_run_result *result,
                struct error *error) {
    struct second_run run = {.request = request, .result = result, .input = -1, .added = true};
    bool good = steps(&run, error);
    close_ends(&run);
    region_streams_free(run.streams);
    for (uint32_t i = 0; i < run.choice.point_count && run.paths; i++) {
        if (run.paths[i])
            unlink(run.paths[i]);
        free(run.paths[i]);
    }
    for (uint32_t i = 0; i < run.choice.point_count && run.before; i++)
        forget_stamps(&run, i);
    free(run.before);
    free(run.code);
    free(run.paths);
    free(run.wanted);
    free(run.stand_for);
    free(run.order);
    free(run.lost);
    free(run.clusters);
    free(run.images);
    region_choice_free(&run.choice);
    return good;
}

void second_run_free(struct second_run_result *result) {
    region_run_free(result->regions);
    free(result->phases);
    forecasting_end(&result->forecasting, NULL);
    simulation_free(&result->sampled);
    trace_close(result->trace);
}
