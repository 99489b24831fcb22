/* What a program whose threads are simulated together would take if one of the causes that its
 * report lists were gone: the same trace, simulated again for each; or, of work that is shared out
 * unevenly, reckoned from the course of the threads (simulate/course_balance.h). */
#pragma once

#include "simulate/together.h"

struct simulation;
struct simulation_options;
struct watch;
struct error;

enum thread_what_if_kind {
    /* Causes among threads. */
    WHAT_IF_LOCK,    /* nobody waits for the locks that one place takes */
    WHAT_IF_LOCKS,   /* for any */
    WHAT_IF_NO_LOCK, /* nor do locking and unlocking take any time */
    WHAT_IF_PADDING, /* lines of false sharing are laid out by thread */
    WHAT_IF_COPIES,  /* each thread has lines of true sharing for itself */
    WHAT_IF_BARRIER, /* work before barriers is shared out evenly */
    WHAT_IF_EVENT,   /* and that which threads wait for otherwise */
    WHAT_IF_SERIAL,  /* parts with few threads are spread over all cores */
    WHAT_IF_BANDWIDTH,
    WHAT_IF_THREADS, /* all of those above that are simulated and save something, at once */
    /* Of each core. */
    WHAT_IF_IDEAL
};

struct thread_what_if {
    uint8_t kind;    /* enum thread_what_if_kind */
    bool reckoned;   /* not simulated */
    uint32_t ideal;  /* WHAT_IF_IDEAL: number of it */
    uint32_t waiter; /* WHAT_IF_LOCK: static instruction, as in struct together_wait */
    size_t count;    /* of locks, of lines */
    double saved;    /* of the elapsed cycles, from 1 on down; below 0: it takes longer */
};

enum {
    THREAD_WHAT_IFS = 32,
    /* Causes are simulated, those that cost most first, until the instructions are so many; so many
     * of them are in any case. */
    THREAD_WHAT_IF_INSTRUCTIONS = 200000000,
    THREAD_WHAT_IF_LEAST = 3,
    THREAD_WHAT_IF_BEGUN = 100000 /* a thread's beginning takes as long as so many: its reader
                                     decodes the code once more */
};

struct thread_what_ifs {
    struct thread_what_if items[THREAD_WHAT_IFS]; /* causes among threads before those of each core;
                                                     of both the largest saving first */
    size_t count;
    size_t left_out;  /* causes that were not simulated since the run is long */
    bool interrupted; /* some are missing */
};

/* `options`: of the run that made `simulation`, of which nothing was idealised but what still is
 * here. Of a run that was interrupted, and of one thread, it tells nothing. */
bool thread_what_ifs_find(struct watch *watch, const struct simulation_options *options,
                          const struct simulation *simulation, struct thread_what_ifs *result,
                          struct error *error);
