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

/* Each arrival of the thread counts for its barrier (barrier_at()). */
static bool count_thread(struct chip_run *chip, uint32_t thread, struct error *error) {
    struct guest guest = {.thread = thread, .routine_call = UINT32_MAX};
    struct guest_next next;
    struct guest_action action;
    enum guest_step step = GUEST_FAILED;
    if (!guest_input_open(&guest.input, chip->options->path, chip->run->trace, thread, error))
        return false;
    while (!watcher_stops(&chip->run->options->watcher) &&
           (step = guest_input_next(&guest.input, TRACE_BATCH_INSNS, &next, error)) !=
               GUEST_FAILED &&
           step != GUEST_END) {
        if (step != GUEST_INSNS)
            continue;
        const uint32_t count = guest_look(chip, &guest, &next.piece, &action, error);
        if (count == UINT32_MAX)
            break;
        guest_input_give_back(&guest.input, next.piece.insn_count - count);
    }
    guest_input_close(&guest.input);
    return step == GUEST_END;
}

/* Of all barriers of the process, once. */
static void count_arrivals(struct chip_run *chip) {
    struct error error;
    bool good = true;
    if (chip->counted)
        return;
    chip->counting = true;
    for (uint32_t i = 0; i < chip->thread_count && good; i++)
        if (chip->process_of[i] == chip->process)
            good = count_thread(chip, i, &error);
    chip->counting = false;
    chip->counted = true;
    for (size_t i = 0; i < chip->locks.count && !good; i++)
        chip->locks.locks[i]->arrivals = 0;
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
        count_arrivals(chip);
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
