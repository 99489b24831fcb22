#include "simulate/lock_table.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/random.h"

void lock_table_free(struct lock_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        free(table->locks[i]->waiters);
        free(table->locks[i]);
    }
    free(table->locks);
    free(table->index);
    *table = (struct lock_table){.locks = NULL};
}

static size_t slot_of(const struct lock_table *table, uint64_t address) {
    size_t slot = random_mix(address) & (table->index_size - 1);
    while (table->index[slot] && table->locks[table->index[slot] - 1]->address != address)
        slot = (slot + 1) & (table->index_size - 1);
    return slot;
}

static bool grow(struct lock_table *table) {
    const size_t size = table->index_size ? 2 * table->index_size : 64;
    size_t *index = calloc(size, sizeof *index);
    if (!index)
        return false;
    free(table->index);
    table->index = index;
    table->index_size = size;
    for (size_t i = 0; i < table->count; i++)
        index[slot_of(table, table->locks[i]->address)] = i + 1;
    return true;
}

struct lock *lock_table_find(const struct lock_table *table, uint64_t address) {
    if (!table->index_size)
        return NULL;
    const size_t place = table->index[slot_of(table, address)];
    return place ? table->locks[place - 1] : NULL;
}

struct lock *lock_table_at(struct lock_table *table, uint64_t address) {
    struct lock *lock = lock_table_find(table, address);
    if (lock)
        return lock;
    if (2 * (table->count + 1) > table->index_size && !grow(table))
        return NULL;
    if (!array_room(table->locks, table->capacity, table->count + 1) ||
        !(lock = calloc(1, sizeof *lock)))
        return NULL;
    *lock = (struct lock){.address = address,
                          .owner = LOCK_NOBODY,
                          .last = LOCK_NOBODY,
                          .taker = LOCK_NOBODY,
                          .site = UINT32_MAX};
    table->locks[table->count++] = lock;
    table->index[slot_of(table, address)] = table->count;
    return lock;
}

void lock_note_taker(struct lock *lock, uint32_t thread) {
    lock->common |= lock->taker != LOCK_NOBODY && lock->taker != thread;
    lock->taker = thread;
}

static bool may_have(const struct lock *lock, uint32_t thread, bool reads) {
    if (lock->owner == thread)
        return true;
    return lock->owner == LOCK_NOBODY && (reads || !lock->readers);
}

static void have(struct lock *lock, uint32_t thread, bool reads) {
    if (lock->owner == thread) {
        lock->depth++;
    } else if (reads) {
        lock->readers++;
    } else {
        lock->owner = thread;
        lock->depth = 1;
    }
}

bool lock_take(struct lock *lock, uint32_t thread, bool reads) {
    if (!may_have(lock, thread, reads))
        return false;
    have(lock, thread, reads);
    return true;
}

bool lock_wait(struct lock *lock, uint32_t thread, bool reads) {
    if (!array_room(lock->waiters, lock->waiter_capacity, lock->waiter_count + 1))
        return false;
    lock->waiters[lock->waiter_count++] = (struct lock_waiter){thread, reads};
    return true;
}

void lock_free(struct lock *lock, uint32_t thread) {
    if (lock->owner == thread) {
        if (--lock->depth == 0)
            lock->owner = LOCK_NOBODY;
    } else if (lock->readers) {
        lock->readers--;
    }
}

size_t lock_release(struct lock *lock, uint32_t thread) {
    lock_free(lock, thread);
    size_t next = 0;
    while (next < lock->waiter_count &&
           may_have(lock, lock->waiters[next].thread, lock->waiters[next].reads)) {
        have(lock, lock->waiters[next].thread, lock->waiters[next].reads);
        next++;
    }
    return next;
}

void lock_forget(struct lock *lock, size_t count) {
    if (!count)
        return;
    lock->waiter_count -= count;
    memmove(lock->waiters, lock->waiters + count, lock->waiter_count * sizeof *lock->waiters);
}

void lock_force(struct lock *lock, uint32_t thread) {
    for (size_t i = 0; i < lock->waiter_count; i++)
        if (lock->waiters[i].thread == thread) {
            memmove(lock->waiters + i, lock->waiters + i + 1,
                    (--lock->waiter_count - i) * sizeof *lock->waiters);
            break;
        }
    lock->owner = thread;
    lock->depth = 1;
}
