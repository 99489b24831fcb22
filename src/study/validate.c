/* The first run has the command's own standard streams. The second reads the same standard input,
 * which is kept for it, and writes to nobody. */
#include "study/validate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/counters.h"
#include "region/bbv_profile.h"
#include "region/choose.h"
#include "region/region_traces.h"
#include "study/kept_input.h"
#include "study/muted_output.h"
#include "util/temporary.h"

static char *in_folder(const struct validate_run *run, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", run->folder, name) < 0 ? NULL : path;
}

static bool make_folder(struct validate_run *run, struct error *error) {
    return (run->folder = temporary_folder(&run->watch->temporaries, error)) &&
           (((run->full = in_folder(run, "full.ctrace")) &&
             (run->list_path = in_folder(run, "regions.csv"))) ||
            error_set(error, "out of memory"));
}

/* ---- the first run ---- */

static bool capture_full(struct validate_run *run, const struct validate_run_request *request,
                         const struct kept_input *input, struct capture_result *result,
                         int *exec_status, struct error *error) {
    struct capture_options capture = input_capture(run->watch, &request->input);
    capture.watch_effects = true;
    capture.descriptors[0] = input->first;
    capture.stop = &run->watch->signal;
    const struct watcher watcher = watcher_of(run->watch);
    int status = 0;
    watch_begin_within(run->watch, "capturing", "instructions", request->input.limit);
    bool good = trace_record(&capture, run->full, false, &watcher, result, &status, error);
    watch_end(run->watch);
    if (!good && status)
        *exec_status = status;
    if (good && run->watch->signal)
        good = error_set(error, "interrupted before the run was captured");
    if (good && !result->instructions)
        good = error_set(error, "the command executed no instruction that was captured");
    memcpy(run->effect, result->effect, sizeof run->effect);
    run->exit = result->exit;
    return good;
}

static bool profile(const struct validate_run *run, const struct validate_run_request *request,
                    const char *vectors, struct error *error) {
    struct bbv_profile_result result = {0};
    int exec_status;
    watch_begin(run->watch, "profiling", "instructions", 0);
    const struct bbv_profile_options options = {.trace = run->full,
                                                .size = request->slice,
                                                .path = vectors,
                                                .watcher = watcher_of(run->watch)};
    bool good = bbv_profile(&options, &result, &exec_status, error);
    watch_end(run->watch);
    bbv_profile_result_free(&result);
    return good;
}

static bool choose(const struct validate_run *run, const struct validate_run_request *request,
                   struct region_list *list, struct error *error) {
    struct choose_settings settings = CHOOSE_DEFAULTS;
    settings.selection.clusters.max_clusters = request->max_regions;
    char *vectors = in_folder(run, "full.bb");
    if (!vectors)
        return error_set(error, "out of memory");
    bool good = profile(run, request, vectors, error) &&
                region_list_choose(list, vectors, &settings, error);
    free(vectors);
    return good;
}

/* ---- the second run ---- */

struct streams {
    struct muted_output output;
    int input;
    int descriptors[3];
};

static bool open_streams(struct streams *streams, const struct kept_input *input,
                         struct error *error) {
    streams->input = kept_input_again(input, error);
    if (streams->input < 0 || !muted_output_open(&streams->output, error))
        return false;
    streams->descriptors[0] = streams->input;
    streams->descriptors[1] = streams->output.files[0];
    streams->descriptors[2] = streams->output.files[1];
    return true;
}

static void close_streams(struct streams *streams) {
    muted_output_close(&streams->output);
    if (streams->input >= 0)
        close(streams->input);
    streams->input = -1;
}

/* A region that is not reached is a finding, not a failure of validate. */
static void capture_regions(struct validate_run *run, const struct validate_run_request *request,
                            struct region_list *list, const struct streams *streams) {
    struct region_traces traces = {0};
    struct error error = {0};
    int exec_status;
    char *prefix = in_folder(run, "region");
    if (!prefix)
        return;
    struct region_traces_options options = {.capture = input_conditions(&request->input),
                                            .prefix = prefix,
                                            .warm_up = request->warm_up,
                                            .progress = watch_region_capture,
                                            .context = run->watch};
    options.capture.thread = -1;
    options.capture.stop_at_limit = true;
    options.capture.watch_effects = options.capture.harmless = !request->rerun;
    memcpy(options.capture.descriptors, streams->descriptors, sizeof streams->descriptors);
    watch_begin_within(run->watch, "running again", "instructions", list->instructions);
    bool good = region_traces_start(&traces, list, &options, &exec_status, &error) &&
                region_traces_run(&traces, &error);
    watch_end(run->watch);
    temporary_unname(&run->watch->temporaries, &error);
    if (!good)
        snprintf(run->failure, sizeof run->failure, "%.390s", error.message);
    region_traces_close(&traces);
    free(prefix);
}

