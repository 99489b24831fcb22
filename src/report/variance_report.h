/* How much procedures differ between sets of samples: what `culprit variance` tells (DCPI §3.3,
 * Fig. 3). */
#pragma once

#include "query/profile_set.h"
#include "query/variance.h"
#include "report/report.h"

struct variance_report {
    struct report report; /* verb, notes and next; the rest is not used */
    const struct profile_set *sets;
    const struct profile_event *events; /* of each set */
    struct variances variances;
    enum profile_by by;
    size_t top; /* rows shown; 0: all */
};

/* False: out of memory. variance_report_free() either way. */
bool variance_report_build(struct variance_report *report);
void variance_report_free(struct variance_report *report);

/* The command that compares the two sets between which the first row differs most, to be freed;
 * NULL: there are none. `stores`: the first set's store is named; `later_store`: the other's
 * as well, which is another. */
char *variance_next(const struct variance_report *report, bool stores, bool later_store);

void variance_report_text(const struct variance_report *report, const struct page *page);
bool variance_report_json(const struct variance_report *report, FILE *file, struct error *error);
