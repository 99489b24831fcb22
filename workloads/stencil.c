/* stencil [STEPS] [CELLS]: a lattice with many streams and little arithmetic.
 *
 * Every cell has 19 values. A step reads the 19 of a cell, relaxes them, and stores each into a
 * different neighbour: 19 cache lines per cell are stored into, most not cached, so that the store
 * queue fills and dispatch stops (DR-SQ), and the loads miss in the LLC (ST-LLC). */
#include "workload.h"

enum { DIRECTIONS = 19, VALUES = 20, WIDTH = 50, MARGIN = WIDTH * WIDTH + WIDTH + 1 };

/* Where each value moves to, in cells: the D3Q19 lattice of a box WIDTH × WIDTH across. */
static const int64_t OFFSETS[DIRECTIONS] = {
    0,
    1,
    -1,
    WIDTH,
    -WIDTH,
    WIDTH *WIDTH,
    -WIDTH *WIDTH,
    WIDTH + 1,
    WIDTH - 1,
    -WIDTH + 1,
    -WIDTH - 1,
    WIDTH *WIDTH + 1,
    WIDTH *WIDTH - 1,
    -WIDTH *WIDTH + 1,
    -WIDTH *WIDTH - 1,
    WIDTH *WIDTH + WIDTH,
    WIDTH *WIDTH - WIDTH,
    -WIDTH *WIDTH + WIDTH,
    -WIDTH *WIDTH - WIDTH,
};

struct cell {
    double value[VALUES]; /* the last is padding, as the flags in lbm */
};

static inline __attribute__((always_inline)) void collide_cell(struct cell *to,
                                                               const struct cell *from) {
    double density = 0;
#pragma GCC unroll 19
    for (int i = 0; i < DIRECTIONS; i++)
        density += from->value[i];
    double rest = density * (0.5 / DIRECTIONS);
#pragma GCC unroll 19
    for (int i = 0; i < DIRECTIONS; i++)
        to[OFFSETS[i]].value[i] = 0.5 * from->value[i] + rest;
}

kernel void collide(struct cell *to, const struct cell *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        collide_cell(to + i, from + i);
}

int main(int count, char **arguments) {
    uint64_t steps = argument(count, arguments, 1, 3, "steps");
    uint64_t size = argument(count, arguments, 2, 125000, "cells");
    /* The margins at both ends take what moves out of the box. */
    struct cell *first = allocate(size + 2 * MARGIN, sizeof *first);
    struct cell *second = allocate(size + 2 * MARGIN, sizeof *second);
    for (uint64_t i = 0; i < size + 2 * MARGIN; i++)
        for (int value = 0; value < DIRECTIONS; value++)
            first[i].value[value] = (double)((i * 7 + (uint64_t)value) % 32);
    for (uint64_t step = 0; step < steps; step++) {
        struct cell *from = step & 1 ? second : first, *to = step & 1 ? first : second;
        collide(to + MARGIN, from + MARGIN, size);
    }
    const struct cell *last = steps & 1 ? second : first;
    double sum = 0;
    for (uint64_t i = 0; i < size + 2 * MARGIN; i++)
        sum += last[i].value[i % DIRECTIONS];
    printf("stencil %.9e\n", sum);
    free(first);
    free(second);
    return 0;
}
