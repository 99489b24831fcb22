/* Made-up programs: of P phases, each a mix of its own of 200 of 5,000 blocks, in runs of random
 * length, every count ±10 %; and one without phases, where every slice is a mix of its own of 12
 * loops. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "region/bbv.h"

enum { BLOCKS = 5000, PER_PHASE = 200, MAX_PHASES = 64, LOOPS = 12 };

static uint64_t random_state;
static uint32_t next_random(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % below;
}

static struct { uint32_t block, count; } mixes[MAX_PHASES][PER_PHASE];

static void make_mixes(void) {
    random_state = 88172645463325252ull;
    for (uint32_t phase = 0; phase < MAX_PHASES; phase++)
        for (uint32_t i = 0; i < PER_PHASE; i++) {
            mixes[phase][i].block = 1 + next_random(BLOCKS);
            mixes[phase][i].count = 1 << next_random(16);
        }
}

static void must(bool good, const struct error *error) {
    if (good)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void make_slice(struct bbv_set *set, uint32_t phase, uint32_t share) {
    struct error error;
    for (uint32_t i = 0; i < PER_PHASE; i++)
        must(bbv_set_block(set, mixes[phase][i].block,
                           (uint64_t)mixes[phase][i].count * share * (90 + next_random(21)),
                           &error),
             &error);
}

/* Slice after slice; phases 0: none. */
static void next_slice(struct bbv_set *set, uint32_t phases) {
    static uint32_t phase, left;
    struct error error;
    bbv_set_clear(set);
    if (phases == 0)
        for (uint32_t loop = 0; loop < LOOPS; loop++)
            make_slice(set, loop, 1 + next_random(100));
    else {
        if (left-- == 0) {
            phase = next_random(phases);
            left = next_random(200);
        }
        make_slice(set, phase % phases, 1);
    }
    must(bbv_set_slice(set, &error), &error);
}
