/* Predictors of small machines and streams of branches for them. */
#pragma once

#include <string.h>

#include "branch/branch.h"

/* Everything small, a perfect BTB. */
static const struct machine_branch SMALL = {
    .direction = DIRECTION_BIMODAL,
    .bimodal_entries = 4,
    .gshare_entries = 4,
    .meta_entries = 4,
    .history = 2,
    .tage_tables = 6,
    .tage_entries = 1024,
    .tage_tag_bits = 10,
    .tage_min_history = 2,
    .tage_max_history = 64,
    .btb_ways = 1,
    .ras_entries = 4,
};

static struct branch_predictor *new_predictor(struct machine_branch machine) {
    struct error error;
    struct branch_predictor *predictor = branch_new(&machine, &error);
    assert_non_null(predictor);
    return predictor;
}

/* A conditional branch of two bytes; taken to 0x10. */
static inline enum branch_outcome conditional(struct branch_predictor *predictor, uint64_t address,
                                              bool taken) {
    return branch_predict(predictor, address, BRANCH_CONDITIONAL, 2, taken,
                          taken ? 0x10 : address + 2);
}

static inline uint64_t random_next(uint64_t *state) { /* Marsaglia's xorshift */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}
