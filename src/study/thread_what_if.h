/* What a program whose threads are simulated together would take if one of the causes that its
 * report lists were gone: the same trace, simulated again for each; or, of work that is shared out
 * unevenly, reckoned from the course of the threads (simulate/course_balance.h). */
#pragma once

#include "simulate/thread_what_if.h"

struct simulation;
struct region_forks;
struct simulation_options;
struct watch;
struct error;

enum {
    /* Causes are simulated, those that cost most first, until the instructions are so many; so many
     * of them are in any case. */
    THREAD_WHAT_IF_INSTRUCTIONS = 200000000,
    THREAD_WHAT_IF_LEAST = 3,
    THREAD_WHAT_IF_BEGUN = 100000 /* a thread's beginning takes as long as so many: its reader
                                     decodes the code once more */
};

/* Beside a run by so many regions, which is to be simulated with `options`: ideal cores. NULL: no
 * memory. The caller's to free. */
struct region_forks *thread_what_ifs_fork(const struct simulation_options *options, size_t regions);

/* `options`: of the run that made `simulation`, of which nothing was idealised but what still is
 * here. Of a run that was interrupted, and of one thread, it tells nothing. */
bool thread_what_ifs_find(struct watch *watch, const struct simulation_options *options,
                          const struct simulation *simulation, struct thread_what_ifs *result,
                          struct error *error);
