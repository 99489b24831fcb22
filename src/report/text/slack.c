/* --slack for people: how many executions had how much, and what the instructions executed most
 * often had. */
#include <inttypes.h>

#include "report/inspection_report.h"
#include "util/text.h"

static const char BAR[] = "##################################################";

/* "0", "2 to 3", "2^30 or more" */
static void name_bin(unsigned bin, char *name, size_t size) {
    uint64_t least = bin ? UINT64_C(1) << (bin - 1) : 0;
    if (bin < 2)
        snprintf(name, size, "%u", bin);
    else if (bin + 1 < SLACK_BINS)
        snprintf(name, size, "%" PRIu64 " to %" PRIu64, least, 2 * least - 1);
    else
        snprintf(name, size, "%" PRIu64 " or more", least);
}

static void print_histogram(const struct slack *slack, FILE *file) {
    unsigned last = SLACK_BINS - 1;
    while (last > 0 && !slack->bins[last])
        last--;
    for (unsigned bin = 0; bin <= last; bin++) {
        char name[64];
        double share = slack->executions ? (double)slack->bins[bin] / (double)slack->executions : 0;
        int length = (int)(share * (double)(sizeof BAR - 1) + 0.5);
        name_bin(bin, name, sizeof name);
        fprintf(file, " %-24s%8s%s%.*s\n", name, text_percent(share, 1).s, length ? "  " : "",
                length, BAR);
    }
}

static void print_instructions(const struct inspection_report *report, const struct page *page) {
    const struct slack *slack = &report->inspection->slack;
    struct table *table = table_new(page);
    table_column(table, " executions", TABLE_FIGURE, .gap = 0);
    table_column(table, "    least", TABLE_FIGURE, .gap = 2);
    table_column(table, "     mean", TABLE_FIGURE, .gap = 2);
    inspection_place_columns(table);
    for (uint32_t i = 0; i < report->slack.count; i++) {
        const struct slack_insn *row = &slack->insns[report->slack.insns[i]];
        table_cell(table, text_count(row->executions).s);
        table_cell(table, text_count(row->least).s);
        table_cell(table, text_quantity((double)row->sum / (double)row->executions).s);
        inspection_place_cells(report, report->slack.insns[i], table);
    }
    table_more(table, 12, report->slack.total - report->slack.count);
    fputc('\n', page->file);
    table_end(table);
}

void slack_text(const struct inspection_report *report, const struct page *page) {
    FILE *file = page->file;
    const char *bold = page->bold, *plain = page->plain;
    page_heading(page, "slack:", "by how much an instruction's result could be later with no loss");
    fprintf(file, "%s cycles                   %% of executions%s\n", bold, plain);
    print_histogram(&report->inspection->slack, file);
    print_instructions(report, page);
}
