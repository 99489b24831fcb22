/* `culprit trace`: what its lives share, a trace and one of each region of a list. */
#pragma once

#include "cmd/verb.h"
#include "region/region_traces.h"
#include "study/captured_file.h"

enum trace_format { TRACE_BY_ENDING, TRACE_CTRACE, TRACE_CHAMPSIM };

struct trace_job {
    struct verb_run verb;
    struct input_options input;
    const char
        *output; /* the trace; of regions what all names begin with; NULL: a name by default */
    const char *info, *regions, *import;
    unsigned format; /* enum trace_format */
    bool champsim;   /* what trace_makes_champsim() says */
    bool compress, no_addresses, no_check, check, warms_up, with_others;
    uint64_t warm_up;       /* instructions */
    uint64_t other_threads; /* times the region's own */

    char name[NAME_MAX + 1]; /* room for the default path */
    const char *path;
    struct captured_file file;
    bool checked; /* --info: with success */

    /* --regions */
    char *prefix, *list_path;
    struct output list_file;
    struct region_list list;
    struct region_traces traces;
};

extern const struct command_line trace_line;
extern const struct verb trace_regions;

/* By --format, or by the ending of the file. */
bool trace_makes_champsim(const struct trace_job *job);
