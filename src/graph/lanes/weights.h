/* Rows of the weights that a category can change: one for each weight and set of categories that
 * has come up, the same row in all groups. Inside of graph/lanes/lanes.c. */
#pragma once

#include "graph/lanes/step.h"

/* The rows that are always there: of 0, and of what is earlier than anything. */
enum { LANES_NOTHING_ROW = 0, LANES_NEVER_ROW = LANES_GROUP };

enum { LANES_WEIGHTS_HASH = 4 * LANES_WEIGHTS };

struct lanes_weights {
    const struct categories *categories;
    struct lanes_group *groups; /* whose rows are filled when a weight comes up */
    uint32_t group_count;
    uint32_t count; /* of rows */
    struct lanes_weight_row {
        uint64_t key; /* cycles, always, categories: see lanes_weight() */
        uint32_t row; /* 0: free */
    } rows[LANES_WEIGHTS_HASH];
};

/* `weights` must be all zero, and has no groups at first. `categories` must outlive it. */
void lanes_weights_init(struct lanes_weights *weights, const struct categories *categories);
/* Whether so many more can come up. */
bool lanes_weights_hold(const struct lanes_weights *weights, uint32_t more);
/* Forgets all rows; those that were returned are void. */
void lanes_weights_clear(struct lanes_weights *weights);
/* Fills all rows of a group. */
void lanes_weights_fill(const struct lanes_weights *weights, struct lanes_group *group);

/* The row of `always` cycles plus what the categories of `set` leave of `cycles`. Both must be less
 * than 65,536. */
uint32_t lanes_weight(struct lanes_weights *weights, uint32_t set, uint32_t cycles,
                      uint32_t always);
/* The row of what the categories that change `part` (enum graph_part) of an instruction leave of
 * `cycles`. */
uint32_t lanes_weight_of(struct lanes_weights *weights, unsigned part, uint32_t insn,
                         uint32_t cycles);
/* The row of masks: all bits set where none of those categories removes the part, 0 where one
 * does. */
uint32_t lanes_keep_of(struct lanes_weights *weights, unsigned part, uint32_t insn);
