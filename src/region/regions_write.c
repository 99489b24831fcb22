/* A list of regions as regions_read.c reads it: comments, the line of column names, a line for each
 * region. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "region/region_columns.h"
#include "region/regions.h"
#include "util/csv.h"
#include "util/text.h"

const char *const region_columns[COLUMNS] = {
    "comment",       "process",       "thread-id",         "region-id",      "slice",
    "start-icount",  "end-icount",    "start-image",       "start-build-id", "start-offset",
    "start-count",   "end-image",     "end-build-id",      "end-offset",     "end-count",
    "region-length", "region-weight", "region-multiplier", "trace",          "trace-start",
    "trace-end",     "skew"};

static void put_marker(FILE *out, const struct region_list *list,
                       const struct region_marker *marker) {
    if (marker->count == 0) {
        fputs(",,,,", out);
        return;
    }
    putc(',', out);
    if (marker->image == MARKER_NO_IMAGE)
        putc(',', out);
    else {
        const struct region_image *image = &list->images[marker->image];
        csv_put(out, image->path);
        putc(',', out);
        for (unsigned i = 0; i < image->build_id_size; i++)
            fprintf(out, "%02x", image->build_id[i]);
    }
    fprintf(out, ",0x%" PRIx64 ",%" PRIu64, marker->offset, marker->count);
}

static void put_trace(FILE *out, const struct region *region) {
    putc(',', out);
    if (!region->trace) {
        fputs(",,,", out);
        return;
    }
    csv_put(out, region->trace);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRId64, region->trace_start, region->trace_end,
            region->skew);
}

static void put_region(FILE *out, const struct region_list *list, const struct region *region,
                       bool captured) {
    fprintf(out,
            "cluster %" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64
            ",%" PRIu64,
            region->cluster, region->process, region->thread, region->id, region->slice,
            region->first, region->first + region->instructions);
    put_marker(out, list, &region->start);
    put_marker(out, list, &region->end);
    fprintf(out, ",%" PRIu64 ",", region->instructions);
    csv_put_number(out, region->weight);
    putc(',', out);
    csv_put_number(out, region->multiplier);
    if (captured)
        put_trace(out, region);
    putc('\n', out);
}

static void put_comment(FILE *out, const char *text) {
    size_t room = 4 * strlen(text) + 1;
    char *clean = malloc(room); /* a line end in it would end the comment */
    fputs(clean ? text_clean(clean, room, text) : "", out);
    free(clean);
    putc('\n', out);
}

static void put_origins(FILE *out, const struct region_list *list) {
    for (size_t i = 0; i < list->process_count; i++) {
        const struct slice_process *process = &list->processes[i];
        fprintf(out, "# process: %zu ", i);
        if (process->forker == UINT32_MAX)
            fputs("-", out);
        else
            fprintf(out, "%" PRIu32, process->forker);
        fprintf(out, " %" PRIu32 " %" PRIu32 " ", process->fork, process->generation);
        put_comment(out, process->executable);
        if (!process->command)
            continue;
        fprintf(out, "# process-command: %zu ", i);
        put_comment(out, process->command);
    }
    for (size_t i = 0; i < list->thread_count; i++)
        fprintf(out, "# thread: %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", list->threads[i].thread,
                list->threads[i].process, list->threads[i].ordinal);
}

void region_list_print(const struct region_list *list, FILE *out) {
    bool captured = false;
    for (size_t i = 0; i < list->region_count; i++)
        captured |= list->regions[i].trace != NULL;
    fprintf(out, "# culprit-regions 1\n# isa: %s\n# command: ",
            list->isa == ISA_X86_64 ? "x86_64" : "riscv64");
    put_comment(out, list->command);
    fprintf(out, "# instructions: %" PRIu64 "\n# slices: %" PRIu64 "\n# method: %s\n",
            list->instructions, list->slice_count, list->method);
    if (list->runs)
        fprintf(out, "# merged: %" PRIu32 " %" PRIu32 " %" PRIu64 "\n", list->run, list->runs,
                list->all_instructions);
    put_origins(out, list);
    for (int i = 0; i < (captured ? COLUMNS : CHOSEN_COLUMNS); i++)
        fprintf(out, "%s%s", i ? "," : "", region_columns[i]);
    putc('\n', out);
    for (size_t i = 0; i < list->region_count; i++)
        put_region(out, list, &list->regions[i], captured);
}
