/* culprit top --tree, --callers: what of them is not of top's table. */
#pragma once

#include "cmd/profile_run.h"

struct call_options {
    bool tree, callers;
    const char *procedure; /* whose callers; NULL: of those with most samples */
    double least;          /* share */
};
extern const struct option_group calls_group; /* --tree, --callers, --least */

/* The report of a set that was read. */
bool top_calls_report(struct profile_run *run, const struct call_options *options,
                      const struct row_options *rows, struct error *error);
