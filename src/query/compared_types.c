/* Few types are accessed in one function: they are summed up first, and those behind the first
 * TYPES_MOST are left out. */
#include <string.h>

#include "query/compared_lines.h"

enum { TYPES_MOST = 64 };

struct accessed_type {
    const struct compared_place *place; /* the costliest access */
    uint64_t units;
};

static size_t list_types(const struct compared_function *function,
                         struct accessed_type types[TYPES_MOST]) {
    size_t count = 0;
    for (size_t i = 0; function && i < function->place_count; i++) {
        const struct compared_place *place = &function->places[i];
        if (!place->type)
            continue;
        size_t k = 0;
        while (k < count && (strcmp(types[k].place->type, place->type) != 0 ||
                             types[k].place->type_size != place->type_size))
            k++;
        if (k == TYPES_MOST)
            continue;
        if (k == count)
            types[count++] = (struct accessed_type){.place = place};
        if (place->cost.units > types[k].place->cost.units)
            types[k].place = place;
        types[k].units += place->cost.units;
    }
    return count;
}

void compared_types_find(struct compared_change *change) {
    struct accessed_type before[TYPES_MOST], after[TYPES_MOST];
    const size_t before_count = list_types(change->sides[0], before);
    const size_t after_count = list_types(change->sides[1], after);
    uint64_t most = 0;
    for (size_t i = 0; i < before_count; i++)
        for (size_t k = 0; k < after_count; k++) {
            const struct compared_place *old = before[i].place, *new = after[k].place;
            const uint64_t units = before[i].units + after[k].units;
            if (strcmp(old->type, new->type) != 0 || old->type_size == new->type_size ||
                units <= most)
                continue;
            most = units;
            change->types[0] = old;
            change->types[1] = new;
        }
}
