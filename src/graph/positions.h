/* The numbers of the latest µops of a kind, in a ring. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

#include "graph/graph.h"

struct positions {
    uint64_t *at;
    uint32_t mask;
    uint64_t count; /* since positions_begin() */
};

/* There are none so far: all are farther back than any distance. */
static inline void positions_begin(struct positions *positions) {
    positions->count = 0;
    for (uint64_t i = 0; i <= positions->mask; i++)
        positions->at[i] = UINT64_MAX / 2;
}

/* A ring of the last `reach` and one more. False: out of memory. */
static inline bool positions_new(struct positions *positions, uint32_t reach) {
    uint64_t size = 1;
    while (size < (uint64_t)reach + 1)
        size *= 2;
    positions->mask = (uint32_t)(size - 1);
    if (!(positions->at = calloc(size, sizeof *positions->at)))
        return false;
    positions_begin(positions);
    return true;
}

static inline void positions_add(struct positions *positions, uint64_t at) {
    positions->at[positions->count++ & positions->mask] = at;
}

static inline uint16_t distance_to(uint64_t number, uint64_t other) {
    uint64_t distance = number - other;
    return distance <= GRAPH_FAR ? (uint16_t)distance : 0;
}

/* The distance from a µop back to the `back`-th latest of the kind. `back` is 1, the latest, up to
 * the reach (one more if the µop itself was added last). 0: there are not so many, or it is too
 * far. */
static inline uint16_t positions_back(const struct positions *positions, uint64_t number,
                                      uint32_t back) {
    return distance_to(number, positions->at[(positions->count - back) & positions->mask]);
}
