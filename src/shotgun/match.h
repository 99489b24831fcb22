/* The detailed samples of each instruction, and which of them fits best. */
#pragma once

#include "shotgun/database.h"

struct shotgun_index {
    const struct shotgun_sample *samples;
    uint32_t *order; /* numbers of samples, by instruction, then by context */
    uint32_t *first; /* by instruction: its first in `order`; one more at the end */
    uint32_t *only;  /* by instruction: the sample taken first; SHOTGUN_NONE */
    bool *unsettled; /* by instruction: see shotgun_unsettled() */
    uint32_t insn_count;
};

/* False: out of memory, or a sample of an instruction from `insn_count` on. */
bool shotgun_index_new(struct shotgun_index *index, const struct shotgun_database *database,
                       uint32_t insn_count, struct error *error);
void shotgun_index_free(struct shotgun_index *index);

/* The sample of the instruction that has most bits in common with `context`, among the bits that
 * are `there`. A sample with the same two bits of its own comes before any other (the
 * interaction-cost paper §5.4 counts all bits alike, and then loses what is rare: on xz a fifth of
 * the cost of mispredictions). Among equally close samples one is drawn at random. NULL: there is
 * none. *exact: all bits are equal. */
const struct shotgun_sample *shotgun_match(const struct shotgun_index *index, uint32_t insn,
                                           uint64_t context, uint64_t there, uint64_t *random,
                                           bool *exact);

/* Whether the samples of the instruction tell little about its successor: there are four or more,
 * and most of them went where no other of them went. That share estimates the probability that it
 * goes where none of them went (Good 1953). An example is the return of a function that is called
 * from many places, each executed once. */
static inline bool shotgun_unsettled(const struct shotgun_index *index, uint32_t insn) {
    return index->unsettled[insn];
}

/* The sample of the instruction that is always the same one. NULL: there is none. */
const struct shotgun_sample *shotgun_only(const struct shotgun_index *index, uint32_t insn);
