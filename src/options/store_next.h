/* The next useful command after verbs that read the store: another of them, with the options that
 * chose the store, the epochs and the samples. Each is quoted for a shell, and to be freed; NULL:
 * there is nothing to suggest, or no memory. */
#pragma once

#include "options/sample_options.h"
#include "options/store_options.h"
#include "report/call_report.h"
#include "report/fleet_report.h"
#include "report/profile_report.h"

/* After `top`: where the first row leads. */
char *store_next_of_rows(const struct profile_report *report, const struct store_options *store,
                         const struct sample_options *samples);
/* After a tree, the callers of what takes most; after callers, the whole tree. */
char *store_next_of_calls(const struct call_report *report, bool tree,
                          const struct store_options *store, const struct sample_options *samples);
/* The first host that stands apart. */
char *store_next_of_outliers(const struct fleet_report *report, const struct store_options *store);
/* The host in which the first row has most. */
char *store_next_of_spread(const struct fleet_report *report, const struct store_options *store);
