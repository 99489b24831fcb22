/* Slices as points of few dimensions: each vector divided by its sum, then projected linearly by a
 * matrix of independent numbers between −1 and 1 (PinPoints §2.1; 15 dimensions are SimPoint's
 * choice). Distances between slices are kept in proportion, nearly; of a slice only its point and
 * its length stay in memory, 72 bytes at 15 dimensions, however many blocks it had. */
#pragma once

#include "region/bbv.h"

enum { PROJECTION_MAX_DIMENSIONS = 1024, PROJECTION_LANES = 8 };

struct projection {
    uint32_t dimensions;
    uint32_t stride; /* floats from one point to the next: a multiple of PROJECTION_LANES */
    uint64_t seed;
    size_t count;           /* points */
    float *coordinates;     /* from −1 to 1; 0 behind the last dimension */
    uint64_t *instructions; /* of each slice, at least 1 */
    size_t coordinate_capacity, instruction_capacity;
};

/* Dimensions 1 to PROJECTION_MAX_DIMENSIONS. The same seed gives the same matrix on every machine:
 * a row depends on the block's id alone, not on what other blocks there are. */
void projection_init(struct projection *projection, uint32_t dimensions, uint64_t seed);
/* Adds slice `slice` of the set. */
bool projection_add(struct projection *projection, const struct bbv_set *set, size_t slice,
                    struct error *error);
/* Adds the slices of a file. */
bool projection_read(struct projection *projection, const char *path, struct error *error);
/* Slice `to` becomes the sum of the `count` slices from `from` on; to ≤ from. The caller
 * shortens `count` of the projection when all are where they belong. */
void projection_merge(struct projection *projection, size_t to, size_t from, size_t count);
void projection_free(struct projection *projection);
