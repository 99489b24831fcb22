/* What layouts.c and layouts_one.c share. Only these include this. */
#pragma once

#include <pthread.h>

#include "study/kept_input.h"
#include "study/layouts.h"
#include "study/muted_output.h"
#include "trace/code_placement.h"

enum { WORKERS_MOST = 64 };

/* How an input is run. */
struct road {
    struct capture_options capture;  /* of `explanation` */
    struct muted_output muted;       /* likewise */
    struct explanation *explanation; /* NULL, or one that is repeated by regions */
    bool sampled;                    /* systematically */
    bool told; /* the command has had its standard error in a run under layout 0 */
};

struct pool;
struct worker {
    struct pool *pool;
    pthread_t thread;
    struct watch watch;
    pthread_mutex_t watching;
    _Atomic uint64_t done; /* instructions of the run under way */
};

struct pool {
    struct layouts_run *run;
    struct kept_input kept;
    struct road roads[LAYOUTS_INPUTS];
    struct movable_code programs[LAYOUTS_INPUTS];
    bool moves_code; /* of all inputs, or of none, so that they stay alike */
    struct worker workers[WORKERS_MOST];
    uint32_t worker_count, working;
    pthread_mutex_t lock; /* of what follows, and of run->take() */
    pthread_cond_t ended;
    uint32_t next;     /* run to begin: layout * inputs + input */
    uint64_t finished; /* instructions */
    uint32_t finished_runs;
    bool failed;
    struct error error;
};

/* One run, `number` in the order of layouts, of each the inputs in theirs; what comes of it is
 * taken. On a worker's thread. */
bool layouts_make_run(struct worker *worker, uint32_t number, struct error *error);
