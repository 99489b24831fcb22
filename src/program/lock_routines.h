/* What the routines that threads synchronise with do, by their names: POSIX threads and semaphores,
 * C11 threads, which C++ and most others are made of, the waiting parts of glibc, and the locks of
 * Rust's standard library. */
#pragma once

#include <stdbool.h>

enum lock_action {
    LOCK_NONE,      /* no such routine */
    LOCK_ACQUIRE,   /* returns with the object held; of a semaphore, one unit */
    LOCK_RELEASE,   /* gives it back; of a semaphore, one unit */
    LOCK_WAIT,      /* at a condition: releases the mutex (second argument), waits to be signalled,
                       acquires the mutex again */
    LOCK_SIGNAL,    /* lets one waiter at the condition go on */
    LOCK_BROADCAST, /* lets all of them */
    LOCK_MEET,      /* returns when as many threads have come as the barrier is for */
    LOCK_JOIN,      /* returns when another thread has ended */
    LOCK_SLEEP,     /* waits in the kernel, for a routine of the above that called it */
    LOCK_ACTIONS
};

enum lock_object {
    LOCK_OF_NOTHING,
    LOCK_OF_MUTEX,
    LOCK_OF_SPIN_LOCK,
    LOCK_OF_READ_WRITE_LOCK,
    LOCK_OF_CONDITION,
    LOCK_OF_BARRIER,
    LOCK_OF_SEMAPHORE,
    LOCK_OF_THREAD,
    LOCK_OBJECTS
};

/* The first argument is the object's address, of LOCK_OF_THREAD its handle. A routine may call
 * others of these, which belong to it. */
struct lock_routine {
    enum lock_action action;
    enum lock_object object;
    bool shared;   /* with others that acquire it shared: a read lock */
    bool may_fail; /* returns without it at once, or after a time: result 0 tells that it has it */
    bool at_once;  /* it does not wait */
};

/* Of a symbol, demangled or not, with the names that glibc gives to the same routine
 * (__pthread_mutex_lock, ___pthread_mutex_lock, __GI___pthread_mutex_lock,
 * pthread_mutex_lock@@GLIBC_2.2.5). A linkage entry (pthread_mutex_lock@plt) is none. */
struct lock_routine lock_routine_of(const char *symbol);

/* Whether a routine's atomic operations are the business of glibc or of Go's run-time system:
 * memory, stacks and numbers of threads. In which order threads come to them orders nothing that
 * the program sees. */
bool lock_routine_is_internal(const char *symbol);

/* Whether a routine locks or waits for whatever routine calls it: those by LOCK_SLEEP, and Go's
 * locks, of its heap and of channels alike. */
bool lock_routine_is_for_caller(const char *symbol);

/* Whether the routine is that of a thread which watches the others for their run-time system: Go's
 * runtime.sysmon, which sleeps, looks who has run for 10 ms, and sleeps again. How often it does
 * follows from the time that the program takes, and not the other way round. */
bool lock_routine_is_monitor(const char *symbol);
