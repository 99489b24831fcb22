/* Loops of a simulation as JSON; every key is documented in docs/json.md. */
#include "report/json_values.h"
#include "report/report.h"

json_t *loops_json(const struct report *report) {
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    json_t *array = json_array();
    for (uint32_t i = 0; i < report->loops.count; i++) {
        const struct loop_row *row = &report->loops.rows[i];
        json_array_append_new(
            array,
            json_pack(
                "{s:o, s:i, s:s, s:I, s:o, s:I, s:o, s:o, s:I, s:o, s:I, s:f, s:f, s:f, s:o, "
                "s:o, s:I, s:I, s:I, s:I}",
                "outer", row->outer == LOOP_NONE ? json_null() : json_count(row->outer), "depth",
                (int)row->depth, "image", row->image, "offset", (json_int_t)row->offset, "function",
                json_text(row->function), "function_offset", (json_int_t)row->function_offset,
                "file", json_text(row->file), "line", json_known(row->line), "rounds",
                (json_int_t)row->rounds, "entries",
                row->entries < 0 ? json_null() : json_real(row->entries), "instructions",
                (json_int_t)row->instructions, "cycles", (double)row->units / CYCLE_UNITS,
                "self_cycles", (double)row->self_units / CYCLE_UNITS, "share",
                total > 0 ? (double)row->units / total : 0, "called_cycles",
                row->called_units < 0 ? json_null() : json_real(row->called_units / CYCLE_UNITS),
                "stack", cycle_stack_json(&row->stack), "fp_operations", (json_int_t)row->work.fp,
                "integer_operations", (json_int_t)row->work.integer, "bytes_loaded",
                (json_int_t)row->work.loaded, "bytes_stored", (json_int_t)row->work.stored));
    }
    return array;
}
