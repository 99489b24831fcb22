/* Which events are columns of the table of `culprit top`, and the table filled with them. */
#pragma once

#include "report/profile_report.h"

/* Those that were asked for; without names all, of a simulation what profilers say of its cycles.
 * The report's set is known. False with an error: an event that the set has not, or twice. */
bool profile_report_choose(struct profile_report *report, const char *const *names, size_t count,
                           struct error *error);
/* Of the events of the report, or its one event over time; the `top` rows that have most are kept
 * (0: all). False with an error, also when there are no rows. */
bool profile_report_fill(const struct profile_report *report, struct profile_table *table,
                         uint32_t top, struct error *error);
