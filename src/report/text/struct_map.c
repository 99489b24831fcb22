/* The map of a struct: its lines, each with its fields; what it would save to lay it out anew. */
#include <inttypes.h>
#include <string.h>

#include "report/struct_report.h"
#include "report/table.h"
#include "study/struct_run.h"

enum { LINE = 64, NAME_BYTES = 512, PARTNERS = 3 };
static const double MOSTLY = 0.9; /* elements that begin at one place in a line */

/* Where elements begin in a line, if most do at one place; else 0. */
static uint32_t begins_at(const struct struct_run *run) {
    return run->elements.line_share >= MOSTLY ? run->elements.line_offset : 0;
}

/* "key 98, next 97": what is accessed in the same visits, the most often first. */
static void partners(const struct struct_run *run, uint32_t field, char *text, size_t size) {
    const struct struct_elements *elements = &run->elements;
    const uint64_t *together = elements->together + (size_t)field * run->map.count;
    bool used[MAP_FIELDS] = {false};
    size_t length = 0;
    text[0] = 0;
    for (unsigned shown = 0; elements->touched && shown < PARTNERS; shown++) {
        uint32_t best = field;
        for (uint32_t i = 0; i < run->map.count; i++)
            if (i != field && !used[i] && together[i] &&
                (best == field || together[i] > together[best]))
                best = i;
        if (best == field || length >= size)
            return;
        used[best] = true;
        length += (size_t)snprintf(text + length, size - length, "%s%s %.0f", shown ? "\n" : "",
                                   run->map.fields[best].name,
                                   100 * (double)together[best] / (double)elements->touched[field]);
    }
}

static void print_fields(const struct struct_run *run, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"line", TABLE_FIGURE, .gap = 0},
        {"offset", TABLE_FIGURE, .gap = 1},
        {"size", TABLE_FIGURE, .gap = 1},
        {"accesses", TABLE_FIGURE, .gap = 1},
        {" share", TABLE_FIGURE, .gap = 1},
        {"misses", TABLE_FIGURE, .gap = 1},
        {"", TABLE_WORD, .gap = 1},
        {"field", TABLE_TEXT, .gap = 1, .least = 16},
        {"in % of its visits together with", TABLE_LIST, .gap = 2, .least = 12, .rank = 1}};
    const double total = (double)run->simulation->cycles * CYCLE_UNITS;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < run->map.count; i++) {
        const struct map_field *field = &run->map.fields[i];
        const uint64_t line = (field->offset + begins_at(run)) / LINE;
        char text[NAME_BYTES];
        if (line == last)
            table_cell(table, "");
        else
            table_figure(table, "%" PRIu64, line);
        last = line;
        table_figure(table, "%" PRIu64, field->offset);
        table_figure(table, "%" PRIu64, field->size);
        table_cell(table, field->executions ? text_count(field->executions).s : "never");
        table_figure(table, "%s %%", text_percent((double)field->units, total).s);
        table_figure(table, "%s %%", text_percent((double)field->miss_units, total).s);
        table_cell(table, field->is_hot ? "hot" : "");
        table_cell(table, field->name);
        partners(run, i, text, sizeof text);
        table_cell(table, text);
    }
    table_end(table);
}

static void print_elements(const struct struct_run *run, const struct page *page) {
    const struct struct_elements *elements = &run->elements;
    if (elements->line_share >= MOSTLY)
        page_print(page, "%s elements, %.0f %% of them at byte %" PRIu32 " of a line of 64 bytes",
                   text_count(elements->count).s, 100 * elements->line_share,
                   elements->line_offset);
    else
        page_print(page,
                   "%s elements, which begin at different places of a line; the lines are those of "
                   "one at its beginning",
                   text_count(elements->count).s);
    if (elements->untyped && elements->untyped != UINT64_MAX)
        page_print(page,
                   "%s more accesses to them count for no field: of what type they are is not "
                   "known (--by field has the reasons)",
                   text_count(elements->untyped).s);
    if (elements->too_many)
        page_print(page, "there are more, which were not looked at");
    if (elements->overlapping)
        page_print(page,
                   "%s more overlap others: what has this type at some times has another at "
                   "others",
                   text_count(elements->overlapping).s);
}

static void print_remedies(const struct struct_run *run, const struct page *page) {
    const double cycles = (double)run->simulation->cycles;
    if (run->has_threads)
        page_print(page, "threads are simulated together: what it saves to lay it out anew is "
                         "simulated only with --alone");
    else if (!run->remedy_count)
        page_print(page, run->interrupted ? "interrupted before it was laid out anew"
                                          : "nothing to lay out anew: all of its fields are hot, "
                                            "or none");
    for (uint32_t i = 0; i < run->remedy_count; i++) {
        const struct struct_remedy *remedy = &run->remedies[i];
        const double saving = 100 * (1 - (double)remedy->cycles / cycles);
        char names[NAME_BYTES];
        struct_map_hot_names(&run->map, remedy->least, names, sizeof names);
        if (remedy->split)
            page_print(page, "%6.1f %% split: %s in %" PRIu64 " bytes, the others elsewhere",
                       saving, names, remedy->hot_size);
        else
            page_print(page, "%6.1f %% reordered: %s first, in %" PRIu64 " bytes", saving, names,
                       remedy->hot_size);
    }
}

void struct_text(const struct struct_run *run, const struct page *page) {
    if (!run->map.type) {
        page_heading(page, "struct", "");
        page_print(page,
                   run->interrupted ? "interrupted before its fields were looked for"
                   : run->type      ? "no field of %s was accessed (--by field has those that were)"
                               : "no field of a struct was accessed, as far as debug information "
                                 "tells (--by field has the reasons)",
                   run->type);
        return;
    }
    char size[64];
    snprintf(size, sizeof size, "%" PRIu64 " bytes", run->map.size);
    page_heading(page, run->map.type, size);
    print_fields(run, page);
    print_elements(run, page);
    if (run->remedy_count)
        page_heading(page, "what it would save", "(percent of run time, simulated)");
    print_remedies(run, page);
}
