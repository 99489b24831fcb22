/* Locks and barriers in simulated time: who has them, who waits for them, in the order in which
 * threads came. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK_NOBODY UINT32_MAX

struct lock {
    uint64_t address; /* of its word */
    bool barrier;
    uint32_t owner; /* LOCK_NOBODY: none that writes */
    uint32_t depth; /* how often its owner has it */
    uint32_t readers;
    uint32_t parties, arrived; /* of a barrier; parties 0: not known */
    uint64_t arrivals;         /* at a barrier, in the captured run, if they were counted */
    uint32_t last;             /* thread that wanted it last; LOCK_NOBODY: none has */
    bool shared;               /* several threads have wanted it */
    uint32_t taker;            /* thread that takes it in the captured run, if that was looked at */
    bool common;               /* several do */
    bool tried;                /* it has tried to, at `try`: it has it if it gives it back */
    uint64_t try;
    uint32_t waking; /* threads that were woken to try once more, and have not yet */
    uint32_t site;   /* the call by which it was taken last; UINT32_MAX: not known */
    struct lock_waiter {
        uint32_t thread;
        bool reads;
    } * waiters;
    size_t waiter_count, waiter_capacity;
};

struct lock_table {
    struct lock **locks;
    size_t count, capacity;
    size_t *index; /* hashed by address: place in `locks` + 1 */
    size_t index_size;
};

void lock_table_free(struct lock_table *table);
/* The lock at an address, made if it is new; NULL: no memory. */
struct lock *lock_table_at(struct lock_table *table, uint64_t address);
/* The one that lies there, or NULL. */
struct lock *lock_table_find(const struct lock_table *table, uint64_t address);

/* In the captured run the thread takes it. */
void lock_note_taker(struct lock *lock, uint32_t thread);

/* Takes the lock if it may be had: nobody else has it or, to read, nobody writes. */
bool lock_take(struct lock *lock, uint32_t thread, bool reads);
/* The thread waits in line. False: no memory. */
bool lock_wait(struct lock *lock, uint32_t thread, bool reads);
/* The thread gives it up, once; the first waiters get it who may: their threads are in waiters[0]
 * to waiters[n − 1], n returned, until lock_forget() takes them out of the line. */
size_t lock_release(struct lock *lock, uint32_t thread);
void lock_forget(struct lock *lock, size_t count);
/* The same, but the lock is free then, if nobody has it any more, and the line waits. */
void lock_free(struct lock *lock, uint32_t thread);
/* Whatever others have of it: now it is this thread's, who is taken out of the line. */
void lock_force(struct lock *lock, uint32_t thread);
