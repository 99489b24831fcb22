/* The report in at most BRIEF_LINES lines: for who is in a hurry, and for programs that read text.
 * A line has one thing, its first word says what; lines are cut to the page, but for the next
 * command.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/interval.h"
#include "report/report.h"
#include "report/short_name.h"
#include "util/file_name.h"

enum { LINE_BYTES = 4096, ROWS = 5, NEXT_LINES = 3, NAME_COLUMNS = 40 };
#define LEAST_SHARE 0.01 /* of all cycles, of what is told */

struct line {
    char text[LINE_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(line->text + line->length, sizeof line->text - line->length, format, arguments);
    va_end(arguments);
    line->length += length > 0 ? (size_t)length : 0;
    if (line->length >= sizeof line->text)
        line->length = sizeof line->text - 1;
}

static void end_line(struct line *line, const struct page *page) {
    char clean[LINE_BYTES];
    page_clip(page, text_clean(clean, sizeof clean, line->text), page->columns);
    fputc('\n', page->file);
    line->length = 0;
    line->text[0] = 0;
}

/* "TLB miss 54.7 %, execute 29.5 %": the largest, and others that are not small. */
static void add_stack(struct line *line, const struct stack *stack, double total) {
    uint64_t units[COMPONENT_COUNT];
    const char *between = "";
    stack_components(stack, units);
    for (bool first = true;; first = false) {
        int most = 0;
        for (int i = 1; i < COMPONENT_COUNT; i++)
            most = units[i] > units[most] ? i : most;
        if (!units[most] || (!first && (double)units[most] < LEAST_SHARE * total))
            return;
        add(line, "%s%s %s %%", between, component_name((enum component)most),
            text_percent((double)units[most], total).s);
        units[most] = 0;
        between = ", ";
    }
}

static void add_sizes(struct line *line, const struct report *report) {
    const struct simulation *simulation = report->simulation;
    const double instructions = (double)simulation->instructions;
    const double half = simulation_interval(simulation);
    const double clock = report->machine->clock_ghz * 1e9;
    add(line, "cycles: %s, %s instructions, CPI %.3f", text_count(simulation->cycles).s,
        text_count(simulation->instructions).s,
        instructions > 0 ? (double)simulation->cycles / instructions : 0);
    if (half > 0)
        add(line, " ± %.3f", half / instructions);
    if (clock > 0)
        add(line, ", %s on %s", text_duration((double)simulation->cycles / clock).s,
            report->machine->name);
}

static void add_name(struct line *line, const struct report_row *row, bool is_function) {
    char fitted[4 * NAME_COLUMNS + 1];
    if (is_function && row->function)
        add(line, "%s", short_name(row->function, NAME_COLUMNS, fitted, sizeof fitted));
    else
        add(line, "%s+0x%" PRIx64, row->image, row->offset);
    if (row->file)
        add(line, " %s:%" PRIu32, file_base_name(row->file), row->line);
}

/* "function: 95.4 % probe hashjoin.c:30: TLB miss 54.0 %, execute 28.9 %" */
static void put_rows(const struct report *report, const struct report_rows *rows, const char *what,
                     const struct page *page) {
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    struct report_row row;
    struct line line = {.length = 0};
    for (uint32_t i = 0; i < rows->count && i < ROWS; i++) {
        rows_get(rows, i, &row);
        if (!((double)row.units >= LEAST_SHARE * total))
            return;
        const bool is_function = rows == &report->functions;
        add(&line, "%s: %s %% ", what, text_percent((double)row.units, total).s);
        add_name(&line, &row, is_function);
        if (!is_function)
            add(&line, " %s", row.text);
        add(&line, ": ");
        add_stack(&line, &row.stack, total);
        end_line(&line, page);
    }
}

static void put_advice(const struct advice_list *list, const struct page *page) {
    enum { MOST = 3 };
    for (int i = 0; i < list->count && i < MOST; i++) {
        const struct advice *advice = &list->items[i];
        struct line line = {.length = 0};
        add(&line, "try: %s %% at most", text_percent(advice->saving, 1).s);
        if (advice->function)
            add(&line, " in %s", advice->function);
        if (advice->file)
            add(&line, " %s:%" PRIu32, file_base_name(advice->file), advice->line);
        add(&line, ": %s", advice_table[advice->kind].sentence);
        end_line(&line, page);
    }
}

/* Unless it takes too many lines. */
static void put_next(const struct report *report, const struct page *page) {
    char *text = NULL;
    size_t size = 0, lines = 0;
    struct page into = *page;
    if (!report->next || !(into.file = open_memstream(&text, &size)))
        return;
    page_wrap(&into, report->next, report->next, "next: ", "      ");
    if (fclose(into.file) == 0) {
        for (size_t i = 0; i < size; i++)
            lines += text[i] == '\n';
        if (lines <= NEXT_LINES)
            fwrite(text, 1, size, page->file);
    }
    free(text);
}

/* The first, of which the page cuts the end, and how many more there are, which it does not. */
static void put_notes(const struct report *report, const struct page *page) {
    static const char BEGIN[] = "rests on: ";
    struct line line = {.length = 0};
    char more[64] = "", clipped[LINE_BYTES];
    if (!report->note_count)
        return;
    if (report->note_count > 1)
        snprintf(more, sizeof more, "; and %" PRIu32 " more notes, without --brief",
                 report->note_count - 1);
    const unsigned taken = (unsigned)(strlen(BEGIN) + strlen(more));
    add(&line, "%s%s%s", BEGIN,
        text_clip(clipped, sizeof clipped, report->notes[0],
                  page->columns > taken ? page->columns - taken : 1),
        more);
    end_line(&line, page);
}

void report_brief(const struct report *report, const struct page *page) {
    struct line line = {.length = 0};
    page_title(page, report->program, report->partial);
    threads_text_head(&report->threads, page);
    add_sizes(&line, report);
    end_line(&line, page);
    add(&line, "stack: ");
    add_stack(&line, &report->stack, (double)report->simulation->cycles * CYCLE_UNITS);
    end_line(&line, page);
    put_rows(report, &report->functions, "function", page);
    put_rows(report, &report->instructions, "instruction", page);
    what_if_brief(&report->what_if, page);
    put_advice(&report->advice, page);
    put_notes(report, page);
    put_next(report, page);
}
