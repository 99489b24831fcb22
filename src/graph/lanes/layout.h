/* Where the rows of a layout are: each kind of node has a ring of rows, in which the row of a µop
 * is reached by its distance from the µop at hand. Inside of graph/lanes/. */
#pragma once

#include "graph/lanes/step.h"

/* Rows of the rings of missing loads and of F, which the rings' users must know. */
enum { LANES_MISSES = 1024, LANES_FETCHES = 256 };

/* The rings of a machine, with the window as it is (`window` 0) or idealised to so many µops. */
void lanes_layout_init(struct lanes_layout *layout, const struct graph_machine *machine,
                       uint32_t window);
/* Sets the offsets for the first µop of a fragment. */
void lanes_layout_begin(struct lanes_layout *layout, const struct graph_machine *machine);

/* The row of the `ordinal`-th of its kind, of a ring of 2^n rows (those not in lanes_moving). */
static inline uint32_t lanes_row(struct lanes_ring ring, uint32_t ordinal) {
    return ring.base + (ordinal & (ring.rows - 1)) * LANES_GROUP;
}

/* The row of the µop that is `distance` before the one whose row is at `at`. */
static inline uint32_t lanes_behind(struct lanes_ring ring, uint32_t at, uint32_t distance) {
    uint32_t from = at - distance * LANES_GROUP;
    return at - ring.base >= distance * LANES_GROUP ? from : from + ring.rows * LANES_GROUP;
}

typedef uint32_t lanes_offsets __attribute__((vector_size(16), may_alias));

/* Moves on to the rows of the next µop. */
static inline void lanes_move_on(struct lanes_layout *layout) {
    enum { VECTORS = sizeof layout->at / sizeof(lanes_offsets) };
    lanes_offsets *at = (lanes_offsets *)&layout->at;
    const lanes_offsets *end = (const lanes_offsets *)&layout->end;
    const lanes_offsets *size = (const lanes_offsets *)&layout->size;
    _Pragma("GCC unroll 2") for (uint32_t i = 0; i < VECTORS; i++) {
        lanes_offsets next = at[i] + LANES_GROUP;
        at[i] = next - ((lanes_offsets)(next == end[i]) & size[i]);
    }
}
