/* culprit trace --regions: the regions of a list from one run of the command, each into a trace. */
#ifndef CULPRIT_CMD_TRACE_REGIONS_H
#define CULPRIT_CMD_TRACE_REGIONS_H

#include "trace/trace.h"

struct trace_regions_request {
    const char *list;       /* file */
    const char *prefix;     /* of the files that are written; NULL: the list's name */
    uint64_t warm_up;       /* instructions */
    uint64_t other_threads; /* times the region's own */
    bool compress, json;
    struct capture_options capture;
};

/* Prints what it did; returns the exit status. */
int trace_regions(const struct trace_regions_request *request);

#endif
