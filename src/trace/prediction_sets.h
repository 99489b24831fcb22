/* Inside of this room: which predictions a chunk of a trace file is coded with
 * (docs/trace-format.md, "Coded events"). Writer and reader hold the same sets: a few that
 * processes share, and one of its own for each thread that is not the first of its process. */
#pragma once

#include "trace/event_code.h"
#include "trace/file_format.h"
#include "util/key_numbers.h"

struct prediction_sets {
    struct process_set {
        struct event_predictor predictor;
        uint32_t process;
        bool used; /* since all were reset */
    } processes[FILE_PREDICTORS];
    struct key_numbers threads;    /* that have, or had, a set */
    struct thread_set **by_thread; /* by number of `threads`; NULL: none */
    size_t capacity;
    uint64_t weight;           /* of all sets of threads but `latest` */
    struct thread_set *latest; /* the one taken last, or NULL: its slots grow while it is used */
};

void prediction_sets_init(struct prediction_sets *sets);
void prediction_sets_free(struct prediction_sets *sets);

/* The set of a chunk; `own`: that of its thread. *fresh: it knows nothing yet, or must be reset.
 * For one chunk. NULL: out of memory. */
struct event_predictor *prediction_sets_take(struct prediction_sets *sets, uint32_t process,
                                             uint32_t thread, bool own, uint32_t block_count,
                                             bool *fresh);
/* Each set must be reset when it is taken next. */
void prediction_sets_expire(struct prediction_sets *sets);
/* The thread has ended. */
void prediction_sets_forget(struct prediction_sets *sets, uint32_t thread);
