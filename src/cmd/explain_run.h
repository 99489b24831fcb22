/* `explain`: in one pass, or by regions when the run is long; see study/explain.h. */
#ifndef CULPRIT_CMD_EXPLAIN_RUN_H
#define CULPRIT_CMD_EXPLAIN_RUN_H

#include "cmd/run.h"

struct explain_request {
    struct run_request run;
    uint64_t over; /* instructions; longer runs are explained by regions; UINT64_MAX: none is */
    bool rerun;
    uint64_t warm_up; /* instructions before each region */
    uint32_t regions; /* as many, or all slices there are */
    bool enough;      /* no more than these */
};

/* Returns the exit status. */
int run_explain(struct explain_request *request);

#endif
