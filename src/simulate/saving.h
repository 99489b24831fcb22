/* Simulated runs as profiles in the store: cycles of every instruction by performance signature, as
 * an event "cycles" in 1/840 cycles; how often it was executed ("executions"); both with who called
 * whom, where that is known; of cores in order
 * the cycles that it stood at the head of the issue queue ("head"), those of each true cause
 * ("stall:dmiss", stall_cause_key()) and what happened to it (stall_event_name()).
 *
 * A run is one session. One that is put together from parts, such as regions, has a session for
 * each first, in a store of its own, as it was simulated, with the weight that makes it stand for
 * its part of the run, which may change until all are known; saving_finish() adds them up. */
#pragma once

#include "simulate/regions.h"
#include "simulate/simulate.h"
#include "store/store.h"

/* Another event of a run: what a profiler says. */
struct saved_event {
    const char *name;              /* "TIP" */
    uint64_t period;               /* cycles between samples; 1: every cycle */
    const struct pics_cell *cells; /* sorted, as in struct simulation */
    uint64_t cell_count;
};

struct saving {
    struct store *store;           /* of runs */
    struct store *parts;           /* empty at first */
    const char *command, *machine; /* before anything is saved: names of session and processor */
    int64_t *sessions;             /* of the parts, in the order in which they were saved */
    size_t count, capacity;
    int64_t session;                      /* of the run; 0: none yet */
    const struct call_path_result *paths; /* of a run that has parts; NULL: none */
    const struct code *code;              /* likewise */
    bool failed;                          /* nothing more is saved then */
    struct error error;
};

/* What goes wrong is remembered, so that a simulation goes on. `part`: which one ("region 3"), or
 * NULL: it is the whole run. The code is that of the trace simulated. */
void saving_add(struct saving *saving, const char *part, double weight,
                const struct simulation *simulation, const struct code *code,
                const struct saved_event *more, size_t more_count);

/* For struct region_run_options: `context` is the saving. */
void saving_keep_region(void *context, const struct region_trace *region,
                        const struct simulation *simulation, const struct code *code);

/* Gives the index-th that was saved another weight. */
void saving_weigh(struct saving *saving, size_t index, double weight);

/* Takes back the parts that were saved. */
void saving_undo(struct saving *saving);

/* Makes the session of a run that has parts, with the calls of all of it; `simulation` is what they
 * came to together. */
void saving_finish(struct saving *saving, const struct simulation *simulation);
/* Of a run that has parts: what the sum of them is saved with. Both outlive saving_finish(). */
void saving_set_calls(struct saving *saving, const struct call_path_result *paths,
                      const struct code *code);

/* Frees what the struct holds, not the stores. */
void saving_free(struct saving *saving);
