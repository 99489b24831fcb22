/* The traces of regions that were captured, as text and as JSON. */
#include "report/region_traces_report.h"

#include <inttypes.h>

#include "region/captured.h"
#include "report/json_values.h"
#include "util/array.h"
#include "util/text.h"

enum { SHOWN = 40 }; /* regions in the table */

size_t region_traces_complete(const struct region_traces *traces) {
    return sum_over(size_t, i, traces->list->region_count,
                    traces->regions[i].state == REGION_COMPLETE);
}

static uint64_t region_size(const struct capture_region *region) {
    return region->found_end - region->found_first;
}

bool region_traces_json(const struct region_traces *traces, const char *list, bool partial,
                        FILE *file, struct error *error) {
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
                json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:n}", "trace",
                          json_text(region->path), "start", (json_int_t)region->found_first,
                          "instructions", (json_int_t)region_size(region), "skew",
                          (json_int_t)region_skew(region), "trace_start",
                          (json_int_t)region_trace_start(region), "trace_end",
                          (json_int_t)region_trace_end(region), "trace_threads",
                          (json_int_t)region->trace_threads, "others_cut", region->others_cut,
                          "bytes", (json_int_t)region->bytes, "failure"));
        else
            json_object_update_new(
                object, json_pack("{s:n, s:o}", "trace", "failure", json_text(region->failure)));
        json_array_append_new(regions, object);
    }
    json_t *object =
        json_pack("{s:o, s:I, s:b, s:o}", "list", json_text(list), "warm_up",
                  (json_int_t)traces->options.warm_up, "partial", partial, "regions", regions);
    return json_write(object, file, error);
}

static void print_table(const struct region_traces *traces, FILE *file) {
    size_t shown = 0;
    fprintf(file,
            "region  thread   instructions    warm-up       skew  threads        size  trace\n");
    for (size_t i = 0; i < traces->list->region_count && shown < SHOWN; i++) {
        const struct capture_region *region = &traces->regions[i];
        char path[4096];
        if (region->state != REGION_COMPLETE)
            continue;
        shown++;
        fprintf(file, "%6" PRIu32 " %7" PRIu32 " %14s %10s %+10" PRId64 " %8" PRIu32 " %11s  %s\n",
                region->id, region->thread, text_grouped(region_size(region)).s,
                text_count(region_trace_start(region)).s, region_skew(region),
                region->trace_threads, text_bytes(region->bytes).s,
                text_clean(path, sizeof path, region->path));
    }
}

void region_traces_text(const struct region_traces *traces, const char *list, bool partial,
                        FILE *file) {
    const size_t complete = region_traces_complete(traces);
    uint64_t instructions = 0, bytes = 0, skew = 0;
    size_t cut = 0;
    char path[4096];
    if (!complete)
        return;
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
    fprintf(file, "%s: %zu of %zu region%s, %s instructions, %s%s\n",
            text_clean(path, sizeof path, list), complete, traces->list->region_count,
            text_plural(traces->list->region_count), text_count(instructions).s,
            text_bytes(bytes).s, partial ? " (partial)" : "");
    const struct regions_lost lost = region_list_lost(traces->list);
    if (lost.count)
        fprintf(file, "not captured: %s %% of the run; culprit sim --regions %s\n",
                text_percent(lost.share, 1).s,
                region_list_can_spare(&lost) ? "lets the other regions stand for it"
                                             : "cannot do without so much of it");
    print_table(traces, file);
    if (complete > SHOWN)
        fprintf(file, "... and %zu more\n", complete - SHOWN);
    if (cut)
        fprintf(file,
                "%zu of the traces lack%s what other threads executed later in the region, beyond "
                "%" PRIu64 " times its own instructions (--other-threads)\n",
                cut, cut == 1 ? "s" : "", traces->options.other_threads);
    if (skew)
        fprintf(file,
                "skew up to %s instructions: this run differs from the one that was profiled\n",
                text_grouped(skew).s);
    if (!region_list_can_spare(&lost) || traces->list->runs > 1)
        return;
    fputs("next: culprit sim --regions ", file);
    text_put_word(file, list);
    fputc('\n', file);
}
