/* How far something gets along the edges of a graph: from where it is made or comes in, through
 * blocks that do not stop it. Each thing has a maker, and a block keeps at most SPREAD_MAKERS
 * makers of the things that reach it. Inside of this room.
 *
 *     spread_begin, then for each block set `stops`; spread_enter, spread_leave; spread_run; `in`
 *
 * Sets are small and only grow, so each edge is passed a few times at most. */
#pragma once

#include "analyze/cfg.h"

enum { SPREAD_MAKERS = 8, SPREAD_SEVERAL = UINT32_MAX - 2 };

struct makers {
    uint32_t maker[SPREAD_MAKERS + 1]; /* the last SPREAD_SEVERAL, when there are as many */
    uint32_t count;
    uint32_t passed; /* of these, how many went out of the block that they reach */
};
/* False: it was among them, or there are too many already. */
bool makers_add(struct makers *makers, uint32_t maker);

struct spread {
    const struct cfg *cfg;
    bool *stops;            /* by block: what comes in does not go out */
    struct makers *in;      /* by block: what reaches its beginning */
    struct makers anywhere; /* what indirect jumps may take to any block */
    uint32_t *queue;        /* ring of blocks whose `in` has changed and goes out */
    size_t queue_first, queue_count;
    bool *queued, *jumps; /* by block; the latter: it may go on anywhere */
};

/* False: out of memory. spread_free() either way. */
bool spread_new(struct spread *spread, const struct cfg *cfg);
void spread_free(struct spread *spread);

void spread_begin(struct spread *spread);
/* Comes to the beginning of a block; goes out of its end. */
void spread_enter(struct spread *spread, uint32_t block, uint32_t maker);
void spread_leave(struct spread *spread, uint32_t block, uint32_t maker);
void spread_run(struct spread *spread);

/* Whether the block ends in an indirect jump that may lead to unknown targets. */
bool block_jumps_anywhere(const struct cfg *cfg, uint32_t block);
