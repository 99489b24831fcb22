/* What a command or a trace executes, counted and nothing else: every block, every edge between
 * blocks (execution_counts.h). Memory grows with the code that is executed, not with the run. */
#pragma once

#include "region/execution_counts.h"
#include "trace/notes.h"
#include "trace/trace.h"
#include "util/watcher.h"

struct executions_options {
    const struct capture_options *capture; /* a command to run; without addresses; NULL: a trace */
    const char *trace;                     /* then, the file; "-": standard input */
    struct watcher watcher;
};

struct executions {
    struct profile_code code;
    struct execution_counts counts; /* ended */
    char *command;                  /* as it was typed */
    char **executables;             /* of the processes that were traced, as slots of processes */
    size_t executable_count, executable_capacity;
    uint64_t instructions; /* of all threads */
    uint32_t threads, processes;
    double seconds;
    bool complete; /* the run was seen to its end, or limit */
    struct trace_exit exit;
    struct notes notes;
};

/* False with *exec_status as capture_start(), or 0 when the command did run; what was counted until
 * then stays. executions_free() either way. */
bool executions_count(const struct executions_options *options, struct executions *executions,
                      int *exec_status, struct error *error);
void executions_free(struct executions *executions);
