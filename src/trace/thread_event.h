/* What a guest thread did with other threads, or waited for, in a system call. The order of what
 * threads do to each other follows from these events.
 *
 * Only processes that have, or had, more than one thread have events. Each system call has at most
 * one. Times are those of the captured run, under the emulator: real (wall clock) nanoseconds.
 *
 * Tickets are numbers of one order over all threads of the trace: of two tickets the lower was
 * taken earlier. `entry` was taken before the kernel began the call, `exit` after it was done. So
 * what one call did to another, like a wake that released a wait, happened while both lasted:
 * entry of each < exit of the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum thread_event_kind {
    THREAD_EVENT_CREATE, /* made the thread `other` (clone). `exit` was taken before that executed
                            its first instruction */
    THREAD_EVENT_EXIT,   /* ends; then the kernel (CLONE_CHILD_CLEARTID, set_tid_address) clears the
                            word at `address` and wakes all waiters there, which is how pthread_join()
                            waits; 0: there is none. exit == THREAD_EVENT_NO_TICKET */
    THREAD_EVENT_EXIT_PROCESS, /* ends the process with all of its threads; exit == entry */
    THREAD_EVENT_WAIT,         /* futex: waits at `address`, see thread_event_futex */
    THREAD_EVENT_WAKE,         /* futex: wakes waiters, or moves them to another address */
    THREAD_EVENT_BLOCK,        /* another system call that waited: `cause` tells for what. Sleeps
                                  always (thread_event_slept()); others that took
                                  THREAD_EVENT_LEAST_NS or longer */
    THREAD_EVENT_YIELD,        /* sched_yield() */
    THREAD_EVENT_KINDS
};

/* What a THREAD_EVENT_BLOCK waited for. */
enum thread_event_cause {
    THREAD_CAUSE_NONE,   /* of the other kinds */
    THREAD_CAUSE_TIME,   /* sleeps: nanosleep, clock_nanosleep */
    THREAD_CAUSE_INPUT,  /* read, recv, accept ... */
    THREAD_CAUSE_OUTPUT, /* write, send, connect, fsync ... */
    THREAD_CAUSE_EVENT,  /* any of several: poll, select, epoll_wait; result 0: its time ran out */
    THREAD_CAUSE_CHILD,  /* another process: wait4, waitid */
    THREAD_CAUSE_SIGNAL, /* pause, sigsuspend, sigtimedwait */
    THREAD_CAUSE_LOCK,   /* of a file, a System V semaphore or message queue */
    THREAD_CAUSES
};

/* Futex operations, as Linux numbers them (futex(2)), without FUTEX_PRIVATE_FLAG and
 * FUTEX_CLOCK_REALTIME. */
enum thread_event_futex {
    FUTEX_OP_WAIT = 0,        /* if the word at `address` is `value` */
    FUTEX_OP_WAKE = 1,        /* at most `value` waiters at `address`; result: how many */
    FUTEX_OP_REQUEUE = 3,     /* wakes at most `value` at `address` and moves at most `value2` to
                                 `address2`; result: how many of both */
    FUTEX_OP_CMP_REQUEUE = 4, /* the same, if the word is still what was expected */
    FUTEX_OP_WAKE_OP = 5,     /* at most `value` at `address` and, if a condition holds, at most
                                 `value2` at `address2`; result: how many in all */
    FUTEX_OP_LOCK_PI = 6,     /* a wait: acquires the lock at `address` */
    FUTEX_OP_UNLOCK_PI = 7,   /* a wake: hands the lock to a waiter; result 0, whether there was one
                                 or not */
    FUTEX_OP_TRYLOCK_PI = 8,  /* no event */
    FUTEX_OP_WAIT_BITSET = 9, /* as a wait, for wakes that share a bit of `bitset` */
    FUTEX_OP_WAKE_BITSET = 10,     /* as a wake, of waits that share a bit of `bitset` */
    FUTEX_OP_WAIT_REQUEUE_PI = 11, /* a wait at `address` that ends when it was moved to `address2`
                                      and has acquired the lock there */
    FUTEX_OP_CMP_REQUEUE_PI = 12,  /* as CMP_REQUEUE, to a lock */
    FUTEX_OP_LOCK_PI2 = 13         /* as LOCK_PI; its time limit counts by another clock */
};

enum thread_event_flags {
    THREAD_EVENT_SHARED = 1 << 0 /* futex: may be shared with other processes, at other addresses */
};

