/* A command measured on this very machine: run several times and timed, and as many times again
 * with samples, which cost time themselves. Its output goes nowhere. */
#pragma once

#include "host/neighbour.h"
#include "study/kept_input.h"
#include "study/record.h"

enum { HOST_RUNS_MOST = 100 };

struct host_runs_request {
    struct watch *watch;
    char **command;
    const struct kept_input *input; /* that each run reads */
    uint32_t runs;                  /* of each kind, 1 to HOST_RUNS_MOST */
    const char *store;              /* for samples */
};

/* Processor time of the command and the children that it waited for. */
struct host_run {
    double user, system; /* seconds */
    double clock;        /* cycles per second of dependent adds: host_runs_conclude() */
    double cycles;       /* user × clock */
    /* At 95 %. The sum of both times is exact, but how much of it is the user's the kernel tells by
     * whom a tick finds: so many ticks, so many tries. */
    double cycles_low, cycles_high;
    uint64_t faults; /* pages */
};

struct host_runs {
    struct host_run runs[HOST_RUNS_MOST];
    double tick;             /* seconds; 0: both times are exact */
    uint32_t wanted;         /* of each kind */
    uint32_t count, sampled; /* timed, and with samples; an interrupt leaves fewer */
    uint32_t least;          /* the timed one of the fewest cycles */
    int64_t sessions[HOST_RUNS_MOST];
    size_t session_count;            /* with that of a run which was interrupted; 0: no samples */
    struct live_event event;         /* that was sampled */
    char unsampled[400];             /* why not; empty: all is well */
    int status;                      /* of the last run, as of waitpid() */
    struct host_neighbour neighbour; /* looked for before the first timed run and after each */
};

/* What follows from the clock as it was read before the first run and after each, runs->count + 1
 * readings: of the readings before and after a run, and the median of all, the middle one is that
 * run's clock. One that was misread is never it; a clock that did change is. */
void host_runs_conclude(struct host_runs *runs, const double *readings);

/* *exec_status as of record_run(). An interrupt between runs is no error: fewer are made, but
 * none at all is. What cannot be sampled is told in `unsampled`. */
bool host_runs_go(struct host_runs *runs, const struct host_runs_request *request, int *exec_status,
                  struct error *error);
void host_runs_free(struct host_runs *runs);
