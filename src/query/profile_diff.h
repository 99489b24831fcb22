/* Two profiles side by side: which rows changed, and by how much more than chance. */
#pragma once

#include "query/call_difference.h"
#include "query/host_matrix.h"
#include "query/profile_set.h"
#include "query/profile_table.h"

/* What of a row is compared. */
enum diff_measure {
    DIFF_SHARE, /* of all values of its set */
    DIFF_COUNT, /* the values: of runs that do the same work */
    DIFF_RATE,  /* values per second of the set: of a machine that runs on */
    DIFF_MEASURES
};
extern const char *const diff_measure_names[DIFF_MEASURES]; /* "share", "count", "rate" */

/* (after × scales[1] − before × scales[0]) over the standard deviation that it has by chance when
 * nothing changed, so that both are counts of one measure, which is estimated from both together:
 * binomial where it is a part of `whole`, Poisson where that is INFINITY. 0 of no samples. */
double diff_sigmas(double before, double after, const double scales[2], double whole);

#define DIFF_NOISE 3.0 /* standard deviations; within it one in 370 rows lies by chance */

struct diff_row {
    const struct profile_row *row;
    double change; /* in the measure */
    double sigmas;
    double
        interval; /* half of the 95 % interval of the change, by how hosts differ; NAN: not known */
};

struct profile_diff {
    const struct profile_set *sets;     /* before, after */
    const struct profile_event *events; /* of each */
    enum diff_measure measure;
    const struct profile_table *table; /* two columns */

    double scales[2];      /* from a value to the measure */
    bool sampled;          /* values are counts of samples, which vary by chance */
    struct diff_row *rows; /* by absolute change, largest first */
    size_t count, beyond;  /* rows; of these beyond noise */
    size_t hosts, paired;  /* that the intervals are of: in all, on both sides; 0: there are none */
    size_t beyond_hosts;   /* rows that changed by more than their interval */
};

/* Hosts of both sides, where both have several and rows are such that these are told apart: how
 * hosts differ says how sure a change is. *read: there are any; they are the caller's, to be freed,
 * also after an error. */
bool profile_diff_read_hosts(const struct profile_diff *diff,
                             const struct profile_table_options *rows, struct program *program,
                             struct host_matrix matrices[2], bool *read, struct error *error);

/* Finds the intervals: `matrices` have each side's hosts. Not where counts are compared. */
void profile_diff_hosts(struct profile_diff *diff, const struct host_matrix matrices[2]);

/* Of sets, events, measure and table. False, with an error, when a set has no values, or no length
 * where the rate is compared. profile_diff_free() either way. */
bool profile_diff_find(struct profile_diff *diff, struct error *error);
void profile_diff_free(struct profile_diff *diff);

/* Who called whom in both, in the measure of a difference that was found; of processes of this name
 * (NULL: all). A set without stacks adds nothing. False: out of memory; call_difference_free()
 * either way. */
bool profile_diff_calls(const struct profile_diff *diff, const char *process,
                        struct program *program, struct call_difference *calls,
                        struct error *error);