static void read_counters(struct validate_run *run, const struct validate_run_request *request,
                          const struct streams *streams) {
    static const enum counted_event events[] = {COUNTED_CYCLES, COUNTED_INSTRUCTIONS};
    uint64_t counts[2];
    struct error ignored; /* a machine without counters is told as such */
    if (request->input.limit || !counters_have(COUNTED_CYCLES) ||
        !counters_have(COUNTED_INSTRUCTIONS))
        return;
    if (counters_run(request->input.command, streams->descriptors, events, counts, 2, &ignored) &&
        counts[1])
        run->hardware = (struct hardware_reference){
            .known = true, .cycles = counts[0], .instructions = counts[1]};
}

static void run_again(struct validate_run *run, const struct validate_run_request *request,
                      struct region_list *list, struct kept_input *input) {
    struct streams streams = {.input = -1};
    struct error error = {0};
    if (run->effect[0] && !request->rerun)
        snprintf(run->kept, sizeof run->kept,
                 "the command cannot be repeated (%s), so it was not run again; --rerun does",
                 run->effect);
    else if (!kept_input_end(input, &error) || !open_streams(&streams, input, &error))
        snprintf(run->kept, sizeof run->kept, "%.390s", error.message);
    else
        capture_regions(run, request, list, &streams);
    close_streams(&streams);
    if (!run->kept[0] && open_streams(&streams, input, &error))
        read_counters(run, request, &streams);
    close_streams(&streams);
}

/* ---- the door ---- */

static bool run_steps(struct validate_run *run, const struct validate_run_request *request,
                      struct region_list *list, struct kept_input *input, int *exec_status,
                      struct error *error) {
    struct capture_result captured;
    if (!make_folder(run, error) || !kept_input_start(input, error) ||
        !capture_full(run, request, input, &captured, exec_status, error))
        return false;
    if (!choose(run, request, list, error))
        return false;
    if (!run->watch->signal)
        run_again(run, request, list, input);
    return true;
}

bool validate_run_go(struct validate_run *run, const struct validate_run_request *request,
                     struct region_list *list, int *exec_status, struct error *error) {
    struct kept_input input = {0};
    run->watch = request->watch;
    bool good = run_steps(run, request, list, &input, exec_status, error);
    kept_input_free(&input);
    return good;
}

void validate_run_free(struct validate_run *run) {
    if (run->folder)
        temporary_remove(&run->watch->temporaries, run->folder);
    free(run->full);
    free(run->list_path);
    *run = (struct validate_run){0};
}

/* ---- simulating ---- */

static bool add_from_cluster(void *context, struct region_run *run,
                             const struct region_trace *regions, size_t count,
                             struct error *error) {
    const struct validate_simulation *simulation = context;
    return region_tasks_add(simulation->cluster, simulation->list_path, regions, count, run, error);
}

static bool alone(const struct validate_simulation *simulation, const char *trace, uint64_t warm_up,
                  const struct validation_options *options, struct validation *validation,
                  struct error *error) {
    watch_begin(simulation->watch, "regions alone", "instructions", 0);
    bool good = validation_alone(validation, trace, simulation->list_path, warm_up, options, error);
    watch_end(simulation->watch);
    return good;
}

static bool try_warm_ups(const struct validate_simulation *simulation,
                         const struct region_list *list, const struct validation_options *options,
                         struct validation *validation, struct error *error) {
    for (uint32_t i = 0; i < simulation->warm_up_count; i++)
        if (!alone(simulation, simulation->full, simulation->warm_ups[i], options, validation,
                   error))
            return false;
    bool captured = list->region_count > 0;
    for (size_t i = 0; i < list->region_count; i++)
        captured &= list->regions[i].trace != NULL;
    return !captured || alone(simulation, NULL, UINT64_MAX, options, validation, error);
}

bool validate_simulate(const struct validate_simulation *simulation, const struct region_list *list,
                       struct validation *validation, struct error *error) {
    const struct validation_options options = {.machine = simulation->machine,
                                               .ideal = simulation->ideal,
                                               .jobs = simulation->jobs,
                                               .watcher = watcher_of(simulation->watch),
                                               .add = simulation->cluster ? add_from_cluster : NULL,
                                               .add_context = (void *)simulation};
    watch_begin(simulation->watch, "the whole run", "instructions", list->instructions);
    bool good = validation_full(validation, list, simulation->full, &options, error);
    watch_end(simulation->watch);
    return good && (try_warm_ups(simulation, list, &options, validation, error) ||
                    simulation->watch->signal);
}
