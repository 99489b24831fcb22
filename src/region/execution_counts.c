/* Edges between blocks are counted in a table with open addressing; what is asked of them, edges
 * between instructions and counts of each instruction, is made of it at the end: blocks may
 * overlap, and several have the same last instruction. */
#include "region/execution_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "trace/event.h"
#include "util/array.h"
#include "util/csv.h"
#include "util/order.h"

void execution_counts_free(struct execution_counts *counts) {
    free(counts->times);
    free(counts->edges);
    *counts = (struct execution_counts){0};
}

/* ---- counting ---- */

static struct block_edge *find_edge(const struct execution_counts *counts,
                                    const struct block_edge *edge) {
    uint64_t key = (uint64_t)edge->from << 32 | edge->to;
    key = (key ^ (uint64_t)edge->cut << 20 ^ edge->signal) * 0x9e3779b97f4a7c15;
    for (size_t at = key >> 20 & (counts->edge_size - 1);;
         at = (at + 1) & (counts->edge_size - 1)) {
        struct block_edge *slot = counts->edges + at;
        if (!slot->from || (slot->from == edge->from && slot->to == edge->to &&
                            slot->cut == edge->cut && slot->signal == edge->signal))
            return slot;
    }
}

static bool grow_edges(struct execution_counts *counts) {
    if (2 * (counts->edge_count + 1) <= counts->edge_size)
        return true;
    struct execution_counts grown = {.edge_size =
                                         counts->edge_size ? 2 * counts->edge_size : 1 << 12};
    grown.edges = calloc(grown.edge_size, sizeof *grown.edges);
    if (!grown.edges)
        return false;
    for (size_t i = 0; i < counts->edge_size; i++)
        if (counts->edges[i].from)
            *find_edge(&grown, counts->edges + i) = counts->edges[i];
    free(counts->edges);
    counts->edges = grown.edges;
    counts->edge_size = grown.edge_size;
    return true;
}

/* `to` 0: where it went is not known. */
static bool count_edge(struct execution_counts *counts, const struct execution_place *place,
                       uint32_t to) {
    if (!grow_edges(counts))
        return false;
    struct block_edge edge = {place->id, to, place->cut, place->signal, 0};
    struct block_edge *slot = find_edge(counts, &edge);
    if (!slot->from) {
        *slot = edge;
        counts->edge_count++;
    }
    slot->times++;
    return true;
}

/* Only part of the block was executed when the next begins inside it, and no branch leads there. */
static void judge(const struct profile_code *code, struct execution_place *place, uint32_t to) {
    const struct profile_block *from = profile_code_at(code, place->id);
    const struct slice_block *next = &profile_code_at(code, to)->place;
    if (place->cut || next->image != from->place.image || next->offset < from->place.offset ||
        next->offset - from->place.offset >= from->size)
        return;
    /* After a store into its own code, QEMU repeats the instruction as a block of its own. */
    bool repeated = next->insn_count == 1 && from->place.insn_count > 1;
    if (from->target == next->offset || (from->branch >= BRANCH_INDIRECT && !repeated))
        return;
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    for (uint32_t i = 0, count = profile_code_starts(code, place->id, starts); i < count; i++)
        if (from->place.offset + starts[i] == next->offset)
            place->cut = i + 1;
}

bool execution_enter(struct execution_counts *counts, const struct profile_code *code,
                     struct execution_place *place, uint32_t id) {
    if (!array_zeroed_room(counts->times, counts->capacity, id))
        return false;
    counts->times[id - 1]++;
    if (place->id) {
        judge(code, place, id);
        if (!count_edge(counts, place, id))
            return false;
    }
    *place = (struct execution_place){.id = id};
    return true;
}

bool execution_leave(struct execution_counts *counts, struct execution_place *place) {
    bool good = !place->id || count_edge(counts, place, 0);
    *place = (struct execution_place){0};
    return good;
}

/* ---- instructions and edges between them ---- */

struct point {
    uint32_t image;
    uint64_t offset;
};

struct executed {
    struct point at, to; /* `to` of edges */
    enum edge_kind kind;
    uint64_t times;
};

static int compare_points(const struct point *a, const struct point *b) {
    return ascending(a->image, b->image) ?: ascending(a->offset, b->offset);
}

ORDER(compare_executed, struct executed, compare_points(&a->at, &b->at) ?: compare_points(&a->to, &b->to) ?:
           ascending(a->kind, b->kind))

struct list {
    struct executed *items;
    size_t count, capacity;
};

