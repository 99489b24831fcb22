/* The counts in a file: a line, or an object, for each block, edge and instruction. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region/execution_counts.h"
#include "util/csv.h"
#include "util/json_text.h"

static const char *const EDGE_NAMES[EDGE_KINDS] = {[EDGE_FALL_THROUGH] = "fall-through",
                                                   [EDGE_TAKEN] = "taken",
                                                   [EDGE_INDIRECT] = "indirect",
                                                   [EDGE_SIGNAL] = "signal"};

struct sheet {
    FILE *file;
    const struct profile_code *code;
    const struct execution_counts *counts;
    struct executed_list insns, edges;
};

static void csv_point(const struct sheet *sheet, const struct execution_point *point) {
    if (point->image != MARKER_NO_IMAGE)
        csv_put(sheet->file, sheet->code->images[point->image].path);
    fprintf(sheet->file, ",0x%" PRIx64 ",", point->offset);
}

static void write_csv(const struct sheet *sheet) {
    fputs("kind,image,offset,to-image,to-offset,how,instructions,times\n", sheet->file);
    for (uint32_t id = 1; id <= sheet->code->block_count && id <= sheet->counts->capacity; id++) {
        const struct profile_block *block = profile_code_at(sheet->code, id);
        if (!sheet->counts->times[id - 1])
            continue;
        fputs("block,", sheet->file);
        csv_point(sheet, &(struct execution_point){block->place.image, block->place.offset});
        fprintf(sheet->file, ",,,%" PRIu32 ",%" PRIu64 "\n", block->place.insn_count,
                sheet->counts->times[id - 1]);
    }
    for (size_t i = 0; i < sheet->edges.count; i++) {
        const struct executed *edge = sheet->edges.items + i;
        fputs("edge,", sheet->file);
        csv_point(sheet, &edge->at);
        csv_point(sheet, &edge->to);
        fprintf(sheet->file, "%s,,%" PRIu64 "\n", EDGE_NAMES[edge->kind], edge->times);
    }
    for (size_t i = 0; i < sheet->insns.count; i++) {
        fputs("instruction,", sheet->file);
        csv_point(sheet, &sheet->insns.items[i].at);
        fprintf(sheet->file, ",,,1,%" PRIu64 "\n", sheet->insns.items[i].times);
    }
}

static void json_point(FILE *file, const char *prefix, const struct execution_point *point) {
    if (point->image == MARKER_NO_IMAGE)
        fprintf(file, "\"%simage\": null", prefix);
    else
        fprintf(file, "\"%simage\": %" PRIu32, prefix, point->image);
    fprintf(file, ", \"%soffset\": %" PRIu64, prefix, point->offset);
}

static const char *separator(bool *first) {
    const char *text = *first ? "\n  {" : ",\n  {";
    *first = false;
    return text;
}

static void write_json_images(const struct sheet *sheet) {
    bool first = true;
    for (size_t i = 0; i < sheet->code->image_count; i++) {
        const struct region_image *image = sheet->code->images + i;
        fprintf(sheet->file, "%s\"path\": ", separator(&first));
        json_text_write(image->path, sheet->file);
        fputs(", \"build_id\": \"", sheet->file);
        for (unsigned k = 0; k < image->build_id_size; k++)
            fprintf(sheet->file, "%02x", image->build_id[k]);
        fputs("\"}", sheet->file);
    }
}

static void write_json(const struct sheet *sheet, const char *command) {
    FILE *file = sheet->file;
    bool first = true;
    fputs("{\"command\": ", file);
    json_text_write(command, file);
    fputs(", \"images\": [", file);
    write_json_images(sheet);
    fputs("],\n \"blocks\": [", file);
    for (uint32_t id = 1; id <= sheet->code->block_count && id <= sheet->counts->capacity; id++) {
        const struct profile_block *block = profile_code_at(sheet->code, id);
        if (!sheet->counts->times[id - 1])
            continue;
        fputs(separator(&first), file);
        json_point(file, "", &(struct execution_point){block->place.image, block->place.offset});
        fprintf(file, ", \"instructions\": %" PRIu32 ", \"times\": %" PRIu64 "}",
                block->place.insn_count, sheet->counts->times[id - 1]);
    }
    fputs("],\n \"edges\": [", file);
    first = true;
    for (size_t i = 0; i < sheet->edges.count; i++) {
        const struct executed *edge = sheet->edges.items + i;
        fputs(separator(&first), file);
        json_point(file, "", &edge->at);
        fputs(", ", file);
        json_point(file, "to_", &edge->to);
        fprintf(file, ", \"how\": \"%s\", \"times\": %" PRIu64 "}", EDGE_NAMES[edge->kind],
                edge->times);
    }
    fputs("],\n \"instructions\": [", file);
    first = true;
    for (size_t i = 0; i < sheet->insns.count; i++) {
        fputs(separator(&first), file);
        json_point(file, "", &sheet->insns.items[i].at);
        fprintf(file, ", \"times\": %" PRIu64 "}", sheet->insns.items[i].times);
    }
    fputs("]}\n", file);
}

bool execution_counts_write(const struct execution_counts *counts, const struct profile_code *code,
                            const char *command, const char *path, struct error *error) {
    size_t length = strlen(path);
    struct sheet sheet = {.code = code, .counts = counts};
    bool good = execution_list_insns(counts, code, &sheet.insns) &&
                execution_list_edges(counts, code, &sheet.edges);
    if (!good)
        error_set(error, "%s: out of memory for the counts", path);
    sheet.file = good ? fopen(path, "we") : NULL;
    if (good && !sheet.file)
        good = error_errno(error, "%s: cannot write", path);
    if (good && length > 5 && strcmp(path + length - 5, ".json") == 0)
        write_json(&sheet, command);
    else if (good)
        write_csv(&sheet);
    bool failed = sheet.file && ferror(sheet.file);
    if (sheet.file && (fclose(sheet.file) != 0 || failed))
        good = error_errno(error, "%s: cannot write", path);
    free(sheet.insns.items);
    free(sheet.edges.items);
    return good;
}
