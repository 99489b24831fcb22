/* What a program whose threads are simulated together would take if one of its causes were gone.
 * Found by study/thread_what_if.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    double interval; /* half of its 95 % interval, where some regions tell it; 0: it is not known */
};

enum { THREAD_WHAT_IFS = 32 };
struct thread_what_ifs {
    struct thread_what_if items[THREAD_WHAT_IFS]; /* the largest saving first */
    size_t count;
    size_t left_out;  /* causes that were not simulated since the run is long */
    bool interrupted; /* some are missing */
};