/* Sorts, and makes one of those that are alike. */
static void settle(struct list *list) {
    size_t kept = 0;
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_executed);
    for (size_t i = 0; i < list->count; i++)
        if (kept && !compare_executed(list->items + kept - 1, list->items + i))
            list->items[kept - 1].times += list->items[i].times;
        else
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static bool add(struct list *list, const struct executed *item) {
    return array_push(list->items, list->capacity, list->count, *item);
}

static struct point point_in(const struct profile_block *block, uint32_t distance) {
    return (struct point){block->place.image, block->place.offset + distance};
}

/* What a block says of its instructions, without the first `from`: so many times more (or fewer, as
 * a number that wraps). */
static bool add_insns(struct list *list, const struct profile_code *code, uint32_t id,
                      uint32_t from, uint64_t times) {
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    const struct profile_block *block = profile_code_at(code, id);
    bool good = true;
    for (uint32_t i = from, count = profile_code_starts(code, id, starts); good && i < count; i++)
        good = add(list, &(struct executed){.at = point_in(block, starts[i]), .times = times});
    return good;
}

static bool list_insns(const struct execution_counts *counts, const struct profile_code *code,
                       struct list *insns) {
    for (uint32_t id = 1; id <= code->block_count && id <= counts->capacity; id++)
        if (counts->times[id - 1] && !add_insns(insns, code, id, 0, counts->times[id - 1]))
            return false;
    for (size_t i = 0; i < counts->edge_size; i++) {
        const struct block_edge *edge = counts->edges + i;
        if (edge->cut && !add_insns(insns, code, edge->from, edge->cut - 1, -edge->times))
            return false;
    }
    settle(insns);
    return true;
}

static bool list_edge(struct list *edges, const struct profile_code *code,
                      const struct block_edge *edge) {
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    const struct profile_block *from = profile_code_at(code, edge->from);
    const struct profile_block *to = profile_code_at(code, edge->to);
    uint32_t count = profile_code_starts(code, edge->from, starts);
    if (edge->cut == 1)
        return true; /* nothing was executed in between */
    if (edge->cut && edge->cut <= count)
        count = edge->cut - 1;
    struct executed item = {.at = point_in(from, count ? starts[count - 1] : 0),
                            .to = point_in(to, 0),
                            .times = edge->times};
    bool near = to->place.image == from->place.image;
    if (edge->signal)
        item.kind = EDGE_SIGNAL;
    else if (edge->cut || (near && to->place.offset == from->place.offset + from->size))
        item.kind = EDGE_FALL_THROUGH;
    else if (near && from->target && to->place.offset == from->target)
        item.kind = EDGE_TAKEN;
    else
        item.kind = from->branch >= BRANCH_INDIRECT ? EDGE_INDIRECT : EDGE_SIGNAL;
    return add(edges, &item);
}

static bool list_edges(const struct execution_counts *counts, const struct profile_code *code,
                       struct list *edges) {
    for (size_t i = 0; i < counts->edge_size; i++)
        if (counts->edges[i].from && counts->edges[i].to &&
            !list_edge(edges, code, counts->edges + i))
            return false;
    settle(edges);
    return true;
}

/* ---- the file ---- */

static const char *const EDGE_NAMES[EDGE_KINDS] = {[EDGE_FALL_THROUGH] = "fall-through",
                                                   [EDGE_TAKEN] = "taken",
                                                   [EDGE_INDIRECT] = "indirect",
                                                   [EDGE_SIGNAL] = "signal"};

struct sheet {
    FILE *file;
    const struct profile_code *code;
    const struct execution_counts *counts;
    struct list insns, edges;
};

static void csv_point(const struct sheet *sheet, const struct point *point) {
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
        csv_point(sheet, &(struct point){block->place.image, block->place.offset});
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

static void json_text(FILE *file, const char *text) {
    json_t *string = json_string(text); /* NULL: not UTF-8 */
    if (!string || json_dumpf(string, file, JSON_ENCODE_ANY) != 0)
        fputs("null", file);
    json_decref(string);
}

static void json_point(FILE *file, const char *prefix, const struct point *point) {
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
        json_text(sheet->file, image->path);
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
    json_text(file, command);
    fputs(", \"images\": [", file);
    write_json_images(sheet);
    fputs("],\n \"blocks\": [", file);
    for (uint32_t id = 1; id <= sheet->code->block_count && id <= sheet->counts->capacity; id++) {
        const struct profile_block *block = profile_code_at(sheet->code, id);
        if (!sheet->counts->times[id - 1])
            continue;
        fputs(separator(&first), file);
        json_point(file, "", &(struct point){block->place.image, block->place.offset});
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
    bool good = list_insns(counts, code, &sheet.insns) && list_edges(counts, code, &sheet.edges);
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
