/* What `culprit validate --host` tells: what a command took on this machine, beside its simulation,
 * and in which procedures the two differ. */
#pragma once

#include "query/matched_profile.h"
#include "report/report.h"
#include "study/host_runs.h"

struct host_report {
    struct report report; /* verb, program, machine, ideal, partial, notes and next alone */
    const struct simulation *simulation;
    const struct host_runs *runs;
    const struct matched_profile
        *matched; /* NULL: there are no samples, runs->unsampled says why */
    uint32_t top; /* rows; 0: all */
};

/* Adds what the figures rest on, and what of the two is not comparable, to the notes. False: out of
 * memory. */
bool host_report_add_worth(struct host_report *report);

void host_report_text(const struct host_report *report, const struct page *page);
bool host_report_json(const struct host_report *report, FILE *file, struct error *error);
