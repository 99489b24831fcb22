/* What each thread of a process with several waits for in the kernel, for culprit's watchdog
 * (watchdog.c): a place of its own in the shared memory, which it fills before such a call and
 * clears behind it. */
#include "trace/qemu/plugin.h"

#include <unistd.h>

static THREAD_LOCAL struct ring_wait *mine; /* NULL: it had no place yet */
static THREAD_LOCAL bool none_is_free;

static struct ring_wait *claim(void) {
    for (uint32_t i = 0; i < RING_WAIT_SLOTS && !mine && !none_is_free; i++) {
        struct ring_wait *wait = &plugin.control->waits[i];
        uint32_t free = RING_WAITS_NOT;
        if (atomic_compare_exchange_strong(&wait->state, &free, RING_RUNS))
            mine = wait;
    }
    if (!mine && !none_is_free)
        atomic_fetch_add(&plugin.control->waits_missed, 1);
    none_is_free = !mine;
    return mine;
}

/* The word behind the futex: a mutex of glibc has its owner there. */
static uint32_t owner_of(uint64_t address) {
    enum { OWNER_OFFSET = 8 };
    uint32_t owner = 0;
    return guest_read(address + OWNER_OFFSET, &owner, sizeof owner) ? owner : 0;
}

void wait_entered(const struct thread_event *event) {
    struct ring_wait *wait = claim();
    if (!wait)
        return;
    const bool forever =
        event->kind == THREAD_EVENT_WAIT && event->asked_ns == THREAD_EVENT_FOREVER;
    wait->slot = (uint32_t)plugin.slot;
    wait->thread = event->thread;
    wait->tid = (uint32_t)gettid();
    wait->address = event->address;
    wait->expected = event->value;
    wait->owner = forever ? owner_of(event->address) : 0;
    wait->block_count = forever ? thread_last_of_images(wait->blocks, RING_WAIT_BLOCKS) : 0;
    atomic_store(&wait->state, forever ? RING_WAITS_FOREVER : RING_WAITS);
}

void wait_returned(void) {
    if (mine)
        atomic_store(&mine->state, RING_RUNS);
}

void wait_thread_ended(void) {
    if (mine)
        atomic_store(&mine->state, RING_WAITS_NOT);
    mine = NULL;
}

void wait_forked(void) {
    mine = NULL;
}
