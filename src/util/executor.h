/* A thread that runs jobs in the order in which they were submitted: how a later stage of the
 * pipeline gets a processor of its own. Signals that the process gets are for other threads; a pipe
 * that nobody reads ends the process as if any thread had written to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

struct executor;

/* NULL with an error when no thread can be had. */
struct executor *executor_new(const char *name, struct error *error);
/* Runs what was submitted, then ends the thread. */
void executor_free(struct executor *executor);

/* Submits job(context, argument); waits while the queue is full. Returns its ticket: 1, 2, 3 ... */
uint64_t executor_submit(struct executor *executor, void (*job)(void *context, uint64_t argument),
                         void *context, uint64_t argument);

/* Waits until the job with this ticket, and so every earlier one, has run. What the jobs wrote is
 * then visible to the caller. */
void executor_wait(struct executor *executor, uint64_t ticket);

/* Whether it has run: what it wrote is then visible to the caller. */
bool executor_has_run(struct executor *executor, uint64_t ticket);
