/* Top-down levels as JSON; every key is documented in docs/json.md. */
#include "report/levels.h"

#include "report/json_values.h"

/* The tree, in the order in which it is printed. */
static json_t *tree_json(const uint64_t slots[SLOT_CLASSES]) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < slot_level_count; i++) {
        const struct slot_level *level = &slot_levels[i];
        json_array_append_new(array, json_pack("{s:s, s:i, s:I}", "name", level->name, "depth",
                                               (int)level->depth, "slots",
                                               (json_int_t)slot_level_slots(level, slots)));
    }
    return array;
}

static json_t *row_json(const char *image, uint64_t offset, const char *function, const char *file,
                        uint32_t line, uint64_t units, const struct stack *stack) {
    uint64_t slots[SLOT_CLASSES];
    levels_of_stack(stack, slots);
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:I, s:o}", "image", json_text(image), "offset",
                     (json_int_t)offset, "function", json_text(function), "file", json_text(file),
                     "line", json_known(line), "slots", (json_int_t)units, "levels",
                     tree_json(slots));
}

json_t *levels_json(const struct levels *levels) {
    json_t *rows = json_array();
    for (uint32_t i = 0; i < levels->rows.count; i++) {
        struct report_row row;
        rows_get(&levels->rows, i, &row);
        json_array_append_new(rows, row_json(row.image, row.offset, row.function, row.file,
                                             row.line, row.units, &row.stack));
    }
    for (uint32_t i = 0; i < levels->loops.count; i++) {
        const struct loop_row *row = &levels->loops.rows[i];
        json_array_append_new(rows, row_json(row->image, row->offset, row->function, row->file,
                                             row->line, row->units, &row->stack));
    }
    return json_pack("{s:i, s:I, s:o, s:o}", "dispatch_width", (int)levels->width, "slots",
                     (json_int_t)levels->slots, "levels", tree_json(levels->classes), "rows", rows);
}
