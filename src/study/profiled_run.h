/* A command that is run once and kept in a file, from which it is simulated later, in full or by
 * regions, while its slices are profiled (region/chunk_profile.h). Or a trace file that is read. */
#pragma once

#include "region/chunk_profile.h"
#include "study/input.h"

/* Longer runs are not kept: some 3 GB. */
#define PROFILED_RUN_KEPT UINT64_C(10000000000)

struct profiled_run {
    /* Set before. */
    struct watch *watch;
    const struct input_options *input;
    const char *file; /* where a command's run is kept, and stays; NULL: in a temporary one */

    struct trace *trace; /* read to its end */
    struct chunk_profile *profile;
    uint64_t instructions; /* of all threads */
    const char *path;      /* the file of all of the run; NULL: it could not be kept */
    char *kept;            /* likewise, where it is temporary */
    const char *obstacle;  /* why regions of it cannot be found in another run; NULL: nothing */
};

/* *exec_status as of trace_capture(). An interrupt is an error. profiled_run_free() either way. */
bool profiled_run_go(struct profiled_run *run, int *exec_status, struct error *error);
void profiled_run_free(struct profiled_run *run);
