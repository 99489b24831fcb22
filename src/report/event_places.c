/* Blocks in the order of their addresses; those without samples are folded. */
#include "report/event_places.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "program/source_text.h"
#include "report/json_values.h"
#include "report/profile_report.h"
#include "report/table.h"
#include "util/file_name.h"

enum { LARGEST_CODE = 16 << 20, TEXT_BYTES = 512 };

/* ---- reading ---- */

static bool read_memory(void *context, uint64_t address, void *bytes, size_t size) {
    const struct event_places *places = context;
    return program_read(places->program, places->choice->image, address, bytes, size);
}

static bool read_code(struct event_places *places, struct error *error) {
    const struct procedure_extent *extent = &places->choice->extent;
    const uint32_t image = places->choice->image;
    struct procedure_code *code = &places->code;
    *code = (struct procedure_code){.size = extent->size, .read = read_memory, .context = places};
    if (extent->size > LARGEST_CODE)
        return error_set(error, "%s: %" PRIu64 " bytes are too many for one procedure",
                         places->choice->name, extent->size);
    if (!(code->bytes = places->bytes = malloc(extent->size)))
        return error_set(error, "out of memory for the code");
    return (program_image_isa(places->program, image, &code->isa) &&
            program_offset_to_address(places->program, image, extent->offset, &code->address) &&
            program_read(places->program, image, code->address, places->bytes, extent->size)) ||
           error_set(error, "%s: its code cannot be read from %s", places->choice->name,
                     extent->path);
}

static bool read_profile(struct event_places *places, const struct profile_set *set,
                         struct error *error) {
    const struct procedure_extent *extent = &places->choice->extent;
    struct image_profiles profiles;
    const double any_clock = 1; /* of cycles, which are not shown */
    bool good = image_profiles_read(&profiles, set, extent->build, error) &&
                procedure_profile_read(&places->profile, &profiles, places->event, extent,
                                       any_clock, error);
    image_profiles_free(&profiles);
    return good &&
           (places->profile.sum > 0 ||
            error_set(error, "%s: it has no %s of %s in %s (see 'culprit top')",
                      places->choice->name, places->event->unit, places->event->name, set->label));
}

/* Samples at which no instruction begins. */
static double lost(const struct event_places *places) {
    double told = 0;
    for (uint32_t i = 0; i < places->cfg.insn_count; i++)
        told += places->profile.values[places->cfg.insns[i].offset];
    return places->profile.sum - told;
}

static bool add_notes(struct event_places *places) {
    const struct profile_event *event = places->event;
    struct report *report = &places->report;
    bool good = report_note(report,
                            "%s is not time: samples say where it happened, and nothing of cycles "
                            "or of what they were lost to",
                            event->name);
    if (!event->precise)
        good &= report_note(report,
                            "%s is not precise here: a sample may lie some instructions behind "
                            "the one that caused it",
                            event->name);
    if (lost(places) >= 1)
        good &= report_note(report, "%.0f %s lie where no instruction begins and are left out",
                            lost(places), event->unit);
    return good;
}

bool event_places_build(struct event_places *places, const struct profile_set *set,
                        const struct profile_event *event, struct program *program,
                        const struct procedure_choice *choice, struct error *error) {
    *places = (struct event_places){.choice = choice, .event = event, .program = program};
    return read_code(places, error) && read_profile(places, set, error) &&
           cfg_build(&places->cfg, &places->code, error) &&
           (add_notes(places) || error_set(error, "out of memory for the report"));
}

void event_places_free(struct event_places *places) {
    report_free(&places->report);
    procedure_profile_free(&places->profile);
    cfg_free(&places->cfg);
    free(places->bytes);
    *places = (struct event_places){0};
}

/* ---- pieces ---- */

static double value_at(const struct event_places *places, uint32_t insn) {
    return places->profile.values[places->cfg.insns[insn].offset];
}

static double block_value(const struct event_places *places, uint32_t block) {
    double sum = 0;
    const struct cfg_block *of = &places->cfg.blocks[block];
    for (uint32_t i = of->first_insn; i < of->first_insn + of->insn_count; i++)
        sum += value_at(places, i);
    return sum;
}

static void describe_insn(const struct event_places *places, uint32_t insn, char *text,
                          size_t size) {
    const uint32_t offset = places->cfg.insns[insn].offset;
    insn_text(places->code.isa, places->code.bytes + offset, places->code.size - offset,
              places->code.address + offset, text, size);
}

static bool find_source(const struct event_places *places, uint32_t insn,
                        struct location *location) {
    program_locate(places->program, places->choice->image,
                   places->choice->extent.offset + places->cfg.insns[insn].offset, location);
    return location->file;
}

/* ---- text ---- */

struct printer {
    const struct event_places *places;
    const struct page *page;
    struct table *table;
    struct source_text *sources; /* NULL: source lines are not wanted */
    struct location last;        /* that was told */
};

