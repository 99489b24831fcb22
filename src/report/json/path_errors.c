/* The errors of flame graphs in JSON; every key is documented in docs/json.md. */
#include "report/path_errors.h"

static json_t *row_json(const struct path_errors *errors, const struct path_error *row) {
    json_t *frames = json_array();
    for (size_t i = 0; i < errors->profile->frames.count; i++)
        json_array_append_new(frames, json_real(row->frames[i]));
    const char *worst =
        row->worst > 0 ? errors->profile->procedures[row->worst_procedure].name : NULL;
    return json_pack("{s:o, s:o, s:o, s:o, s:f, s:o, s:o}", "error", json_number(row->error),
                     "floor", json_number(row->floor), "stack_error", json_number(row->stack_error),
                     "stack_floor", json_number(row->stack_floor), "worst", row->worst,
                     "worst_procedure", json_text(worst), "shares", frames);
}

static json_t *function_json(const struct path_errors *errors, uint32_t number) {
    const struct call_procedure *procedure = &errors->profile->procedures[number];
    json_t *shares = json_object();
    for (uint32_t i = 0; i < errors->count; i++)
        json_object_set_new(shares, errors->rows[i].label,
                            json_real(errors->rows[i].procedures[number]));
    return json_pack("{s:o, s:o, s:f, s:o}", "procedure", json_text(procedure->name), "image",
                     json_text(procedure->image), "share", errors->procedures[number], "shares",
                     shares);
}

void path_errors_json(const struct path_errors *errors, json_t *profilers, json_t *object) {
    json_t *functions = json_array();
    for (uint32_t i = 0; i < errors->count; i++)
        json_object_set_new(json_array_get(profilers, i), "paths",
                            row_json(errors, &errors->rows[i]));
    for (uint32_t i = 0; i < errors->shown; i++)
        json_array_append_new(functions, function_json(errors, errors->sorted[i]));
    json_object_set_new(object, "inclusive_functions", functions);
    json_object_set_new(object, "inclusive_function_count", json_count(errors->total));
}
