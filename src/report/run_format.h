/* Formats of other tools in which a run is told as a whole: its counters, its course in time. A
 * profile in the store has neither (exchange/exchange.h has the formats of profiles). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

struct run_format {
    const char *name;
    const char *viewer; /* a command that shows a file, which it takes last */
    const char *ending; /* of files' names that are of this format */
    bool (*write)(const struct report *report, FILE *file, struct error *error);
};

/* "gem5-stats ..." */
#define RUN_FORMAT_NAMES "gem5-stats"
/* NULL: none has this name; none is for a file of this name. */
const struct run_format *run_format_find(const char *name);
const struct run_format *run_format_of_file(const char *path);

/* The statistics of gem5, a name and its value a line (gem5_stats.c). */
bool gem5_stats_write(const struct report *report, FILE *file, struct error *error);
