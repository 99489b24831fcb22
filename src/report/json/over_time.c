#include "report/over_time.h"

json_t *timeline_json(const struct timeline *timeline) {
    return json_pack("{s:s, s:f, s:f, s:I, s:f}", "begin", text_time(timeline->begin).s,
                     "begin_seconds", (double)timeline->begin / 1e9, "step_seconds",
                     (double)timeline->step / 1e9, "steps", (json_int_t)timeline->count, "untimed",
                     timeline->untimed);
}

json_t *over_time_json(const struct timeline *timeline, const double *values) {
    json_t *array = json_array();
    for (size_t i = 0; i < timeline->count; i++)
        json_array_append_new(array, json_real(values[1 + i]));
    return array;
}
