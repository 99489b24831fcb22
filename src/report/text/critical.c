/* --critical for people: the path by kind of edge, and the instructions with most of it. */
#include <inttypes.h>

#include "report/inspection_report.h"
#include "util/text.h"

static struct text percent(const struct inspection_report *report, int64_t cycles) {
    return text_percent((double)cycles, (double)report->inspection->cycles);
}

/* Parts with cycles, the most first; returns how many. */
static uint32_t sort_parts(const int64_t cycles[CRITICAL_PARTS], unsigned sorted[CRITICAL_PARTS]) {
    uint32_t count = 0;
    for (unsigned part = 0; part < CRITICAL_PARTS; part++) {
        uint32_t at = count;
        if (!cycles[part])
            continue;
        for (; at > 0 && cycles[part] > cycles[sorted[at - 1]]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = part;
        count++;
    }
    return count;
}

static void print_edges(const struct inspection_report *report, const struct page *page) {
    const int64_t *cycles = report->inspection->critical.parts;
    unsigned sorted[CRITICAL_PARTS];
    uint32_t count = sort_parts(cycles, sorted);
    for (uint32_t i = 0; i < count; i++) {
        unsigned part = sorted[i];
        char count[40];
        bool negative = cycles[part] < 0;
        snprintf(count, sizeof count, "%s%s", negative ? "-" : "",
                 text_count((uint64_t)(negative ? -cycles[part] : cycles[part])).s);
        char first[160];
        snprintf(first, sizeof first, " %-9s%8s%11s  %-14s", critical_part_name(part),
                 percent(report, cycles[part]).s, count, critical_part_category(part));
        page_wrap(page, critical_part_description(part), NULL, first,
                  "                                             ");
    }
}

static void print_instructions(const struct inspection_report *report, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, " % path", TABLE_FIGURE, .gap = 0);
    table_column(table, "  cycles", TABLE_FIGURE, .gap = 1);
    table_column(table, "mostly", TABLE_WORD, .gap = 2);
    table_column(table, "     %", TABLE_FIGURE, .gap = 0);
    inspection_place_columns(table);
    for (uint32_t i = 0; i < report->critical.count; i++) {
        const struct critical_insn *row =
            critical_find(&report->inspection->critical, report->critical.insns[i]);
        unsigned sorted[CRITICAL_PARTS];
        sort_parts(row->parts, sorted);
        table_cell(table, percent(report, row->cycles).s);
        table_cell(table, text_count((uint64_t)row->cycles).s);
        table_cell(table, critical_part_name(sorted[0]));
        table_cell(table, percent(report, row->parts[sorted[0]]).s);
        inspection_place_cells(report, row->insn, table);
    }
    table_more(table, 8, report->critical.total - report->critical.count);
    fputc('\n', page->file);
    table_end(table);
}

void critical_text(const struct inspection_report *report, const struct page *page) {
    const struct inspection *inspection = report->inspection;
    const bool cut = inspection->seen > inspection->kept;
    char path[256];
    snprintf(path, sizeof path, "of %" PRIu32 " piece%s of the graph: %s cycle%s, %s µop%s%s%s",
             inspection->fragments, text_plural(inspection->fragments),
             text_count((uint64_t)inspection->cycles).s, text_plural((uint64_t)inspection->cycles),
             text_count(inspection->kept).s, text_plural(inspection->kept), cut ? " of " : "",
             cut ? text_count(inspection->seen).s : "");
    page_heading(page, "critical path", path);
    fprintf(page->file, "%s edge     %% of path    cycles  idealised by  what it is%s\n",
            page->bold, page->plain);
    print_edges(report, page);
    print_instructions(report, page);
}
