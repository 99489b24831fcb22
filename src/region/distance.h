/* The squared distance of two points, in one order of additions everywhere. */
#pragma once

#include "region/lanes.h"

#define MOST(a, b)  ((a) > (b) ? (a) : (b))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

/* `stride` floats each, a multiple of PROJECTION_LANES. */
static inline __attribute__((always_inline)) float distance2(const float *a, const float *b,
                                                             uint32_t stride) {
    lanes sum = {0};
    for (uint32_t i = 0; i < stride; i += PROJECTION_LANES) {
        lanes difference = *(const lanes *)(a + i) - *(const lanes *)(b + i);
        sum += difference * difference;
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}
