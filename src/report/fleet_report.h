/* What is told of the hosts of a fleet: which of them stand apart (`culprit top --outliers`), and
 * which rows differ between them (`culprit variance --hosts`). */
#pragma once

#include "query/host_spread.h"
#include "report/report.h"

struct fleet_report {
    struct report report; /* verb, notes and next; the rest is not used */
    const struct profile_set *set;
    const struct profile_event *event;
    enum profile_by by;
    const char *image; /* shares are of what it has alone; NULL: of all */
    size_t top;        /* rows shown; 0: all */
    struct host_matrix matrix;
    struct outliers outliers;
    struct host_spread spread;
};

/* Of set, event, by, image and top, and of processes of this name (NULL: all). False with an error;
 * fleet_report_free() either way. */
bool fleet_report_outliers(struct fleet_report *report, const char *process,
                           struct program *program, struct error *error);
bool fleet_report_spread(struct fleet_report *report, const char *process, struct program *program,
                         struct error *error);
void fleet_report_free(struct fleet_report *report);

void outliers_text(const struct fleet_report *report, const struct page *page);
bool outliers_json(const struct fleet_report *report, FILE *file, struct error *error);
void host_spread_text(const struct fleet_report *report, const struct page *page);
bool host_spread_json(const struct fleet_report *report, FILE *file, struct error *error);
