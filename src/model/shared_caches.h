/* Shared caches of several shapes, each profiled by the same misses of the levels before them. */
#pragma once

#include "model/circular.h"
#include "model/locality.h"

/* Misses wait in a bucket by their set until it is full: the stacks of a bucket's sets fit into the
 * processor's own cache, those of all do not. Between buckets misses change places, within a set
 * they do not. */
enum { SHARED_CACHES_BUCKETS = 64, SHARED_CACHES_MISSES = 512 };
struct shared_miss {
    uint64_t address, time;
};
struct shared_bucket {
    uint32_t count;
    struct shared_miss misses[SHARED_CACHES_MISSES];
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
    uint32_t bucket_shift, bucket_mask; /* of an address: bits of the set in each of the caches */
    struct shared_bucket *buckets;      /* [bucket_mask + 1] */
};

/* Errors: a shape that no cache has. shared_caches_free() either way. */
bool shared_caches_new(struct shared_caches *caches, const struct cache_shape *shapes,
                       uint32_t count, struct error *error);
void shared_caches_free(struct shared_caches *caches);

/* What has been missed so far. False: out of memory. */
bool shared_caches_take(struct shared_caches *caches);
/* Likewise, of one bucket. */
bool shared_caches_take_bucket(struct shared_caches *caches, struct shared_bucket *bucket);
/* As circular_follow() and circular_pass(), of all of them; what waits for its bucket may pass
 * later. */
void shared_caches_follow(struct shared_caches *caches, const struct pace *pace);
void shared_caches_pass(struct shared_caches *caches, double cycles);
/* Of what has been taken, accesses, and misses in the first of the shapes. */
void shared_caches_count(const struct shared_caches *caches, uint64_t *accesses, uint64_t *misses);

/* Access `time` of the thread reaches these caches. False: out of memory. */
static inline bool shared_caches_add(struct shared_caches *caches, uint64_t address,
                                     uint64_t time) {
    struct shared_bucket *bucket =
        &caches->buckets[address >> caches->bucket_shift & caches->bucket_mask];
    bucket->misses[bucket->count++] = (struct shared_miss){address, time};
    return bucket->count < SHARED_CACHES_MISSES || shared_caches_take_bucket(caches, bucket);
}

/* The run is over, of `run` accesses of the thread: fills in levels [shape_count].
 * False: out of memory. */
bool shared_caches_levels(struct shared_caches *caches, uint64_t run,
                          struct locality_level *levels);
