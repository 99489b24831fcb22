/* The list is written again when the run is over, with what is complete. */
#include "cmd/trace_regions.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "region/captured.h"
#include "region/region_traces.h"
#include "util/text.h"

enum { SHOWN = 40 }; /* regions in the table */

/* ---- names ---- */

static bool cut_ending(char *name, const char *ending) {
    size_t length = strlen(name), size = strlen(ending);
    bool has = length > size && strcmp(name + length - size, ending) == 0;
    if (has)
        name[length - size] = 0;
    return has;
}

/* "lists/gzip.csv" -> "gzip" */
static char *default_prefix(const char *list) {
    const char *slash = strrchr(list, '/');
    char *name = strdup(slash ? slash + 1 : list);
    if (name) {
        cut_ending(name, ".csv");
        cut_ending(name, ".regions");
    }
    return name;
}

/* ---- the report ---- */

static uint64_t region_size(const struct capture_region *region) {
    return region->found_end - region->found_first;
}

static bool print_json(const struct region_traces *traces, const char *list, uint64_t warm_up) {
    json_t *regions = json_array();
    for (size_t i = 0; i < traces->list->region_count; i++) {
        const struct capture_region *region = &traces->regions[i];
        bool complete = region->state == REGION_COMPLETE;
        json_t *object = json_pack(
            "{s:I, s:I, s:I, s:I, s:I}", "region", (json_int_t)region->id, "process",
            (json_int_t)region->process, "thread", (json_int_t)region->thread, "expected_start",
            (json_int_t)region->first, "expected_instructions", (json_int_t)region->instructions);
        if (complete)
            json_object_update_new(
                object,
                json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:n}", "trace",
                          region->path, "start", (json_int_t)region->found_first, "instructions",
                          (json_int_t)region_size(region), "skew", (json_int_t)region_skew(region),
                          "trace_start", (json_int_t)region_trace_start(region), "trace_end",
                          (json_int_t)region_trace_end(region), "trace_threads",
                          (json_int_t)region->trace_threads, "others_cut", region->others_cut,
                          "bytes", (json_int_t)region->bytes, "failure"));
        else
            json_object_update_new(object,
                                   json_pack("{s:n, s:s}", "trace", "failure", region->failure));
        json_array_append_new(regions, object);
    }
    json_t *object = json_pack("{s:s, s:I, s:b, s:o}", "list", list, "warm_up", (json_int_t)warm_up,
                               "partial", verb_watch.signal != 0, "regions", regions);
    bool good = object && json_dumpf(object, stderr, JSON_INDENT(2)) == 0;
    fputc('\n', stderr);
    json_decref(object);
    return good;
}

static void print_table(const struct region_traces *traces) {
    size_t shown = 0;
    fprintf(stderr,
            "region  thread   instructions    warm-up       skew  threads        size  trace\n");
    for (size_t i = 0; i < traces->list->region_count && shown < SHOWN; i++) {
        const struct capture_region *region = &traces->regions[i];
        char path[4096];
        if (region->state != REGION_COMPLETE)
            continue;
        shown++;
        fprintf(
            stderr, "%6" PRIu32 " %7" PRIu32 " %14s %10s %+10" PRId64 " %8" PRIu32 " %11s  %s\n",
            region->id, region->thread, text_grouped(region_size(region)).s,
            text_count(region_trace_start(region)).s, region_skew(region), region->trace_threads,
            text_bytes(region->bytes).s, text_clean(path, sizeof path, region->path));
    }
}

