/* Formats of other tools in which a run is told as a whole: its counters, its course in time. A
 * profile in the store has neither (exchange/exchange.h has the formats of profiles). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

struct kanata;

/* What there is of a run. */
struct run_record {
    const struct report *report;
    struct kanata *pipeline; /* a window of the pipeline (kanata.h); NULL: none */
};

struct run_format {
    const char *name;
    const char *viewer; /* a command that shows a file, which it takes last */
    const char *ending; /* of files' names that are of this format */
    bool spans;         /* what threads do when is to be told */
    bool (*write)(const struct run_record *run, FILE *file, struct error *error);
};

/* "gem5-stats ..." */
#define RUN_FORMAT_NAMES "gem5-stats, chrome-trace"
/* NULL: none has this name; none is for a file of this name. */
const struct run_format *run_format_find(const char *name);
const struct run_format *run_format_of_file(const char *path);

/* The statistics of gem5, a name and its value a line (gem5_stats.c). */
bool gem5_stats_write(const struct run_record *run, FILE *file, struct error *error);
/* The course of the run as Trace Event Format (trace_events.c). */
bool trace_events_write(const struct run_record *run, FILE *file, struct error *error);
