/* The columns of `culprit top`: events, or steps of time, and the table that has them. */
#pragma once

#include "query/timeline.h"
#include "report/profile_report.h"

struct profile_columns {
    const char *const *events;   /* by name */
    size_t event_count;          /* 0: all, of a simulation what profilers say of its cycles */
    const char *process, *image; /* only these; NULL: all */
    uint32_t top;                /* rows that have most; 0: all */
    bool over_time;              /* of the first event alone */
    unsigned page_columns;       /* steps are as many as have room on it; 0: as many as may be */
};
/* The report's set, `by` and program are known. `table`, which is the caller's to free, and
 * `timeline` are what the report then refers to. False with an error: an event that the set has
 * not, or twice; no rows. */
bool profile_report_build(struct profile_report *report, const struct profile_columns *columns,
                          struct timeline *timeline, struct profile_table **table,
                          struct error *error);
