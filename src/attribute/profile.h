/* Inside of a profile: what its lanes add samples to.
 *
 * With a period given, a sample's weight is known when it is taken, and it goes into the profile at
 * once. With a number of samples asked for, samples are kept in a log until the end, because half
 * of them go whenever there are twice too many. */
#ifndef CULPRIT_ATTRIBUTE_PROFILE_H
#define CULPRIT_ATTRIBUTE_PROFILE_H

#include <stddef.h>

#include "attribute/profiler.h"

struct profile {
    struct profile_options options;
    struct sampler sampler;
    struct pics *pics;
    uint64_t samples, lost; /* lost: cycles */

    bool short_of_memory; /* when a lane was freed */

    /* A sample: its cycle and, in the low byte, the number of µops (0: it is lost); then those,
     * tap_uop words. */
    uint64_t *log;
    size_t log_used, log_capacity;

    struct profile_lane *lanes; /* those not freed */
    /* Whole periods that all cores have run for; of a core that is gone its cycles, unless they are
     * less than a period. */
    uint64_t periods;
    uint64_t *gone;
    size_t gone_count, gone_capacity;
};

/* A µop that was sampled and has to commit yet. */
struct pending_sample {
    uint64_t sequence;
    /* Given a period: the weight of so many samples. Else the cycle of one. */
    uint64_t value, samples;
};

struct profile_lane {
    struct profile *profile;
    struct profile_lane *next, **link; /* of the profile's lanes */
    struct sample_cursor cursor;
    uint64_t seen;   /* all samples up to this cycle have been taken */
    uint64_t end;    /* cycle of the last commit or flush so far */
    uint64_t cycles; /* that the lane was shown */
    struct pending_sample *pending;
    size_t pending_count, pending_capacity;
    uint64_t uops[COMMIT_GROUP_MAX];
};

static inline bool profile_logs(const struct profile *profile) {
    return profile->options.sampling.period == 0;
}

/* Samples of that value (see struct pending_sample) that name n µops. False: out of memory. */
bool profile_add(struct profile *profile, uint64_t value, uint64_t samples, const uint64_t *uops,
                 unsigned n);

/* The lane has been shown `cycles` more: doubles the period if there are too many samples. */
void profile_advance(struct profile_lane *lane, uint64_t cycles);

#endif
