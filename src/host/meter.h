/* What measures kernels: this processor (native.h) or a simulated one (calibrate/simulated.h). */
#pragma once

#include "host/kernel.h"
#include "util/watcher.h"

enum host_state {
    HOST_NOT_RUN,     /* the end came before */
    HOST_MEASURED,    /* `cycles` holds */
    HOST_UNSTABLE,    /* measured, but disturbed so often that `cycles` may be wrong */
    HOST_UNSUPPORTED, /* `failure` names what the processor lacks */
    HOST_FAILED       /* `failure` says what the code did: a fault, no end, a system call */
};
struct host_result {
    enum host_state state;
    double cycles; /* of one iteration */
    double spread; /* ± cycles: the interval that holds the median of many repetitions with 95 %
                      probability; 0 of a simulated machine */
    bool faulted;  /* failed: at this address */
    uint64_t fault;
    char failure[120];
};

struct host_retention;

struct host_meter {
    /* Measures kernels in turn. False: none can be, or memory is out; what single kernels do is in
     * their results. After a stop the rest is HOST_NOT_RUN. */
    bool (*measure)(struct host_meter *meter, const struct host_kernel *const *kernels,
                    size_t count, struct host_result *results, struct error *error);
    /* Likewise of lines that another processor has, by enum host_line (host/lines.h). NULL: it has
     * no other. */
    bool (*measure_lines)(struct host_meter *meter, struct host_result *results,
                          struct error *error);
    /* And of waking a thread, by enum host_wake (host/wakes.h), in nanoseconds. NULL: there is no
     * kernel. */
    bool (*measure_wakes)(struct host_meter *meter, struct host_result *results,
                          struct error *error);
    /* And of how long the last cache keeps lines (host/retention.h). NULL: nobody else uses it. */
    bool (*measure_retention)(struct host_meter *meter, struct host_retention *retention,
                              struct error *error);
    uint32_t features; /* that the processor has (enum host_feature) */
    bool simulated;
    bool quick;             /* fewer repetitions */
    struct watcher watcher; /* told kernels that are done, of all calls */
    uint64_t done;
};

/* The kernels that cannot be measured at all get their results; true: it is none of them. */
bool host_meter_admits(const struct host_meter *meter, const struct host_kernel *kernel,
                       struct host_result *result);
