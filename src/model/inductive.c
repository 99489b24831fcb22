/* Chandra's inductive probability: the number of distinct blocks is a Markov chain that goes from
 * d to d + 1 at an access whose circular sequence has more than d blocks, or is none. Its matrix is
 * raised to the power n − 1 by squaring; "ways or more" is where it ends. */
#include <math.h>
#include <string.h>

#include "model/contention.h"

/* Upper triangular: of[i × ways + j], from i + 1 blocks to j + 1. */
struct chain {
    uint32_t ways;
    double of[LOCALITY_MAX_WAYS * LOCALITY_MAX_WAYS];
};

static void square(struct chain *chain) {
    double old[LOCALITY_MAX_WAYS * LOCALITY_MAX_WAYS];
    const uint32_t ways = chain->ways;
    memcpy(old, chain->of, (size_t)ways * ways * sizeof *old);
    for (uint32_t i = 0; i < ways; i++)
        for (uint32_t j = i; j < ways; j++) {
            double p = 0;
            for (uint32_t k = i; k <= j; k++)
                p += old[i * ways + k] * old[k * ways + j];
            chain->of[i * ways + j] = p;
        }
}

static void step(const struct chain *chain, double *p) {
    for (uint32_t j = chain->ways; j-- > 0;) {
        double sum = 0;
        for (uint32_t i = 0; i <= j; i++)
            sum += p[i] * chain->of[i * chain->ways + j];
        p[j] = sum;
    }
}

/* P(d−): the share of accesses to the level that end a circular sequence of at most d blocks. */
static void make_chain(const struct locality_level *level, struct chain *chain) {
    const uint32_t ways = level->shape.ways;
    uint64_t at_most = 0;
    chain->ways = ways;
    memset(chain->of, 0, (size_t)ways * ways * sizeof *chain->of);
    for (uint32_t i = 0; i < ways; i++) {
        for (uint32_t octave = 0; octave < LOCALITY_OCTAVES; octave++)
            at_most += level->circular[i][octave].count;
        const double stay = (double)at_most / (double)level->accesses;
        chain->of[i * ways + i] = i + 1 < ways ? stay : 1;
        if (i + 1 < ways)
            chain->of[i * ways + i + 1] = 1 - stay;
    }
}

/* n whole, below 2^63. */
static void sequence_of(const struct locality_level *level, uint64_t n, double *out) {
    const uint32_t ways = level->shape.ways;
    struct chain chain;
    memset(out, 0, ways * sizeof *out);
    out[0] = 1;
    make_chain(level, &chain);
    for (uint64_t steps = n - 1; steps; steps >>= 1) {
        if (steps & 1)
            step(&chain, out);
        if (steps > 1)
            square(&chain);
    }
}

void contention_inductive(const struct locality_level *level, double n, double *out) {
    double above[LOCALITY_MAX_WAYS];
    const double whole = floor(fmin(n, 0x1p60)), part = fmin(n, 0x1p60) - whole;
    sequence_of(level, (uint64_t)whole, out);
    if (part == 0)
        return;
    sequence_of(level, (uint64_t)whole + 1, above);
    for (uint32_t i = 0; i < level->shape.ways; i++)
        out[i] = (1 - part) * out[i] + part * above[i];
}
