/* An L1D that a thread shares: with each of its accesses, so many blocks of other threads come into
 * sets chosen as if at random. The blocks that the thread loses that way are looked for in the
 * shared caches more often, and have grown older there. Beyond Chen 2009, whose L2 profiles lie
 * behind an L1 that the thread has for itself. */
#pragma once

#include "model/shared_caches.h"

struct crowded_l1 {
    double foreign;     /* blocks of others per access of the thread */
    uint64_t step, due; /* the same, and what has not come yet, in 2^-32 blocks */
    uint64_t random;
    uint32_t ways, line_shift;
    uint64_t set_mask;
    uint64_t *blocks; /* [sets][ways], latest first: 1 + the number of the thread's own block; 0:
                         none of the thread's */
    struct shared_caches shared; /* behind it */
};

/* `foreign` > 0. Errors as shared_caches_new(). crowded_l1_free() either way. */
bool crowded_l1_new(struct crowded_l1 *l1, struct cache_shape shape, double foreign,
                    const struct locality_options *options, struct error *error);
void crowded_l1_free(struct crowded_l1 *l1);

/* Access `time` of the thread. False: out of memory. */
bool crowded_l1_add(struct crowded_l1 *l1, uint64_t address, uint64_t time);
