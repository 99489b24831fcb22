/* When the samples of a set were taken: steps of time of one length, as far as the store tells
 * them apart. */
#pragma once

#include "query/profile_set.h"

enum { TIMELINE_STEPS_MAX = 63 };

struct timeline {
    int64_t begin, step; /* ns since 1970 UTC; ns */
    size_t count;        /* 1 to TIMELINE_STEPS_MAX */
    int64_t first, last; /* of the sessions: the time that they watched */
    double untimed;      /* share of the event's values that are not told apart by time, 0 to 1 */
};

/* At most `most` steps, each of whole slices of the samples. False, with an error: the set's
 * samples of the event are not told apart by time. */
bool timeline_read(struct timeline *timeline, const struct profile_set *set, const char *event,
                   size_t most, struct error *error);

/* Seconds of the step within the time that was watched. */
double timeline_seconds(const struct timeline *timeline, size_t step);

/* The step of a slice; SIZE_MAX: it is of none. */
size_t timeline_step(const struct timeline *timeline, const struct store_slice *slice);
