/* Rows are sorted by their figures and, so that reports are the same every time, by number. */
#include "report/inspection_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/file_name.h"
#include "util/order.h"

/* A static instruction and what it is sorted by. */
struct ranked {
    uint64_t key;
    uint32_t insn;
};

ORDER(by_key, struct ranked, descending(a->key, b->key) ?: ascending(a->insn, b->insn))

/* Keeps the `top` largest. */
static bool rank(struct ranked *ranked, size_t count, uint32_t top, struct insn_rows *rows) {
    qsort(ranked, count, sizeof *ranked, by_key);
    rows->total = (uint32_t)count;
    rows->count = top && top < count ? top : (uint32_t)count;
    rows->insns = malloc((rows->count + 1) * sizeof *rows->insns);
    for (uint32_t i = 0; rows->insns && i < rows->count; i++)
        rows->insns[i] = ranked[i].insn;
    return rows->insns;
}

static bool rank_critical(struct inspection_report *report, uint32_t top) {
    const struct critical *critical = &report->inspection->critical;
    struct ranked *ranked = malloc((critical->count + 1) * sizeof *ranked);
    size_t count = 0;
    for (size_t i = 0; ranked && i < critical->count; i++)
        if (critical->insns[i].cycles > 0)
            ranked[count++] =
                (struct ranked){(uint64_t)critical->insns[i].cycles, critical->insns[i].insn};
    bool good = ranked && rank(ranked, count, top, &report->critical);
    free(ranked);
    return good;
}

static bool rank_slack(struct inspection_report *report, uint32_t top) {
    const struct slack *slack = &report->inspection->slack;
    struct ranked *ranked = malloc((slack->count + 1) * sizeof *ranked);
    size_t count = 0;
    for (uint32_t i = 0; ranked && i < slack->count; i++)
        if (slack->insns[i].executions)
            ranked[count++] = (struct ranked){slack->insns[i].executions, i};
    bool good = ranked && rank(ranked, count, top, &report->slack);
    free(ranked);
    return good;
}

bool inspection_report_build(const struct inspection_request *request,
                             const struct inspection *inspection, const struct code *code,
                             struct program *program, struct inspection_report *report,
                             struct error *error) {
    *report = (struct inspection_report){.inspection = inspection,
                                         .parts = request->parts,
                                         .threshold = request->threshold,
                                         .seconds = request->seconds};
    return (function_walk_begin(&report->walk, code, program) &&
            rank_critical(report, request->top) && rank_slack(report, request->top)) ||
           error_set(error, "out of memory for the report");
}

void inspection_report_free(struct inspection_report *report) {
    free(report->critical.insns);
    free(report->slack.insns);
    function_walk_end(&report->walk);
    *report = (struct inspection_report){0};
}

void inspection_place(const struct inspection_report *report, uint32_t number,
                      struct insn_place *place) {
    const struct function_walk *walk = &report->walk;
    const struct code *code = walk->code;
    const struct static_insn *insn = &code->insns[number];
    struct location location;
    uint64_t address = insn->offset;
    if (code_image_is_file(code, insn->image))
        program_offset_to_address(walk->program, walk->images[insn->image], insn->offset, &address);
    function_walk_locate(walk, insn->image, insn->offset, &location);
    *place = (struct insn_place){.image = code_image_name(code, insn->image),
                                 .offset = insn->offset,
                                 .function = location.function,
                                 .file = location.file,
                                 .line = location.line};
    static_insn_text(code->isa, insn, address, place->text, sizeof place->text);
}

void inspection_place_columns(struct table *table) {
    table_column(table, "function", TABLE_NAME, .gap = 3, .least = 16);
    table_column(table, "source", TABLE_PATH, .gap = 2, .least = 12);
    table_column(table, "instruction", TABLE_TEXT, .gap = 2, .least = 16);
}

void inspection_place_cells(const struct inspection_report *report, uint32_t insn,
                            struct table *table) {
    struct insn_place place;
    char source[512];
    inspection_place(report, insn, &place);
    if (place.file)
        snprintf(source, sizeof source, "%s:%" PRIu32, file_base_name(place.file), place.line);
    else
        snprintf(source, sizeof source, "%s+0x%" PRIx64, place.image, place.offset);
    table_cell(table, place.function ? place.function : "[no symbols]");
    table_cell(table, source);
    table_cell(table, place.text);
}

void inspection_text(const struct inspection_report *report, const struct page *page) {
    if (!report->inspection->fragments)
        return;
    if (report->parts & INSPECT_CRITICAL)
        critical_text(report, page);
    if (report->parts & INSPECT_SLACK)
        slack_text(report, page);
    if (report->parts & INSPECT_LOADS)
        loads_text(report, page);
}
