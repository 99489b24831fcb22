/* A trace that is about to be simulated: opened, with its machine and how its threads are
 * simulated. */
#pragma once

#include "machine/choice.h"
#include "study/study.h"
#include "study/together_threads.h"

/* A trace file (or standard input, "-"). NULL: also when it has no memory addresses. */
struct trace *opened_trace(const char *path, struct error *error);

struct opened_trace_request {
    struct watch *watch;
    const struct machine_choice *machines;
    const struct together_request *threads; /* NULL: each is alone */
    const char *file; /* that has all of the trace, for its threads; NULL: no file has, and each is
                         alone */
};
/* Lets a signal interrupt the trace, of which nothing was read, and chooses its machine and, by
 * together_choose(), its threads: options->machine, options->together. The other options are set
 * before. *why: as of together_choose(). */
bool opened_trace_choose(const struct opened_trace_request *request, struct trace *trace,
                         struct simulation_options *options, struct together *together,
                         const char **why, struct error *error);
