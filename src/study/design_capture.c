/* The run is kept in a file of the folder under a passing name, and profiled meanwhile. Of a long
 * one, regions are chosen and cut out of that file, which is then removed. */
#include "study/design_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/chosen_regions.h"
#include "study/design_kept.h"
#include "study/explain.h"
#include "study/kept_input.h"
#include "study/muted_output.h"
#include "study/profiled_run.h"
#include "trace/region_file.h"
#include "util/command_path.h"

struct capturing {
    const struct design_capture_request *request;
    struct design_capture *capture;
    struct input_options input; /* with descriptors */
    char key[DESIGN_KEY];
    char *whole; /* the passing name */
    struct profiled_run run;
    struct region_choice choice;
    uint32_t *clusters;
    struct capture_region *wanted;
};

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the regions");
}

/* ---- what it depends on ---- */

static void hash_text(XXH3_state_t *state, const char *text) {
    XXH3_128bits_update(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void hash_figure(XXH3_state_t *state, uint64_t number) {
    XXH3_128bits_update(state, &number, sizeof number);
}

/* A program that cannot be found is told of when it is run. */
static bool hash_command(XXH3_state_t *state, const struct input_options *input,
                         struct error *error) {
    char path[PATH_MAX], folder[PATH_MAX];
    for (size_t i = 0; input->command[i]; i++)
        hash_text(state, input->command[i]);
    hash_text(state, getcwd(folder, sizeof folder));
    for (uint32_t i = 0; i < input->variable_count; i++) {
        const char *variable = input->variables[i];
        hash_text(state, variable);
        if (!strchr(variable, '='))
            hash_text(state, getenv(variable));
    }
    if (command_find(input->command[0], path, sizeof path) == 0 &&
        !design_hash_file(state, path, error))
        return false;
    struct stat status;
    const int standard = STDIN_FILENO;
    if (fstat(standard, &status) == 0 && S_ISREG(status.st_mode) &&
        !design_hash_descriptor(state, standard, lseek(standard, 0, SEEK_CUR)))
        return error_errno(error, "standard input");
    return true;
}

static bool find_key(struct capturing *capturing, struct error *error) {
    const struct design_capture_request *request = capturing->request;
    const struct input_options *input = request->input;
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return no_memory(error);
    XXH3_128bits_reset(state);
    hash_text(state, request->version);
    hash_figure(state, request->over);
    hash_figure(state, request->regions);
    hash_figure(state, input->limit);
    hash_figure(state, input->follow);
    hash_figure(state, input->stop);
    const bool good = input->command ? hash_command(state, input, error)
                                     : design_hash_file(state, input->trace, error);
    design_key(XXH3_128bits_digest(state), capturing->key);
    XXH3_freeState(state);
    return good;
}

static bool find_identity(struct capturing *capturing, struct error *error) {
    struct design_capture *capture = capturing->capture;
    const char *trace = capture->trace ? capture->trace : capturing->request->input->trace;
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return no_memory(error);
    XXH3_128bits_reset(state);
    bool good = capture->region_count || design_hash_file(state, trace, error);
    for (size_t i = 0; good && i < capture->region_count; i++) {
        const struct design_region *region = &capture->regions[i];
        const uint64_t figures[] = {region->start, region->end, region->warm, region->stands_for,
                                    region->cluster};
        XXH3_128bits_update(state, figures, sizeof figures);
        good = design_hash_file(state, region->path, error);
    }
    design_key(XXH3_128bits_digest(state), capture->identity);
    XXH3_freeState(state);
    return good;
}

/* ---- the run ---- */

/* What the command writes goes nowhere. */
static bool profile(struct capturing *capturing, int *exec_status, struct error *error) {
    struct input_options *input = &capturing->input;
    struct profiled_run *run = &capturing->run;
    struct kept_input kept = {0};
    struct muted_output muted = {0};
    *input = *capturing->request->input;
    *run = (struct profiled_run){
        .watch = capturing->request->watch, .input = input, .file = capturing->whole};
    if (!input->command)
        return profiled_run_go(run, exec_status, error);
    int descriptor = -1;
    bool good = kept_input_start(&kept, error) &&
                (descriptor = kept_input_again(&kept, error)) >= 0 &&
                muted_output_open(&muted, error);
    input->descriptors[0] = descriptor;
    input->descriptors[1] = good ? muted.files[0] : 0;
    good = good && profiled_run_go(run, exec_status, error);
    muted_output_close(&muted);
    if (descriptor > 0)
        close(descriptor);
    kept_input_free(&kept);
    return good;
}

/* ---- regions ---- */

static bool want_regions(struct capturing *capturing, const struct slice_table *table,
                         struct error *error) {
    const struct region_choice *choice = &capturing->choice;
    struct design_capture *capture = capturing->capture;
    struct capture_region *wanted = calloc(choice->point_count + 1, sizeof *wanted);
    capturing->wanted = wanted;
    capture->regions = calloc(choice->point_count + 1, sizeof *capture->regions);
    if (!wanted || !capture->regions)
        return no_memory(error);
    for (uint32_t i = 0; i < choice->point_count; i++) {
        const uint32_t slice = choice->points[i].slice;
        const struct slice_place *place = &table->slices[slice];
        struct design_region *region = &capture->regions[i];
        if (asprintf(&region->path, "%s/%s.r%" PRIu32 ".ctrace", capturing->request->folder,
                     capturing->key, i + 1) < 0) {
            region->path = NULL;
            return no_memory(error);
        }
        capture->region_count++;
        region->cluster = capturing->clusters[slice];
        for (size_t k = 0; k < choice->slice_count; k++)
            if (choice->labels[k] == choice->points[i].cluster)
                region->stands_for += table->slices[k].instructions;
        const struct capture_region *before = i ? &wanted[i - 1] : NULL;
        wanted[i] = (struct capture_region){
            .id = i + 1,
            .process = place->process,
            .thread = place->thread,
            .first = place->first,
            .instructions = place->instructions,
            .warm_from = before ? before->first + before->instructions : 0,
            .start = {.image = UINT32_MAX, .count = 1},
            .end = {.image = UINT32_MAX, .count = slice + 1 < table->slice_count},
            .path = region->path};
    }
    return true;
}

static bool cut_regions(struct capturing *capturing, struct error *error) {
    struct watch *watch = capturing->request->watch;
    const size_t count = capturing->capture->region_count;
    const struct region_capture_options options = {
        .warm_up = EXPLAIN_WARM_UP, .progress = watch_region_capture, .context = watch};
    watch_begin_within(watch, "capturing regions", "instructions", capturing->run.instructions);
    struct region_capture *cut =
        region_capture_file(&options, capturing->wanted, count, capturing->run.path, error);
    watch_regions(watch, cut);
    const bool good = cut && region_capture_run(cut, error);
    watch_regions(watch, NULL);
    watch_end(watch);
    region_capture_close(cut);
    return good;
}

/* Each begins with the caches that the one before it left, as in explain. */
static void place_regions(struct capturing *capturing) {
    uint64_t behind = 0;
    for (size_t i = 0; i < capturing->capture->region_count; i++) {
        const struct capture_region *found = &capturing->wanted[i];
        struct design_region *region = &capturing->capture->regions[i];
        const uint64_t gap = found->found_first > behind ? found->found_first - behind : 0;
        region->start = region_trace_start(found);
        region->end = region_trace_end(found);
        region->warm = gap < EXPLAIN_WARM_UP ? gap : EXPLAIN_WARM_UP;
        region->process = found->process;
        region->thread = found->thread;
        region->first = found->first;
        behind = found->found_end;
    }
}

static bool take_regions(struct capturing *capturing, struct error *error) {
    const struct projection *slices;
    const struct slice_table *table;
    if (!chunk_profile_finish(capturing->run.profile, &slices, &table, error) ||
        !chosen_regions_find(slices, capturing->request->regions, &capturing->choice,
                             &capturing->clusters, error) ||
        !want_regions(capturing, table, error) || !cut_regions(capturing, error))
        return false;
    place_regions(capturing);
    capturing->capture->slices = table->slice_count;
    return true;
}

/* ---- all of it ---- */

/* The beginning of a trace that was given is simulated from that file. */
static enum design_how how(const struct capturing *capturing) {
    const struct chunk_profile *profile = capturing->run.profile;
    const struct input_options *input = capturing->request->input;
    return input->trace && input->limit                              ? DESIGN_IN_FULL
           : capturing->run.instructions <= capturing->request->over ? DESIGN_IN_FULL
           : chunk_profile_has_children(profile)                     ? DESIGN_SAMPLED
           : chunk_profile_threaded(profile)                         ? DESIGN_IN_FULL
                                                                     : DESIGN_BY_REGIONS;
}

static bool take_whole(struct capturing *capturing, struct error *error) {
    struct design_capture *capture = capturing->capture;
    if (!capturing->request->input->command)
        return true;
    if (asprintf(&capture->trace, "%s/%s.ctrace", capturing->request->folder, capturing->key) < 0) {
        capture->trace = NULL;
        return no_memory(error);
    }
    return rename(capturing->whole, capture->trace) == 0 ||
           error_errno(error, "%.300s", capture->trace);
}

static bool capture_run(struct capturing *capturing, int *exec_status, struct error *error) {
    struct design_capture *capture = capturing->capture;
    if (!profile(capturing, exec_status, error))
        return false;
    const struct profiled_run *run = &capturing->run;
    const struct trace_exit exit = trace_exit_status(run->trace);
    capture->how = how(capturing);
    capture->isa = trace_isa(run->trace);
    capture->instructions = run->instructions;
    if (run->input->trace && run->input->limit && run->input->limit < run->instructions)
        capture->instructions = run->input->limit;
    capture->cut = run->input->trace && trace_is_cut(run->trace);
    capture->status = exit.known && !exit.stopped ? exit.status + 128 * exit.signaled : 0;
    if (!capture->instructions)
        return error_set(error, "%.200s: no instruction of it was captured",
                         trace_command(run->trace));
    if (!run->path)
        return error_set(error,
                         "%.200s: there is no room for its trace in %.200s (end it earlier with "
                         "--limit N, or --keep another folder)",
                         trace_command(run->trace), capturing->request->folder);
    return (capture->how == DESIGN_BY_REGIONS ? take_regions(capturing, error)
                                              : take_whole(capturing, error)) &&
           find_identity(capturing, error);
}

bool design_capture_go(const struct design_capture_request *request, struct design_capture *capture,
                       int *exec_status, struct error *error) {
    struct capturing capturing = {.request = request, .capture = capture};
    *capture = (struct design_capture){0};
    if (!find_key(&capturing, error))
        return false;
    if (design_kept_capture(request->folder, capturing.key, capture)) {
        memcpy(capture->key, capturing.key, DESIGN_KEY);
        capture->found = true;
        return true;
    }
    if (asprintf(&capturing.whole, "%s/%s.part", request->folder, capturing.key) < 0)
        return no_memory(error);
    memcpy(capture->key, capturing.key, DESIGN_KEY);
    bool good = capture_run(&capturing, exec_status, error);
    if (request->watch->signal)
        good = error_set(error, "interrupted before any point was simulated");
    good = good && design_keep_capture(request->folder, capturing.key, capture, error);
    for (size_t i = 0; !good && i < capture->region_count; i++)
        unlink(capture->regions[i].path);
    profiled_run_free(&capturing.run);
    unlink(capturing.whole);
    region_choice_free(&capturing.choice);
    free(capturing.clusters);
    free(capturing.wanted);
    free(capturing.whole);
    return good;
}

uint64_t design_capture_work(const struct design_capture *capture) {
    uint64_t sum = 0;
    for (size_t i = 0; i < capture->region_count; i++)
        sum += capture->regions[i].end - capture->regions[i].start + capture->regions[i].warm;
    return capture->region_count ? sum : capture->instructions;
}

void design_capture_free(struct design_capture *capture) {
    for (size_t i = 0; i < capture->region_count; i++)
        free(capture->regions[i].path);
    free(capture->regions);
    free(capture->trace);
    *capture = (struct design_capture){0};
}
