/* Eight numbers at once, in plain GNU C: the compiler takes what registers the function may use,
 * and every machine computes the same, lane by lane. */
#pragma once

#include <stdint.h>

#include "region/projection.h"

typedef float lanes __attribute__((vector_size(4 * PROJECTION_LANES), may_alias, aligned(4)));
typedef int32_t int_lanes __attribute__((vector_size(4 * PROJECTION_LANES), may_alias, aligned(4)));
typedef uint32_t bit_lanes
    __attribute__((vector_size(4 * PROJECTION_LANES), may_alias, aligned(4)));

/* A function in two versions, of which the program takes the better one when it starts. */
#if defined __x86_64__
#define MULTIVERSION __attribute__((target_clones("avx2", "default")))
#else
#define MULTIVERSION
#endif
