/* The roofline as JSON; every key is documented in docs/json.md. */
#include <math.h>

#include "report/json_values.h"
#include "report/roofline.h"

static json_t *roofs_json(const struct roof *roofs, uint32_t count, const char *unit) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:f}", "name", roofs[i].name, unit, roofs[i].rate));
    return array;
}

json_t *roofline_json(const struct roofline *roofline) {
    json_t *loops = json_array();
    for (uint32_t i = 0; i < roofline->count; i++) {
        const struct roofline_loop *loop = &roofline->points[i];
        const struct loop_row *row = &roofline->loops.rows[loop->row];
        const bool bounded = isfinite(loop->bound);
        json_array_append_new(
            loops,
            json_pack("{s:s, s:I, s:o, s:o, s:o, s:I, s:I, s:f, s:f, s:f, s:o, s:o}", "image",
                      row->image, "offset", (json_int_t)row->offset, "function",
                      json_text(row->function), "file", json_text(row->file), "line",
                      json_known(row->line), "operations", (json_int_t)loop->operations, "bytes",
                      (json_int_t)loop->bytes, "cycles", loop->cycles, "operations_per_byte",
                      loop->intensity, "operations_per_second", loop->rate, "bound",
                      bounded ? json_real(loop->bound) : json_null(), "roof",
                      bounded ? json_text(roofline_bound(roofline, i)) : json_null()));
    }
    return json_pack(
        "{s:s, s:o, s:o, s:o}", "operations", roofline->fp ? "floating point" : "integer", "memory",
        roofs_json(roofline->memory, roofline->memory_count, "bytes_per_second"), "computing",
        roofs_json(roofline->computing, roofline->computing_count, "operations_per_second"),
        "loops", loops);
}
