/* Rows of profiles over time: column 0 of the table has the whole, column 1 + i the step i of the
 * timeline. */
#pragma once

#include <string.h>

#include "report/profile_report.h"

/* What a value of one second is as a rate: processors that are busy, threads that wait, or events
 * per second. */
struct over_time_rate {
    double factor;
    const char *unit; /* "cpu", "waiting", "/s" */
};
struct over_time_rate over_time_rate(const struct profile_report *report);
/* "14:05:30" in UTC, where so many steps have gone; with tenths where steps are of less. */
void over_time_clock(const struct timeline *timeline, double step, char *text, size_t size);

void over_time_text(const struct profile_report *report, const struct page *page);
/* Areas above one another, the rows with most at the bottom. */
void over_time_svg(const struct profile_report *report, FILE *file);
/* "timeline" of the JSON object, and "over_time" of a row. */
json_t *timeline_json(const struct timeline *timeline);
json_t *over_time_json(const struct timeline *timeline, const double *values);
