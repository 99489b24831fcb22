#include "study/whole_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region/captured.h"
#include "simulate/selection.h"
#include "study/opened_trace.h"
#include "study/trace_starts.h"
#include "trace/region_file.h"
#include "util/array.h"

/* ---- where regions begin ---- */

static bool want_starts(struct whole_trace *whole) {
    const struct region_list *list = whole->list;
    return all_where(
        i, list->region_count,
        stack_starts_want(whole->starts, list->regions[i].thread, list->regions[i].first));
}

static bool of_another_run(const struct whole_trace *whole, uint64_t instructions,
                           struct error *error) {
    return error_set(error,
                     "%s: its regions were chosen from a run of %" PRIu64
                     " instructions, and %s has %" PRIu64,
                     whole->list_path, whole->list->instructions, whole->path, instructions);
}

/* To the end of the trace, by one thread. */
static bool read_all(struct whole_trace *whole, uint64_t *instructions, struct error *error) {
    const uint32_t thread = whole->list->region_count ? whole->list->regions[0].thread : 0;
    struct trace_batch batch;
    int status = 1;
    *instructions = 0;
    while (!whole->watch->signal) {
        if (!whole->starts)
            trace_pass(whole->trace, UINT64_MAX);
        if ((status = trace_next(whole->trace, &batch, error)) <= 0)
            break;
        const uint64_t count = batch.insn_count + batch.passed;
        if (count && batch.thread != thread)
            return error_set(error,
                             "%s: it has several threads or programs: regions are cut out of the "
                             "trace of one",
                             whole->path);
        if (whole->starts &&
            !stack_starts_see_batch(whole->starts, trace_code(whole->trace), &batch))
            return error_set(error, "out of memory for call paths");
        watch_progress(whole->watch, *instructions += count);
    }
    return status >= 0;
}

bool whole_trace_read(struct whole_trace *whole, const struct path_extents *extents, bool data,
                      struct error *error) {
    uint64_t instructions = 0;
    if (!(whole->trace = opened_trace(whole->path, error)))
        return false;
    if (extents && (!(whole->starts = stack_starts_new(extents, data)) || !want_starts(whole)))
        return error_set(error, "out of memory for call paths");
    watch_trace(whole->watch, whole->trace);
    watch_begin(whole->watch, "reading", "instructions", whole->list->instructions);
    const bool good = read_all(whole, &instructions, error);
    watch_end(whole->watch);
    watch_trace(whole->watch, NULL);
    if (!good)
        return false;
    if (whole->watch->signal)
        return error_set(error, "interrupted before any region was simulated");
    if (instructions != whole->list->instructions)
        return of_another_run(whole, instructions, error);
    return !whole->starts || stack_starts_end(whole->starts, trace_code(whole->trace)) ||
           error_set(error, "out of memory for call paths");
}

/* ---- the regions ---- */

struct cutting {
    const struct whole_trace *whole;
    struct region_run *run;
    const struct capture_region *wanted;
    const uint64_t *shares;
    uint64_t warm_up;
    bool added; /* all so far */
    struct error error;
};

static void on_complete(void *context, const struct capture_region *region) {
    struct cutting *cutting = context;
    const size_t number = (size_t)(region - cutting->wanted);
    char name[REGION_NAME];
    struct region_trace trace = region_trace_of(region, cutting->whole->starts, name);
    trace.warm = cutting->warm_up;
    trace.stamped = cutting->warm_up == UINT64_MAX;
    trace.only = 0;
    trace.cluster = cutting->whole->list->regions[number].cluster;
    trace.stands_for = cutting->shares[number];
    if (cutting->added)
        cutting->added = region_run_add(cutting->run, &trace, &cutting->error);
}

static bool describe(const struct whole_trace *whole, struct capture_region *wanted, char **paths) {
    for (size_t i = 0; i < whole->list->region_count; i++) {
        const struct region *region = &whole->list->regions[i];
        if (asprintf(&paths[i], "%s/r%" PRIu32 ".ctrace", whole->folder, region->id) < 0) {
            paths[i] = NULL;
            return false;
        }
        wanted[i] = (struct capture_region){.id = region->id,
                                            .process = region->process,
                                            .thread = region->thread,
                                            .first = region->first,
                                            .instructions = region->instructions,
                                            .end = {.count = region->end.count},
                                            .path = paths[i]};
    }
    return true;
}

static bool cut(struct cutting *cutting, struct capture_region *wanted, struct error *error) {
    const struct whole_trace *whole = cutting->whole;
    const uint64_t warm_up = cutting->warm_up;
    const struct region_capture_options options = {
        .warm_up = warm_up == UINT64_MAX ? REGION_DEFAULT_WARM_UP : warm_up,
        .complete = on_complete,
        .context = cutting};
    struct region_capture *capture =
        region_capture_file(&options, wanted, whole->list->region_count, whole->path, error);
    if (!capture)
        return false;
    watch_regions(whole->watch, capture);
    bool good = region_capture_run(capture, error) || whole->watch->signal;
    watch_regions(whole->watch, NULL);
    size_t count;
    const struct code_symbol *symbols = region_capture_symbols(capture, &count);
    good = good && region_run_name(cutting->run, symbols, count, error);
    region_capture_close(capture);
    if (good && !cutting->added)
        *error = cutting->error;
    return good && cutting->added && region_run_wait(cutting->run, error);
}

bool whole_trace_cut(struct whole_trace *whole, struct region_run *run, uint64_t warm_up,
                     const uint64_t *shares, struct error *error) {
    const size_t count = whole->list->region_count;
    struct capture_region *wanted = calloc(count + 1, sizeof *wanted);
    char **paths = calloc(count + 1, sizeof *paths);
    struct cutting cutting = {.whole = whole,
                              .run = run,
                              .wanted = wanted,
                              .shares = shares,
                              .warm_up = warm_up,
                              .added = true};
    bool good = wanted && paths &&
                (whole->folder = temporary_folder(&whole->watch->temporaries, error)) != NULL;
    if (!wanted || !paths || (good && !describe(whole, wanted, paths)))
        good = error_set(error, "out of memory for the regions");
    good = good && cut(&cutting, wanted, error);
    array_free_each(paths, count);
    free(wanted);
    return good;
}

void whole_trace_free(struct whole_trace *whole) {
    if (whole->watch)
        temporary_remove(&whole->watch->temporaries, whole->folder);
    stack_starts_free(whole->starts);
    trace_close(whole->trace);
    *whole = (struct whole_trace){.watch = NULL};
}
