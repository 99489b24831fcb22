/* The map of a struct as JSON; every key is documented in docs/json.md. */
#include "report/json_values.h"
#include "report/struct_report.h"
#include "study/struct_run.h"

static json_t *together_of(const struct struct_run *run, uint32_t field) {
    json_t *object = json_object();
    const uint64_t *together = run->elements.together + (size_t)field * run->map.count;
    for (uint32_t i = 0; run->elements.touched && i < run->map.count; i++)
        if (i != field && together[i])
            json_object_set_new(
                object, run->map.fields[i].name,
                json_real((double)together[i] / (double)run->elements.touched[field]));
    return object;
}

static json_t *fields_of(const struct struct_run *run) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < run->map.count; i++) {
        const struct map_field *field = &run->map.fields[i];
        json_array_append_new(
            array, json_pack("{s:o, s:I, s:I, s:I, s:f, s:f, s:b, s:o}", "field",
                             json_text(field->name), "offset", (json_int_t)field->offset, "size",
                             (json_int_t)field->size, "executions", (json_int_t)field->executions,
                             "cycles", (double)field->units / CYCLE_UNITS, "miss_cycles",
                             (double)field->miss_units / CYCLE_UNITS, "hot", field->is_hot,
                             "together", together_of(run, i)));
    }
    return array;
}

static json_t *hot_of(const struct struct_run *run, const struct struct_remedy *remedy) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < run->map.count; i++)
        if (run->map.fields[i].executions >= remedy->least)
            json_array_append_new(array, json_text(run->map.fields[i].name));
    return array;
}

static json_t *remedies_of(const struct struct_run *run) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < run->remedy_count; i++) {
        const struct struct_remedy *remedy = &run->remedies[i];
        const double saving = 1 - (double)remedy->cycles / (double)run->simulation->cycles;
        json_array_append_new(array, json_pack("{s:s, s:o, s:I, s:I, s:I, s:f}", "kind",
                                               remedy->split ? "split" : "reordered", "hot",
                                               hot_of(run, remedy), "hot_size",
                                               (json_int_t)remedy->hot_size, "cold_size",
                                               (json_int_t)remedy->cold_size, "cycles",
                                               (json_int_t)remedy->cycles, "saving", saving));
    }
    return array;
}

json_t *struct_json(const struct struct_run *run) {
    if (!run->map.type)
        return json_null();
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:o, s:i, s:f, s:f, s:f, s:o, s:o}", "type", json_text(run->map.type),
        "size", (json_int_t)run->map.size, "elements", (json_int_t)run->elements.count,
        "overlapping", (json_int_t)run->elements.overlapping, "untyped",
        run->elements.untyped == UINT64_MAX ? json_null() : json_count(run->elements.untyped),
        "line_offset", (int)run->elements.line_offset, "line_share", run->elements.line_share,
        "cycles", (double)run->map.units / CYCLE_UNITS, "miss_cycles",
        (double)run->map.miss_units / CYCLE_UNITS, "fields", fields_of(run), "remedies",
        remedies_of(run));
}
