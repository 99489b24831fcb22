/* Runs made code in a child process, so that whatever it does cannot hurt: it has a stack and data
 * of its own between pages that nobody may touch, a limit of processor time, and no system calls.
 * A fault, a call of the system, an end that does not come are results, one line each. */
#pragma once

#include "host/meter.h"

/* Where the child puts things; all below 2 GiB, away from culprit's own. */
#define HOST_CODE_AT  HOST_KERNELS_AT
#define HOST_STACK_AT UINT64_C(0x1fff0000) /* its end, behind which a guard lies */
#define HOST_DATA_AT  UINT64_C(0x20000000)
#define HOST_END_AT   HOST_KERNELS_END

struct host_child_options {
    double seconds;  /* of processor time, of each kernel with its data; then it is ended */
    bool unfiltered; /* as on a system that cannot filter system calls: code in which one could
                        begin is refused instead */
    struct watcher watcher;
    uint64_t done; /* of earlier calls, for the watcher */
};

/* A kernel that is in place: calls of `run` do its work. */
struct host_placed {
    void (*run)(uint64_t iterations);
    const struct host_kernel *kernel;
};

/* Calls `work` with each kernel in turn, in children, and hands its result back through memory that
 * lies at a place which changes with every start. `work` may allocate nothing and call nothing of
 * the system. Kernels whose results are not HOST_NOT_RUN are passed over. False: no child can be
 * had. */
bool host_child_run(const struct host_kernel *const *kernels, size_t count,
                    const struct host_child_options *options,
                    void (*work)(void *context, const struct host_placed *placed,
                                 struct host_result *result),
                    void *context, struct host_result *results, struct error *error);
