/* Function extents from frame description entries, which give a function's extent but not its
 * name. */
#include "program/frame_entries.h"
#include "program/function.h"
#include "util/array.h"

struct reading {
    struct function_list *list;
    bool good;
};

static bool add_extent(void *context, const struct frame_entry *entry) {
    struct reading *reading = context;
    struct function_list *list = reading->list;
    reading->good = array_push(list->items, list->capacity, list->count,
                               (struct function){.start = entry->start, .end = entry->end});
    return reading->good;
}

bool function_read_unwind(struct function_list *list, const struct elf_image *image) {
    struct reading reading = {.list = list, .good = true};
    frame_entries_visit(image, add_extent, &reading);
    return reading.good;
}
