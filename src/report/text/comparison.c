/* The comparison for people. */
#include <inttypes.h>
#include <math.h>

#include "report/call_report.h"
#include "report/comparison.h"
#include "report/cycles.h"
#include "report/short_name.h"
#include "report/table.h"
#include "util/array.h"
#include "util/text.h"

enum { NAME_BYTES = 4096, COMMIT = 34, EVENTS = 44 };

static struct text percent(double share) {
    struct text none = {"-"};
    return isnan(share) ? none : text_percent(share, 1);
}

/* ---- errors ---- */

static const char *const HEADINGS[GRAIN_COUNT] = {"function", "basic block", "instruction"};

static void error_columns(struct table *table, const char *heading, bool samples) {
    table_column(table, heading, TABLE_TEXT, .least = 18);
    if (samples)
        table_column(table, "samples", TABLE_FIGURE, .gap = 2, .rank = 1);
    for (int grain = 0; grain < GRAIN_COUNT; grain++)
        table_column(table, HEADINGS[grain], TABLE_FIGURE, .gap = 2);
    table_column(table, "cycle stacks", TABLE_FIGURE, .gap = 2);
}

/* "61.8  (1.1)" */
static void add_error(double error, double floor, struct table *table) {
    char text[64];
    snprintf(text, sizeof text, "(%s)", percent(floor).s);
    table_figure(table, "%s %6s", percent(error).s, text);
}

static void label_cell(const char *label, struct table *table) {
    char text[NAME_BYTES];
    snprintf(text, sizeof text, " %s", label);
    table_cell(table, text);
}

static void print_errors(const struct comparison *comparison, const struct page *page) {
    struct table *table = table_new(page);
    error_columns(table, "error, % (floor)", true);
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct compared *row = &comparison->rows[i];
        label_cell(row->label, table);
        table_cell(table, text_grouped(row->result.samples).s);
        for (int grain = 0; grain < GRAIN_COUNT; grain++)
            add_error(row->error.profile[grain], row->floor.profile[grain], table);
        if (row->profiler->events)
            add_error(row->error.stacks[GRAIN_INSTRUCTION], row->floor.stacks[GRAIN_INSTRUCTION],
                      table);
        else
            table_cell(table, "");
    }
    fputc('\n', page->file);
    table_end(table);
}

static bool any_systematic(const struct comparison *comparison) {
    bool any = false;
    for (uint32_t i = 0; i < comparison->count; i++)
        any |= !isnan(comparison->rows[i].systematic.profile[GRAIN_INSTRUCTION]);
    return any;
}

/* Several configurations of one profiler have it in common. */
static bool is_first_of_profiler(const struct comparison *comparison, uint32_t index) {
    return !any_where(i, index, comparison->rows[i].profiler == comparison->rows[index].profiler);
}

static void print_systematic(const struct comparison *comparison, const struct page *page) {
    if (!any_systematic(comparison))
        return;
    struct table *table = table_new(page);
    error_columns(table, "systematic part, %", false);
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct compared *row = &comparison->rows[i];
        if (!is_first_of_profiler(comparison, i))
            continue;
        label_cell(row->profiler->name, table);
        for (int grain = 0; grain < GRAIN_COUNT; grain++)
            table_cell(table, percent(row->systematic.profile[grain]).s);
        table_cell(table, row->profiler->events
                              ? percent(row->systematic.stacks[GRAIN_INSTRUCTION]).s
                              : "");
    }
    fputc('\n', page->file);
    table_end(table);
}

/* ---- commit and events, side by side ---- */

static const char *const CATEGORIES[CATEGORY_COUNT] = {
    "execute", "ALU stall", "load stall", "store stall", "front end", "mispredict", "misc. flush"};

static void print_commit_line(const struct comparison *comparison, unsigned line, int width,
                              FILE *file) {
    const struct simulation *simulation = comparison->report.simulation;
    char text[128] = "";
    if (line < CATEGORY_COUNT)
        snprintf(
            text, sizeof text, " %-12s %5s %%  %7s", CATEGORIES[line],
            text_percent((double)simulation->commits.categories[line], (double)simulation->cycles)
                .s,
            text_count(simulation->commits.categories[line]).s);
    fprintf(file, "%-*s", width, text);
}

static void print_event_line(const struct comparison *comparison, unsigned event, FILE *file) {
    const struct event_correlation *row = &comparison->events[event];
    char correlation[32];
    snprintf(correlation, sizeof correlation, "%.2f", row->correlation);
    fprintf(file, "  %-6s %9s %9s %8s %6s\n", psv_name(event), text_count(row->executions).s,
            text_cycles(row->units).s, text_count(row->instructions).s,
            isnan(row->correlation) ? "-" : correlation);
}