static void print_text(const struct region_traces *traces, const char *list, size_t complete) {
    uint64_t instructions = 0, bytes = 0, skew = 0;
    size_t cut = 0;
    char path[4096];
    for (size_t i = 0; i < traces->list->region_count; i++) {
        const struct capture_region *region = &traces->regions[i];
        if (region->state != REGION_COMPLETE)
            continue;
        int64_t off = region_skew(region);
        uint64_t size = off < 0 ? -(uint64_t)off : (uint64_t)off;
        instructions += region_size(region);
        bytes += region->bytes;
        cut += region->others_cut;
        skew = size > skew ? size : skew;
    }
    fprintf(stderr, "%s: %zu of %zu region%s, %s instructions, %s%s\n",
            text_clean(path, sizeof path, list), complete, traces->list->region_count,
            text_plural(traces->list->region_count), text_count(instructions).s,
            text_bytes(bytes).s, verb_watch.signal ? " (partial)" : "");
    if (!complete)
        return;
    const struct regions_lost lost = region_list_lost(traces->list);
    if (lost.count)
        fprintf(stderr, "not captured: %s %% of the run; culprit sim --regions %s\n",
                text_percent(lost.share, 1).s,
                region_list_can_spare(&lost) ? "lets the other regions stand for it"
                                             : "cannot do without so much of it");
    print_table(traces);
    if (complete > SHOWN)
        fprintf(stderr, "... and %zu more\n", complete - SHOWN);
    if (cut)
        fprintf(stderr,
                "%zu of the traces lack%s what other threads executed later in the region, beyond "
                "%" PRIu64 " times its own instructions (--other-threads)\n",
                cut, cut == 1 ? "s" : "", traces->options.other_threads);
    if (skew)
        fprintf(stderr,
                "skew up to %s instructions: this run differs from the one that was profiled\n",
                text_grouped(skew).s);
    if (!region_list_can_spare(&lost) || traces->list->runs > 1)
        return;
    fputs("next: culprit sim --regions ", stderr);
    text_put_word(stderr, list);
    fputc('\n', stderr);
}

/* ---- the run ---- */

static int exit_status(const struct region_traces *traces, bool good) {
    if (verb_watch.signal)
        return 128 + verb_watch.signal;
    return good ? command_status(region_capture_exit(traces->capture)) : STATUS_BROKEN;
}

static size_t count_complete(const struct region_traces *traces) {
    size_t count = 0;
    for (size_t i = 0; i < traces->list->region_count; i++)
        count += traces->regions[i].state == REGION_COMPLETE;
    return count;
}

/* The command has been started. */
static int run(const struct trace_regions_request *request, struct region_traces *traces,
               struct output *output, const char *list_path) {
    struct error error = {0}, late = {0};
    watch_regions(&verb_watch, traces->capture);
    bool good = region_traces_run(traces, &error);
    watch_regions(&verb_watch, NULL);
    watch_end(&verb_watch);
    const size_t complete = count_complete(traces);
    bool written = true;
    if (complete) {
        region_list_print(traces->list, output->file);
        written = output_close(output, &late);
    }
    if (request->json)
        print_json(traces, list_path, request->warm_up);
    else if (complete)
        print_text(traces, list_path, complete);
    if (!good)
        print_error(&error);
    if (!written)
        print_error(&late);
    return exit_status(traces, good && written);
}

int trace_regions(const struct trace_regions_request *request) {
    struct error error = {0};
    struct region_list list = {0};
    struct region_traces traces = {0};
    struct output output = {0};
    int status = STATUS_BROKEN;
    char *path = NULL,
         *prefix = request->prefix ? strdup(request->prefix) : default_prefix(request->list);
    bool good = prefix && asprintf(&path, "%s.regions.csv", prefix) >= 0;
    if (!good)
        error_set(&error, "out of memory");
    good = good && region_list_read_merged(&list, request->list, &error) &&
           output_open(&output, "--output", path, NULL, &error);
    struct region_traces_options options = {.capture = request->capture,
                                            .prefix = prefix,
                                            .warm_up = request->warm_up,
                                            .other_threads = request->other_threads,
                                            .compress = request->compress,
                                            .progress = watch_region_capture,
                                            .context = &verb_watch};
    interrupt_catch();
    watch_begin_within(&verb_watch, "capturing", "instructions", list.instructions);
    good = good && region_traces_start(&traces, &list, &options, &status, &error);
    if (good) {
        status = run(request, &traces, &output, path);
    } else {
        if (traces.list)
            error_prefix(&error, "%s", request->list);
        print_error(&error);
    }
    region_traces_close(&traces);
    output_discard(&output);
    region_list_free(&list);
    free(prefix);
    free(path);
    return status;
}
