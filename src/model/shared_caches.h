/* Shared caches of several shapes, each profiled by the same misses of the levels before them. */
#ifndef CULPRIT_MODEL_SHARED_CACHES_H
#define CULPRIT_MODEL_SHARED_CACHES_H

#include "model/circular.h"
#include "model/locality.h"

enum { SHARED_CACHES_MISSES = 1024 };
struct shared_miss {
    uint64_t address, time;
};

/* Shared caches of the same sets and lines: one pass with the most ways any of them has. */
struct shared_pass {
    struct circular circular;
    uint32_t footprint; /* the pass that counts the blocks for this one */
};

struct shared_caches {
    struct cache_shape *shapes;
    uint32_t shape_count, pass_count;
    struct shared_pass *passes;
    uint32_t missed_count;
    struct shared_miss missed[SHARED_CACHES_MISSES];
};

/* Errors: a shape that no cache has. shared_caches_free() either way. */
bool shared_caches_new(struct shared_caches *caches, const struct cache_shape *shapes,
                       uint32_t count, struct error *error);
void shared_caches_free(struct shared_caches *caches);

/* What has been missed so far. False: out of memory. */
bool shared_caches_take(struct shared_caches *caches);
/* Access `time` of the thread reaches these caches. False: out of memory. */
static inline bool shared_caches_add(struct shared_caches *caches, uint64_t address,
                                     uint64_t time) {
    caches->missed[caches->missed_count++] = (struct shared_miss){address, time};
    return caches->missed_count < SHARED_CACHES_MISSES || shared_caches_take(caches);
}

/* The run is over, of `run` accesses of the thread: fills in levels [shape_count].
 * False: out of memory. */
bool shared_caches_levels(struct shared_caches *caches, uint64_t run,
                          struct locality_level *levels);

#endif