static void print_commits(const struct comparison *comparison, const struct page *page) {
    FILE *file = page->file;
    char heading[128];
    const bool beside = page->columns >= COMMIT + EVENTS; /* else one below the other */
    snprintf(heading, sizeof heading, "cycles at commit: %s program",
             program_class_name(comparison->program_class));
    fprintf(file, "\n%s%-*s%s", page->bold, beside ? COMMIT : 0, heading,
            beside ? "" : page->plain);
    if (!beside) {
        for (unsigned line = 0; line < CATEGORY_COUNT; line++) {
            fputc('\n', file);
            print_commit_line(comparison, line, 0, file);
        }
        fprintf(file, "\n\n%s", page->bold);
    }
    fprintf(file, "  %-6s      µops    cycles   instr.      r%s\n", "event", page->plain);
    for (unsigned line = 0; line < PSV_BITS; line++) {
        if (beside)
            print_commit_line(comparison, line, COMMIT, file);
        print_event_line(comparison, line, file);
    }
}

/* ---- functions ---- */

static void function_cells(const struct comparison *comparison, const struct function_commits *row,
                           struct table *table) {
    const double total = (double)comparison->report.simulation->cycles * CYCLE_UNITS;
    char place[NAME_BYTES];
    if (row->name)
        snprintf(place, sizeof place, "%s", row->name);
    else if (!row->offset)
        snprintf(place, sizeof place, "%s%s", row->image, short_name_outside);
    else
        snprintf(place, sizeof place, "%s+0x%" PRIx64, row->image, row->offset);
    table_figure(table, "%s %%", text_percent((double)row->units, total).s);
    table_cell(table, place);
    for (int category = 0; category < CATEGORY_COUNT; category++)
        table_cell(table, row->categories[category]
                              ? text_percent((double)row->categories[category], total).s
                              : "·");
}

static void print_functions(const struct comparison *comparison, const struct page *page) {
    static const char *const SHORT[CATEGORY_COUNT] = {" exec.", "  ALU",  " load", "store",
                                                      "front",  "mispr.", "flush"};
    struct table *table = table_new(page);
    table_column(table, "  share", TABLE_FIGURE, .gap = 0);
    table_column(table, "function", TABLE_NAME, .gap = 2, .least = 24);
    for (int i = 0; i < CATEGORY_COUNT; i++)
        table_column(table, SHORT[i], TABLE_FIGURE, .gap = 1);
    for (uint32_t i = 0; i < comparison->function_count; i++)
        function_cells(comparison, &comparison->functions[i], table);
    table_more(table, 9, comparison->function_total - comparison->function_count);
    fputc('\n', page->file);
    table_end(table);
}

/* ---- instructions ---- */

/* Each profiler once, in its first configuration; those that do not fit are left out, the last
 * first. */
static void print_insns(const struct comparison *comparison, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, "share seen by, %", TABLE_NAME, .least = 16);
    table_column(table, "instruction", TABLE_TEXT, .gap = 2, .least = 18);
    table_column(table, "Oracle", TABLE_FIGURE, .gap = 2);
    for (uint32_t i = 0; i < comparison->count; i++)
        if (is_first_of_profiler(comparison, i)) {
            char name[64];
            snprintf(name, sizeof name, "%5s", comparison->rows[i].profiler->name);
            table_column(table, name, TABLE_FIGURE, .gap = 1, .rank = i + 1);
        }
    for (uint32_t row = 0; row < comparison->insn_count; row++) {
        const struct compared_insn *insn = &comparison->insns[row];
        char place[NAME_BYTES];
        snprintf(place, sizeof place, " %s+0x%" PRIx64, insn->image, insn->offset);
        table_cell(table, place);
        table_cell(table, insn->text);
        table_cell(table, percent(insn->share).s);
        for (uint32_t i = 0; i < comparison->count; i++)
            if (is_first_of_profiler(comparison, i))
                table_cell(table, percent(insn->shares[i]).s);
    }
    fputc('\n', page->file);
    table_end(table);
}

void comparison_text(const struct comparison *comparison, const struct page *page) {
    report_text_head(&comparison->report, page);
    if (comparison->report.simulation->cycles > 0) {
        print_errors(comparison, page);
        print_systematic(comparison, page);
        print_commits(comparison, page);
        print_functions(comparison, page);
        print_insns(comparison, page);
        if (comparison->paths)
            path_errors_text(comparison->paths, page);
        if (comparison->report.calls)
            call_report_draw(comparison->report.calls, page);
    }
    report_text_foot(&comparison->report, page);
}