enum { THREAD_EVENT_LEAST_NS = 100000 };

/* No thread; not known, but later than any; no time limit. */
#define THREAD_EVENT_NO_THREAD UINT32_MAX
#define THREAD_EVENT_NO_TICKET UINT64_MAX
#define THREAD_EVENT_FOREVER   UINT64_MAX

struct thread_event {
    uint64_t position;    /* instructions of its thread up to and including the system call: the
                             sequence number, within the thread, of the instruction behind it */
    uint64_t entry, exit; /* tickets */
    uint64_t address, address2; /* of the guest; futexes and THREAD_EVENT_EXIT. Of a call whose
                                   writer is told: thread_event_writer() */
    uint64_t duration_ns;       /* from entry to return, by the wall clock */
    uint64_t asked_ns; /* what is the longest that it was to wait: of sleeps the time asked for, of
                          other waits their time limit (an absolute one less the time at entry), or
                          THREAD_EVENT_FOREVER */
    int64_t result;  /* of the system call, as the kernel returns it: errors are −errno. −512: a
                        signal interrupted it, and it was made again behind the handler, as another
                        event */
    uint32_t number; /* of this event among all of its thread, from 0 */
    uint32_t thread, process; /* as of a struct trace_batch */
    uint32_t other;           /* THREAD_EVENT_CREATE; UINT32_MAX: a thread that is not captured */
    uint32_t call;            /* the system call's number, by the guest's instruction set */
    uint32_t value, value2;   /* futexes: see thread_event_futex; as address2 */
    uint32_t bitset;          /* UINT32_MAX: any */
    uint8_t kind;             /* enum thread_event_kind */
    uint8_t cause;            /* enum thread_event_cause */
    uint8_t operation;        /* enum thread_event_futex */
    uint8_t flags;            /* enum thread_event_flags */
    uint32_t reserved;
};

/* What a futex gives when its time limit has run out: -ETIMEDOUT, on each instruction set. */
enum { THREAD_EVENT_TIMED_OUT = -110 };
/* And when the word had another value already: -EAGAIN. */
enum { THREAD_EVENT_TOO_LATE = -11 };
static inline bool thread_event_waited_in_vain(const struct thread_event *event) {
    return event->kind == THREAD_EVENT_WAIT && event->result == THREAD_EVENT_TIMED_OUT &&
           event->asked_ns != THREAD_EVENT_FOREVER;
}
/* The thread slept for all of the time that it had asked for: in a call that does nothing else, or
 * in one that waits for events, of which there was none. One with a limit of 0 has only looked. */
static inline bool thread_event_slept(const struct thread_event *event) {
    return event->kind == THREAD_EVENT_BLOCK && event->asked_ns != THREAD_EVENT_FOREVER &&
           event->result == 0 &&
           (event->cause == THREAD_CAUSE_TIME ||
            (event->cause == THREAD_CAUSE_EVENT && event->asked_ns > 0));
}

/* A wait for events that had one before its time ran out. */
static inline bool thread_event_found(const struct thread_event *event) {
    return event->kind == THREAD_EVENT_BLOCK && event->cause == THREAD_CAUSE_EVENT &&
           event->result > 0;
}
/* What the thread has read, by this call, from a pipe, an eventfd or a pair of sockets, behind
 * waits for it whose time had run out, another one wrote: by the instruction behind which it has
 * executed *written, as `position` counts. THREAD_EVENT_NO_THREAD: it is not known. */
static inline uint32_t thread_event_writer(const struct thread_event *event, uint64_t *written) {
    *written = event->address2;
    return event->kind == THREAD_EVENT_BLOCK && event->cause == THREAD_CAUSE_INPUT &&
                   event->value && event->value - 1 != event->thread
               ? event->value - 1
               : THREAD_EVENT_NO_THREAD;
}

/* It did nothing but let time pass. */
static inline bool thread_event_ran_out(const struct thread_event *event) {
    return thread_event_slept(event) || thread_event_waited_in_vain(event);
}

/* Its members are in their ranges. */
static inline bool thread_event_is_sound(const struct thread_event *event) {
    return event->kind < THREAD_EVENT_KINDS && event->cause < THREAD_CAUSES &&
           event->operation <= FUTEX_OP_LOCK_PI2 && event->flags <= THREAD_EVENT_SHARED &&
           event->exit >= event->entry && event->other != event->thread;
}
