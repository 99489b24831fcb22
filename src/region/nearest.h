/* The two nearest centroids of some points at once, a point in each lane. */
#pragma once

#include <stdint.h>

enum { NEAREST_MAX_LANES = 16 };

/* For how many points: what this processor does best. */
uint32_t nearest_lanes(void);

struct nearest_query {
    const float *points; /* [dimension][lane] */
    const float *centroids;
    uint32_t count, stride, dimensions; /* of the centroids: count at least 1, [count][stride] */
};

struct nearest {
    int32_t labels[NEAREST_MAX_LANES]; /* of those as near, the first */
    float nearest2[NEAREST_MAX_LANES]; /* squared distance to it */
    float other2[NEAREST_MAX_LANES];   /* and to the nearest other; FLT_MAX: there is none */
};

/* `lanes` as nearest_lanes() says; each lane is computed alike, whatever their number. */
void nearest_search(const struct nearest_query *query, uint32_t lanes, struct nearest *found);
