/* The cycles of a critical path that goes over several threads (thread_course.h), by instruction
 * and event: of a second simulation, which is as the one that found the path. An observer of the
 * taps: what ends within a segment belongs to the path. Threads leave the path, and come to it,
 * with empty pipelines. */
#pragma once

#include "simulate/simulate.h"

struct path_profile;
/* Sorts the segments, which outlive it. NULL: out of memory. */
struct path_profile *path_profile_new(struct path_segment *segments, size_t count);
void path_profile_free(struct path_profile *profile);
struct simulation_observer path_profile_observer(struct path_profile *profile);
/* Cycles in units, sorted, as those of a simulation; the caller's. NULL: out of memory. */
struct pics_cell *path_profile_cells(const struct path_profile *profile, uint64_t *count);
