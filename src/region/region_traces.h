/* The traces of a list's regions: captures them from one run of the command
 * (trace/region_capture.h) and enters into the list where each is. */
#pragma once

#include "region/regions.h"
#include "trace/region_capture.h"

/* What traces of a list's regions begin with where nothing else is asked for: of
 * "lists/gzip.regions.csv" "gzip", in the current folder; to be freed, NULL: out of memory. */
char *region_traces_prefix(const char *list);

struct region_traces_options {
    struct capture_options capture; /* see region_capture_options */
    const char *prefix;             /* of the paths of traces */
    uint64_t warm_up;               /* instructions; REGION_DEFAULT_WARM_UP */
    uint64_t other_threads;         /* instructions; see region_capture_options */
    bool compress;
    void (*progress)(void *context, const struct region_capture_progress *sofar);
    /* The region of that index is in list->regions[].trace and the columns beside it, and its trace
     * may be read; the command runs on. */
    void (*complete)(void *context, size_t region);
    void *context;
};

struct region_traces {
    struct region_traces_options options;
    struct region_list *list;
    struct capture_region *regions; /* as the list's, one each */
    struct capture_image *images;
    struct capture_process *processes;
    size_t process_count; /* 0: the list does not say where they come from */
    char **paths;         /* PREFIX.rID.ctrace */
    struct region_capture *capture;
};

/* Reads what the list says of regions, and starts the command; regions of other processes than the
 * first mean that those are followed. `exec_status` as in trace_capture(). region_traces_close()
 * either way. */
bool region_traces_start(struct region_traces *traces, struct region_list *list,
                         const struct region_traces_options *options, int *exec_status,
                         struct error *error);
/* Runs the command to its end. True: all regions are captured. What is captured is in the list
 * either way, `trace` relative to the prefix's folder; NULL of all others. */
bool region_traces_run(struct region_traces *traces, struct error *error);
/* Waits for the command; frees everything but the list. */
void region_traces_close(struct region_traces *traces);