static void print_source(struct printer *printer, uint32_t insn) {
    struct location location;
    char text[4 * TEXT_BYTES];
    if (!printer->sources || !find_source(printer->places, insn, &location) ||
        (location.file == printer->last.file && location.line == printer->last.line))
        return;
    const char *line = source_text_line(printer->sources, location.file, location.line);
    snprintf(text, sizeof text, "%s:%" PRIu32 "%s%s", file_base_name(location.file), location.line,
             line ? ": " : "", line ? line : "");
    table_line(printer->table, text);
    printer->last = location;
}

static void print_insn(struct printer *printer, uint32_t insn) {
    const struct event_places *places = printer->places;
    char text[TEXT_BYTES];
    const double value = value_at(places, insn);
    print_source(printer, insn);
    table_figure(printer->table, "%" PRIx64, places->code.address + places->cfg.insns[insn].offset);
    describe_insn(places, insn, text, sizeof text);
    table_cell(printer->table, text);
    table_cell(printer->table, value > 0 ? text_grouped((uint64_t)(value + 0.5)).s : "");
    if (value > 0)
        table_figure(printer->table, "%s %%", text_percent(value, places->profile.sum).s);
    else
        table_cell(printer->table, "");
}

static void print_blocks(struct printer *printer, bool full) {
    const struct cfg *cfg = &printer->places->cfg;
    for (uint32_t i = 0, insns = 0; i < cfg->block_count; i++) {
        const struct cfg_block *block = &cfg->blocks[i];
        const bool shown = full || block_value(printer->places, i) > 0;
        char text[96];
        insns += shown ? 0 : block->insn_count;
        if (insns && (shown || i + 1 == cfg->block_count)) {
            snprintf(text, sizeof text, "… %" PRIu32 " instruction%s without", insns,
                     text_plural(insns));
            table_line(printer->table, text);
            insns = 0;
        }
        printer->last = (struct location){0};
        for (uint32_t k = 0; shown && k < block->insn_count; k++)
            print_insn(printer, block->first_insn + k);
    }
}

static void print_head(const struct event_places *places, const struct page *page) {
    const struct procedure_profile *profile = &places->profile;
    char text[TEXT_BYTES];
    fprintf(page->file, "\n%s%s%s\n", page->bold,
            text_clip(text, sizeof text, places->choice->name, page->columns), page->plain);
    fprintf(page->file, "0x%" PRIx64 " to 0x%" PRIx64 " of %s\n", places->code.address,
            places->code.address + places->code.size,
            page_fit_path(text, sizeof text, places->choice->extent.path, page->columns / 2));
    fprintf(page->file, "%s %s of %s, %s %% of all\n\n",
            text_grouped((uint64_t)round(profile->sum)).s, places->event->unit, places->event->name,
            text_percent(profile->sum, profile->total).s);
}

bool event_places_text(const struct event_places *places, const struct event_places_style *style,
                       const struct page *page) {
    struct printer printer = {.places = places, .page = page, .table = table_new(page)};
    if (style->source)
        printer.sources = source_text_new();
    const bool good = printer.table && (printer.sources || !style->source);
    print_head(places, page);
    table_column(printer.table, "address", TABLE_FIGURE, .gap = 0);
    table_column(printer.table, "instruction", TABLE_TEXT, .gap = 2, .least = 24);
    table_column(printer.table, places->event->name, TABLE_FIGURE, .gap = 2);
    table_column(printer.table, "share", TABLE_FIGURE, .gap = 2);
    if (good)
        print_blocks(&printer, style->full);
    table_end(printer.table);
    report_text_foot(&places->report, page);
    source_text_free(printer.sources);
    return good;
}

/* ---- JSON ---- */

static json_t *insn_json(const struct event_places *places, uint32_t insn) {
    struct location location;
    char text[TEXT_BYTES];
    find_source(places, insn, &location);
    describe_insn(places, insn, text, sizeof text);
    return json_pack("{s:I, s:o, s:f, s:o, s:o}", "address",
                     (json_int_t)(places->code.address + places->cfg.insns[insn].offset), "text",
                     json_text(text), "value", value_at(places, insn), "file",
                     json_text(location.file), "line",
                     location.line ? json_integer(location.line) : json_null());
}

json_t *event_places_json(const struct event_places *places) {
    const struct procedure_profile *profile = &places->profile;
    json_t *insns = json_array();
    for (uint32_t i = 0; i < places->cfg.insn_count; i++)
        json_array_append_new(insns, insn_json(places, i));
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:s, s:f, s:f, s:o, s:o}", "procedure",
                     json_text(places->choice->name), "image",
                     json_text(places->choice->extent.path), "offset",
                     (json_int_t)places->choice->extent.offset, "address",
                     (json_int_t)places->code.address, "size", (json_int_t)places->code.size, "isa",
                     places->code.isa == ISA_X86_64 ? "x86-64" : "riscv64", "value", profile->sum,
                     "share", profile->total > 0 ? profile->sum / profile->total : 0,
                     "instructions", insns, "notes", json_notes(&places->report));
}
