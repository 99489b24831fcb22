/* What of a run is kept, so that a later one can be compared with it: its costliest functions and
 * lines, and the sums of all others (compared_run.h).
 *
 *     instructions of a run ──► functions, lines ──► those above the limits, and rests ──► a run
 *
 * A rest says how much the costliest of what it sums up had: what a later run has beyond that, and
 * this one lacks, is more than there was. */
#pragma once

#include "query/compared_run.h"

struct compared_limits {
    size_t functions, lines, kinds; /* at most; of `kinds` functions it is told what they are made
                                       of, by which renamed ones are found */
    double function_share, line_share, kinds_share; /* at least, of all cycles */
};

/* `summary` is all zero, and compared_run_free()'s either way; `run` is sorted. */
bool compared_summary_make(struct compared_run *run, const struct compared_limits *limits,
                           struct compared_run *summary, struct error *error);

/* The function without an image that sums up those that are not kept. */
extern const char COMPARED_OTHERS[];
