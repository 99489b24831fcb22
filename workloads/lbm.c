/* lbm [STEPS] [CELLS] [DISTANCE]: fluid on a lattice, as lbm of SPEC CPU2017.
 *
 * The lattice Boltzmann method with 19 velocities (D3Q19) and one relaxation time. A cell is 20
 * words, two and a half cache lines: its 19 densities and its kind. A step looks at a cell's kind,
 * reads its densities, computes their equilibrium, and stores each into another neighbour: 19 lines
 * stored into. The first load of a cell misses the last-level cache (ST-LLC) and hides the misses
 * of the others; the arithmetic of one cell fills the reorder buffer, so that the next cell's loads
 * cannot start (TEA paper, §6).
 *
 * DISTANCE: the three lines of the cell that many cells ahead are prefetched. On riscv64 by loads
 * into x0, which need no data and so hold up nothing, as culprit models them; on x86-64 by the
 * prefetch instruction, whose address no trace has, so that it does nothing in a simulation. With
 * it the stores take over (DR-SQ). */
#include "workload.h"

enum {
    DENSITIES = 19,
    WIDTH = 100,
    PLANE = WIDTH * WIDTH,
    MARGIN = PLANE + WIDTH + 1, /* cells: how far a density can move */
    LINE = 64
};

enum kind { FLUID, WALL, LID };

struct cell {
    double density[DENSITIES];
    uint64_t kind;
};

/* A direction: how far it leads in each dimension, and which one leads back. */
struct direction {
    int x, y, z, back;
};

static const struct direction DIRECTIONS[DENSITIES] = {
    {0, 0, 0, 0},   {1, 0, 0, 2},   {-1, 0, 0, 1},  {0, 1, 0, 4},    {0, -1, 0, 3},
    {0, 0, 1, 6},   {0, 0, -1, 5},  {1, 1, 0, 10},  {1, -1, 0, 9},   {-1, 1, 0, 8},
    {-1, -1, 0, 7}, {1, 0, 1, 14},  {1, 0, -1, 13}, {-1, 0, 1, 12},  {-1, 0, -1, 11},
    {0, 1, 1, 18},  {0, 1, -1, 17}, {0, -1, 1, 16}, {0, -1, -1, 15},
};

#define INLINE static inline __attribute__((always_inline))

INLINE double weight(int i) {
    return i == 0 ? 1.0 / 3 : i < 7 ? 1.0 / 18 : 1.0 / 36;
}

/* The neighbour that direction `i` leads to. */
INLINE struct cell *beside(struct cell *cell, int i) {
    return cell + DIRECTIONS[i].x + DIRECTIONS[i].y * WIDTH + DIRECTIONS[i].z * PLANE;
}

INLINE void bounce(struct cell *to, const struct cell *from) {
#pragma GCC unroll 19
    for (int i = 0; i < DENSITIES; i++) {
        int back = DIRECTIONS[i].back;
        beside(to, back)->density[back] = from->density[i];
    }
}

INLINE void flow(struct cell *to, const struct cell *from, double omega) {
    double mass = 0, x = 0, y = 0, z = 0;
#pragma GCC unroll 19
    for (int i = 0; i < DENSITIES; i++) {
        double density = from->density[i];
        mass += density;
        x += DIRECTIONS[i].x == 1 ? density : DIRECTIONS[i].x == -1 ? -density : 0;
        y += DIRECTIONS[i].y == 1 ? density : DIRECTIONS[i].y == -1 ? -density : 0;
        z += DIRECTIONS[i].z == 1 ? density : DIRECTIONS[i].z == -1 ? -density : 0;
    }
    x /= mass;
    y /= mass;
    z /= mass;
    if (from->kind == LID) {
        x = 0.005;
        y = 0.002;
        z = 0;
    }
    double rest = 1 - 1.5 * (x * x + y * y + z * z);
#pragma GCC unroll 19
    for (int i = 0; i < DENSITIES; i++) {
        double along = DIRECTIONS[i].x * x + DIRECTIONS[i].y * y + DIRECTIONS[i].z * z;
        double equilibrium = weight(i) * mass * (rest + along * (3 + 4.5 * along));
        beside(to, i)->density[i] = (1 - omega) * from->density[i] + omega * equilibrium;
    }
}

INLINE void step_cell(struct cell *to, const struct cell *from, double omega) {
    if (from->kind == WALL)
        bounce(to, from);
    else
        flow(to, from, omega);
}

INLINE void prefetch(const void *line) {
#ifdef __riscv
    __asm__ volatile("ld zero, 0(%0)" : : "r"(line));
#else
    __builtin_prefetch(line);
#endif
}

kernel void stream_collide(struct cell *to, const struct cell *from, uint64_t count, double omega) {
    for (uint64_t i = 0; i < count; i++)
        step_cell(to + i, from + i, omega);
}

kernel void stream_collide_prefetched(struct cell *to, const struct cell *from, uint64_t count,
                                      double omega, uint64_t distance) {
    for (uint64_t i = 0; i < count; i++) {
        const char *ahead = (const char *)(from + i + distance);
        prefetch(ahead);
        prefetch(ahead + LINE);
        prefetch(ahead + 2 * LINE);
        step_cell(to + i, from + i, omega);
    }
}

/* A box with walls around and a lid that moves: place `i` of it, the margins included. */
static enum kind kind_of(uint64_t i, uint64_t size) {
    if (i < MARGIN || i >= size + MARGIN)
        return WALL;
    uint64_t place = i - MARGIN, x = place % WIDTH, y = place % PLANE / WIDTH;
    if (x == 0 || x == WIDTH - 1 || y == 0 || y == WIDTH - 1)
        return WALL;
    return y == 1 ? LID : FLUID;
}

int main(int count, char **arguments) {
    uint64_t steps = argument(count, arguments, 1, 2, "steps");
    uint64_t size = argument(count, arguments, 2, 130000, "cells");
    uint64_t distance = count > 3 ? argument(count, arguments, 3, 1, "prefetch distance") : 0;
    if (distance > MARGIN) {
        fprintf(stderr, "lbm: the prefetch distance is at most %d cells\n", MARGIN);
        return 2;
    }
    /* The margins at both ends take what moves out of the box. */
    struct cell *first = allocate(size + 2 * MARGIN, sizeof *first);
    struct cell *second = allocate(size + 2 * MARGIN, sizeof *second);
    for (uint64_t i = 0; i < size + 2 * MARGIN; i++) {
        first[i].kind = second[i].kind = kind_of(i, size);
        for (int d = 0; d < DENSITIES; d++)
            first[i].density[d] = second[i].density[d] = weight(d);
    }
    for (uint64_t step = 0; step < steps; step++) {
        struct cell *from = step & 1 ? second : first, *to = step & 1 ? first : second;
        if (distance)
            stream_collide_prefetched(to + MARGIN, from + MARGIN, size, 1.95, distance);
        else
            stream_collide(to + MARGIN, from + MARGIN, size, 1.95);
    }
    const struct cell *last = steps & 1 ? second : first;
    double sum = 0;
    for (uint64_t i = 0; i < size + 2 * MARGIN; i++)
        sum += last[i].density[i % DENSITIES];
    printf("lbm %.9e\n", sum);
    free(first);
    free(second);
    return 0;
}
