/* Data objects of a simulation as JSON; every key is documented in docs/json.md. */
#include "attribute/memory_objects.h"
#include "report/data_names.h"
#include "report/json_values.h"
#include "report/report.h"

json_t *data_json(const struct report *report) {
    const struct data_rows *data = &report->data;
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    json_t *array = json_array();
    for (uint32_t i = 0; i < data->count; i++) {
        const struct data_row *row = &data->rows[i];
        json_array_append_new(
            array, json_pack("{s:s, s:b, s:o, s:o, s:o, s:i, s:I, s:f, s:f, s:o}", "kind",
                             object_kind_name(row->kind), "allocated", row->kind == OBJECT_HEAP,
                             "name", json_text(row->name), "image", json_text(row->image), "size",
                             json_known(row->size), "sites", (int)row->sites, "units",
                             (json_int_t)row->units, "cycles", (double)row->units / CYCLE_UNITS,
                             "share", total > 0 ? (double)row->units / total : 0, "stack",
                             cycle_stack_json(&row->stack)));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:b, s:o, s:I}", "units", (json_int_t)data->units,
                     "data_miss_units", (json_int_t)data->missed, "code_units",
                     (json_int_t)data->code, "unknown_units", (json_int_t)data->unknown, "told",
                     report->simulation->data.told, "objects", array, "object_count",
                     (json_int_t)data->total);
}
