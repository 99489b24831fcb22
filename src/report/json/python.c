/* Python's lines and functions as JSON; every key is documented in docs/json.md. */
#include "report/json_values.h"
#include "report/python_report.h"

static json_t *rows_of(const struct python_row *rows, uint32_t count, double total,
                       bool functions) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const struct python_row *row = &rows[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:f, s:f, s:I, s:o}", "function", json_text(row->function), "file",
            json_text(row->path), "line", json_known(row->line), "cycles",
            (double)row->units / CYCLE_UNITS, "share", total > 0 ? (double)row->units / total : 0,
            "instructions", (json_int_t)row->executions, "stack", cycle_stack_json(&row->stack));
        if (functions)
            json_object_set_new(object, "calls", json_count(row->calls));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *python_rows_json(const struct report *report) {
    const struct python_rows *rows = report->python;
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    if (!rows || !rows->line_total)
        return json_null();
    return json_pack("{s:f, s:o, s:I, s:o, s:I}", "cycles", (double)rows->units / CYCLE_UNITS,
                     "lines", rows_of(rows->lines, rows->line_count, total, false), "line_count",
                     (json_int_t)rows->line_total, "functions",
                     rows_of(rows->functions, rows->function_count, total, true), "function_count",
                     (json_int_t)rows->function_total);
}
