#include "region/work_bounds.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

bool work_bounds_want(struct work_bounds *bounds, uint64_t wanted) {
    if (bounds->count && bounds->items[bounds->count - 1].wanted >= wanted)
        return true;
    return array_push(bounds->items, bounds->capacity, bounds->count,
                      (struct work_bound){.wanted = wanted});
}

ORDER(by_second, struct noted_marker,
      descending(a->found, b->found) ?: ascending(a->positions[1], b->positions[1]))

static void settle(struct work_bound *bound) {
    if (bound->exact)
        return;
    qsort(bound->noted, bound->noted_count, sizeof *bound->noted, by_second);
    const size_t found = index_where(i, bound->noted_count, !bound->noted[i].found);
    if (!found)
        return;
    const struct noted_marker *middle = &bound->noted[(found - 1) / 2];
    bound->found = true;
    bound->positions[0] = middle->positions[0];
    bound->positions[1] = middle->positions[1];
}

static bool precedes(const struct work_bound *a, const struct work_bound *b) {
    return a->positions[0] < b->positions[0] && a->positions[1] < b->positions[1];
}

void work_bounds_settle(struct work_bounds *bounds) {
    const struct work_bound *before = NULL, *last = bounds->items + bounds->count - 1;
    for (size_t i = 0; i < bounds->count; i++) {
        struct work_bound *bound = &bounds->items[i];
        settle(bound);
        bound->found &= bound->exact || ((!before || precedes(before, bound)) &&
                                         (!last->exact || precedes(bound, last)));
        if (bound->found)
            before = bound;
    }
}

void work_bounds_free(struct work_bounds *bounds) {
    free(bounds->items);
    *bounds = (struct work_bounds){0};
}
