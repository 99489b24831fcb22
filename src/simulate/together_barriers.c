/* How many threads meet at a barrier of the C library. No trace says that; it is known from what
 * the captured run did there. Whoever comes last calls the kernel to wake the others, once a round,
 * even if nobody sleeps. So many threads met as it woke at a time, and the one that woke them, or
 * as called the kernel there; but those that came just before the last may never have slept. If
 * these are all threads of the process, there are no others; else arrivals by rounds are exact, for
 * which all threads are read once. */
#include "simulate/together_state.h"

enum { BARRIER_BYTES = 32 }; /* of glibc */

struct callers {
    uint32_t threads; /* that called the kernel there */
    uint64_t woken;   /* most at a time */
    uint64_t wakes;   /* calls */
};

static struct callers callers_at(const struct chip_run *chip, uint64_t address) {
    struct callers callers = {.threads = 0};
    uint32_t last = UINT32_MAX; /* events are by thread */
    for (size_t i = 0; i < chip->events.count; i++) {
        const struct thread_event *event = &chip->events.events[i];
        const bool wakes = event->kind == THREAD_EVENT_WAKE;
        if ((!wakes && event->kind != THREAD_EVENT_WAIT) || event->process != chip->process ||
            event->address - address >= BARRIER_BYTES)
            continue;
        callers.threads += event->thread != last;
        last = event->thread;
        callers.wakes += wakes;
        if (wakes && event->result > (int64_t)callers.woken)
            callers.woken = (uint64_t)event->result;
    }
    return callers;
}

/* 0: it is not known. */
static uint32_t parties_of(struct chip_run *chip, const struct lock *barrier) {
    const struct callers callers = callers_at(chip, barrier->address);
    uint32_t threads = 0;
    for (uint32_t i = 0; i < chip->thread_count; i++)
        threads += chip->process_of[i] == chip->process;
    const uint64_t woken = callers.woken ? callers.woken + 1 : 0;
    uint64_t parties = woken > callers.threads ? woken : callers.threads;
    if (callers.wakes && parties < threads) {
        chip_know_locks(chip);
        const uint64_t exact = barrier->arrivals / callers.wakes;
        parties = exact > parties ? exact : parties;
    }
    parties = parties < threads ? parties : threads;
    return parties > 1 ? (uint32_t)parties : 0;
}

struct lock *barrier_at(struct chip_run *chip, uint64_t address) {
    struct lock *lock = lock_table_at(&chip->locks, address);
    if (lock && chip->counting) {
        lock->arrivals++;
    } else if (lock && !lock->barrier) {
        lock->barrier = true;
        lock->parties = parties_of(chip, lock);
    }
    return lock;
}
