/* The places of dispatch, reorder buffer and commit (core/places.h), which bandwidth and window
 * count: how many µops back the last µop of the place so many places ago is. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "util/power_of_two.h"

struct graph_places {
    uint32_t *last; /* a ring: low bits of the number of each place's last µop; NULL: each µop has
                       its own */
    uint32_t mask;
    uint64_t number, count; /* of the µop added last; places so far */
};

/* `reach`: places back that are asked for, at most. False: out of memory. */
static inline bool graph_places_new(struct graph_places *places,
                                    const struct graph_machine *machine, uint32_t reach) {
    *places = (struct graph_places){0};
    if (machine->most_of_place == 1)
        return true;
    places->mask = power_of_two_from((uint64_t)reach + 1) - 1;
    return (places->last = calloc((size_t)places->mask + 1, sizeof *places->last)) != NULL;
}

/* The next µop has this number, and is the first of a graph if that is 0. */
static inline void graph_places_add(struct graph_places *places, uint64_t number,
                                    const struct graph_uop *uop) {
    places->number = number;
    if (!places->last)
        return;
    if (number == 0)
        places->count = 0;
    places->count += !(uop->flags & GRAPH_SHARES) || places->count == 0;
    places->last[(places->count - 1) & places->mask] = (uint32_t)number;
}

/* From the µop added last. 0: there are not so many. */
static inline uint32_t graph_places_back(const struct graph_places *places, uint32_t back) {
    if (!places->last)
        return back <= places->number ? back : 0;
    return back < places->count
               ? (uint32_t)places->number - places->last[(places->count - 1 - back) & places->mask]
               : 0;
}
