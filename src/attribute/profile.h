/* Inside of this room: a group of profiles, to which its lanes add samples. A lane is one core.
 *
 * With a period given, a sample's weight is known when it is taken, and the sample goes into the
 * profiles at once. With a number of samples asked for, samples are kept in a log until the end,
 * because half of them are dropped whenever there are twice too many. */
#pragma once

#include <stddef.h>

#include "attribute/cell_sets.h"
#include "attribute/profiler.h"

struct profile {
    struct profile_options options;
    struct pics *pics;
    uint64_t samples, lost; /* lost: cycles */
};

/* A row for each sample: its cycle, and for each profile what it names. */
struct sample_log {
    uint64_t *cycles;
    uint32_t *named; /* count × profiles, numbers of sets; NO_CELL_SET: nothing (so far) */
    size_t count, cycle_capacity, named_capacity;
    struct cell_sets sets;
};

struct profile_group {
    struct sampler sampler;
    struct sample_log log;
    bool short_of_memory; /* when a lane was freed */

    struct profile_lane *lanes; /* those not freed */
    /* `periods`: whole periods that all cores have run for. `gone`: the cycles of each core whose
     * lane was freed, unless they are less than a period. */
    uint64_t periods;
    uint64_t *gone;
    size_t gone_count, gone_capacity;

    uint32_t count;
    struct profile profiles[];
};

/* A µop that was sampled and has not committed yet. */
struct pending_sample {
    uint64_t sequence;
    /* With a period given: the weight, of so many samples. Else the row of one sample in the
     * log. */
    uint64_t value, samples;
    uint32_t first, end; /* the profiles that wait for it */
};

struct profile_lane {
    struct profile_group *group;
    struct profile_lane *next, **link; /* of the group's lanes */
    struct sample_cursor cursor;
    uint64_t seen;                  /* all samples up to this cycle have been taken */
    uint64_t end;                   /* cycle of the last commit or flush so far */
    uint64_t cycles;                /* that the lane has seen */
    struct pending_sample *pending; /* with rows of the log: in their order */
    size_t pending_count, pending_capacity;
    uint64_t uops[COMMIT_GROUP_MAX];
    uint32_t named[]; /* by profile: what the cycles being looked at name */
};

static inline bool group_logs(const struct profile_group *group) {
    return group->sampler.options.period == 0;
}

/* Adds samples that weigh so many cycles together and name n µops. False: out of memory. */
bool profile_add(struct profile *profile, uint64_t cycles, uint64_t samples, const uint64_t *uops,
                 unsigned n);

/* Appends a row; NULL: it names nothing so far. False: out of memory. */
bool group_log(struct profile_group *group, uint64_t cycle, const uint32_t *named);

/* The lane has seen `cycles` more: doubles the period if there are too many samples. False: out of
 * memory. */
bool group_advance(struct profile_lane *lane, uint64_t cycles);
