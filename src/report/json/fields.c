/* Fields of a simulation as JSON; every key is documented in docs/json.md. */
#include "report/json_values.h"
#include "report/report.h"

static json_t *known(const struct field_row *row, uint64_t number) {
    return row->type ? json_count(number) : json_null();
}

json_t *fields_json(const struct report *report) {
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    json_t *array = json_array();
    for (uint32_t i = 0; i < report->fields.count; i++) {
        const struct field_row *row = &report->fields.rows[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:I, s:f, s:f, s:f, s:o}", "type",
                      json_text(row->type), "field",
                      row->type ? json_text(row->field) : json_null(), "reason",
                      row->type ? json_null()
                                : json_text(access_reason_text((enum access_reason)row->reason)),
                      "image", json_text(row->image), "offset", known(row, row->offset), "size",
                      known(row, row->size), "element", row->is_element, "type_size",
                      json_known(row->type_size), "executions", (json_int_t)row->executions,
                      "cycles", (double)row->units / CYCLE_UNITS, "miss_cycles",
                      (double)row->miss_units / CYCLE_UNITS, "share",
                      total > 0 ? (double)row->units / total : 0, "stack",
                      cycle_stack_json(&row->stack)));
    }
    return array;
}
