/* Two profiles side by side: what `culprit diff` tells. */
#pragma once

#include "query/host_matrix.h"
#include "query/profile_diff.h"
#include "report/report.h"

struct diff_report {
    struct report report; /* verb, notes and next; the rest is not used */
    struct profile_diff diff;
    const struct host_matrix *matrices; /* of both sides; NULL: hosts are not told apart */
    enum profile_by by;
    size_t top;   /* rows asked for; 0: all */
    size_t count; /* rows shown */
};

/* Finds the changes, and notes what they rest on. False with an error. diff_report_free() either
 * way. */
bool diff_report_build(struct diff_report *report, struct error *error);
void diff_report_free(struct diff_report *report);

/* The command that shows where the time went afterwards, in the file that changed most, to be
 * freed; NULL: nothing changed. `stores`: the sets are of two stores. */
char *diff_next(const struct diff_report *report, bool stores);

void diff_report_text(const struct diff_report *report, const struct page *page);
bool diff_report_json(const struct diff_report *report, FILE *file, struct error *error);
