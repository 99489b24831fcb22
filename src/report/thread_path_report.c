#include "report/thread_path_report.h"

#include <inttypes.h>

#include "report/json/threads.h"
#include "report/table.h"
#include "util/file_name.h"
#include "util/text.h"

enum { NAME_BYTES = 512 };

bool thread_path_report_build(const struct thread_path *path, const struct machine *machine,
                              uint32_t top, struct program *program,
                              struct thread_path_report *report, struct error *error) {
    const struct report_request request = {
        .verb = "icost", .program = "", .machine = machine, .by = BY_FUNCTION, .top = top};
    *report = (struct thread_path_report){.path = path};
    return !path->known || report_build(&request, &path->simulation, trace_code(path->trace),
                                        program, &report->report, error);
}

void thread_path_report_free(struct thread_path_report *report) {
    if (report->path && report->path->known)
        report_free(&report->report);
    *report = (struct thread_path_report){.path = NULL};
}

/* Of its cycles that a thread ran. */
static double share_of(const struct thread_path_report *report, uint64_t units) {
    return (double)units / CYCLE_UNITS / (double)report->path->simulation.together.cycles;
}

/* The component that has most, and its units. */
static enum component mostly(const struct report_row *row, uint64_t *most) {
    uint64_t units[COMPONENT_COUNT];
    enum component best = COMPONENT_EXECUTE;
    stack_components(&row->stack, units);
    for (int i = 0; i < COMPONENT_COUNT; i++)
        if (units[i] > units[best])
            best = (enum component)i;
    *most = units[best];
    return best;
}

static void print_instructions(const struct thread_path_report *report, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {" % path", TABLE_FIGURE, .gap = 0},
        {"  cycles", TABLE_FIGURE, .gap = 1, .rank = 2},
        {"mostly", TABLE_WORD, .gap = 2},
        {"%", TABLE_FIGURE, .gap = 1},
        {"function", TABLE_NAME, .gap = 2, .least = 20},
        {"source", TABLE_PATH, .gap = 2, .least = 16},
        {"instruction", TABLE_TEXT, .gap = 2, .least = 16, .rank = 1}};
    const struct report_rows *rows = &report->report.instructions;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct report_row row;
        uint64_t most;
        char source[NAME_BYTES];
        rows_get(rows, i, &row);
        const enum component component = mostly(&row, &most);
        table_cell(table, text_percent(share_of(report, row.units), 1).s);
        table_cell(table, text_count(row.units / CYCLE_UNITS).s);
        table_cell(table, component_name(component));
        table_cell(table, text_percent(share_of(report, most), 1).s);
        table_cell(table, row.function ? row.function : "[no symbols]");
        if (row.file)
            snprintf(source, sizeof source, "%s:%" PRIu32, file_base_name(row.file), row.line);
        else
            snprintf(source, sizeof source, "%s+0x%" PRIx64, row.image, row.offset);
        table_cell(table, source);
        table_cell(table, row.text);
    }
    table_more(table, 8, rows->total - rows->count);
    fputc('\n', page->file);
    table_end(table);
}

void thread_path_text(const struct thread_path_report *report, const struct page *page) {
    const struct together_result *together = &report->path->simulation.together;
    const struct threads_report *threads = &report->report.threads;
    char rest[160];
    if (report->path->apart) {
        snprintf(rest, sizeof rest, "not told, each thread is simulated alone: %s",
                 report->path->apart);
        page_heading(page, "critical path across threads:", rest);
    }
    if (!report->path->known)
        return;
    snprintf(rest, sizeof rest,
             "%s elapsed cycles of %" PRIu32 " threads, simulated together on %" PRIu32 " core%s",
             text_count(together->cycles).s, threads->known, together->cores,
             text_plural(together->cores));
    page_heading(page, "critical path across threads:", rest);
    threads_text_path(threads, page);
    threads_text_waits(threads, page);
    if (!together->course.unknown)
        print_instructions(report, page);
}

json_t *thread_path_json(const struct thread_path_report *report) {
    if (!report->path->known)
        return json_null();
    const struct report_rows *rows = &report->report.instructions;
    json_t *instructions = json_array();
    for (uint32_t i = 0; i < rows->count; i++) {
        struct report_row row;
        uint64_t most;
        rows_get(rows, i, &row);
        const enum component component = mostly(&row, &most);
        json_array_append_new(instructions,
                              json_pack("{s:f, s:s, s:f, s:s?, s:s, s:I, s:s?, s:I, s:s}", "share",
                                        share_of(report, row.units), "mostly",
                                        component_name(component), "mostly_share",
                                        share_of(report, most), "function", row.function, "image",
                                        row.image, "offset", (json_int_t)row.offset, "file",
                                        row.file, "line", (json_int_t)row.line, "text", row.text));
    }
    return json_pack("{s:o, s:o, s:o, s:I}", "threads", threads_json(&report->path->simulation),
                     "together", together_json(&report->report), "instructions", instructions,
                     "instruction_rows", (json_int_t)rows->total);
}
