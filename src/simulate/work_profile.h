/* A run of several threads in slices of equal work, each a vector of what every thread executed in
 * it (LoopPoint: Sabu et al. 2022): regions of it stand for all.
 *
 * Work is instructions but for those that only wait (work_meter.h). A slice ends where any thread
 * comes back to the head of a loop, outside the C library, once there is enough of it, or anywhere
 * once there is twice as much. What a thread executes in a block counts by itself in the vector, so
 * that slices differ when another thread does the work. */
#pragma once

#include "region/projection.h"
#include "trace/trace.h"

struct work_slice {
    uint64_t before, work_before; /* instructions of the run before it, and work */
    uint64_t instructions, work;
};

struct work_profile_settings {
    uint64_t
        slice; /* of work, at least 1; doubled, with slices merged by two, beyond most_slices */
    uint32_t most_slices;
    uint32_t dimensions;
    uint64_t seed;
};
#define WORK_PROFILE_DEFAULTS                                                                      \
    ((struct work_profile_settings){                                                               \
        .slice = 1000000, .most_slices = 2048, .dimensions = 15, .seed = 1})

struct work_profile;
/* `flags`: of the code's static instructions (work_code()), as long as the profile. NULL: out of
 * memory. */
struct work_profile *work_profile_new(const struct work_profile_settings *settings,
                                      const struct code *code, const uint8_t *flags,
                                      uint32_t threads);
void work_profile_free(struct work_profile *profile);

/* The next instructions of a thread, in the order in which threads take turns. */
bool work_profile_piece(struct work_profile *profile, const struct trace_batch *piece,
                        struct error *error);

/* Ends the last slice. What is handed out is the profile's. */
struct work_slices {
    const struct projection *vectors; /* one each */
    const struct work_slice *slices;
    size_t count;
    uint64_t instructions, work; /* of all */
};
bool work_profile_finish(struct work_profile *profile, struct work_slices *slices,
                         struct error *error);
