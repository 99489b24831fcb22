/* What an event is called, and what perf_event_open() is told for it. */
#pragma once

#include <stdio.h>

#include "live/proc_files.h"

/* One event of a list ("dtlbmiss", "page-faults", "sched:sched_switch", "r01c2", "raw:0x1c2",
 * "cpu/event=0xc2,umask=0x1/", each with "/period=N/" if need be), of `length` bytes: fills in all
 * but what the machine has to be asked for (period unless it is given, precise, kernel). What
 * counters there are, and which tracepoints, is read in `roots`. False, with one line that names
 * the event. */
bool event_name_parse(const struct live_roots *roots, const char *text, size_t length,
                      struct live_event *event, struct error *error);

/* Bytes up to the comma that ends the first event of a list, or to its end. */
size_t event_name_length(const char *list);

/* The events that have names, by number; false: no more. */
struct event_row {
    struct live_event event;
    const char *other_name; /* perf's or DCPI's; NULL: none */
    const char *meaning;
};
bool event_name_row(size_t number, struct event_row *row);

/* How many tracepoints there are; 0: none that we may read. */
size_t event_name_tracepoints(const struct live_roots *roots);
