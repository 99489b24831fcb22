/* A program under several layouts, for people. */
#include <inttypes.h>

#include "report/cycles.h"
#include "report/layouts_report.h"
#include "report/table.h"
#include "trace/memory_layout.h"
#include "util/file_name.h"

static void print_head(const struct layouts_report *report, const struct page *page) {
    const struct layout_spread *spread = &report->spread;
    page_clip(page, report->title, page->columns);
    if (spread->count == 1)
        fprintf(page->file, "\n%s%s cycles under layout %" PRIu32 "%s\n", page->bold,
                text_grouped(spread->least_cycles).s, spread->least, page->plain);
    else if (spread->least_cycles == spread->most_cycles)
        fprintf(page->file, "\n%s%s cycles under each of %" PRIu32 " layouts%s\n", page->bold,
                text_grouped(spread->least_cycles).s, spread->count, page->plain);
    else {
        fprintf(page->file, "\n%s%s cycles in the median of %" PRIu32 " layouts%s\n", page->bold,
                text_quantity(spread->median).s, spread->count, page->plain);
        page_print(page, "from %s (layout %" PRIu32 ") to %s (%" PRIu32 "): a spread of %.2f %%",
                   text_count(spread->least_cycles).s, spread->least,
                   text_count(spread->most_cycles).s, spread->most, spread->percent);
    }
    fprintf(page->file, "machine %s\n", report->machine->name);
    report_text_chosen(&report->machine->chosen, page);
    fputc('\n', page->file);
}

static void print_layouts(const struct layouts_report *report, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, "layout", TABLE_FIGURE, .gap = 0);
    table_column(table, "cycles", TABLE_FIGURE, .gap = 2);
    table_column(table, "of median", TABLE_FIGURE, .gap = 2);
    table_column(table, "instructions", TABLE_FIGURE, .gap = 2, .rank = 1);
    table_column(table, "stack lower", TABLE_FIGURE, .gap = 2, .rank = 2);
    table_column(table, "heap higher", TABLE_FIGURE, .gap = 2, .rank = 2);
    table_column(table, "program", TABLE_FIGURE, .gap = 2, .rank = 2);
    table_column(table, "libraries", TABLE_FIGURE, .gap = 2, .rank = 2);
    for (uint32_t i = 0; i < report->count; i++) {
        const struct memory_layout layout = memory_layout(i);
        const struct layout_cycles *run = &report->layouts[i];
        if (!run->known)
            continue;
        table_figure(table, "%" PRIu32, i);
        table_cell(table, text_count(run->cycles).s);
        table_figure(table, "%+.2f %%",
                     text_shown(100 * ((double)run->cycles / report->spread.median - 1), 2));
        table_cell(table, text_count(run->instructions).s);
        table_figure(table, "%" PRIu32 " B", layout.stack_bytes);
        table_cell(table, text_bytes(layout.heap_bytes).s);
        table_cell(table, text_bytes((uint64_t)layout.program_pages * MEMORY_LAYOUT_PAGE).s);
        table_cell(table, text_bytes((uint64_t)(layout.program_pages + layout.library_pages) *
                                     MEMORY_LAYOUT_PAGE)
                              .s);
    }
    table_end(table);
}

static void print_functions(const struct layouts_report *report, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, "of variance", TABLE_FIGURE, .gap = 0);
    table_column(table, "least", TABLE_FIGURE, .gap = 2);
    table_column(table, "most", TABLE_FIGURE, .gap = 2);
    table_column(table, "function", TABLE_NAME, .gap = 2, .least = 20);
    table_column(table, "most of it", TABLE_WORD, .gap = 2);
    table_column(table, "costliest at", TABLE_PATH, .gap = 2, .least = 12);
    for (size_t i = 0; i < report->shown; i++) {
        const struct layout_function *function = &report->functions[i];
        char place[64] = "";
        if (function->file)
            snprintf(place, sizeof place, "%.48s:%u", file_base_name(function->file),
                     function->line);
        table_figure(table, "%.1f %%", 100 * function->share);
        table_cell(table, text_cycles(function->least).s);
        table_cell(table, text_cycles(function->most).s);
        table_cell(table, function->name);
        table_cell(table, component_name(function->component));
        table_cell(table, place);
    }
    table_more(table, 11, report->varied - report->shown);
    fputc('\n', page->file);
    table_end(table);
}

void layouts_report_text(const struct layouts_report *report, const struct page *page) {
    print_head(report, page);
    print_layouts(report, page);
    if (report->shown)
        print_functions(report, page);
    report_text_foot(&report->report, page);
}
