/* This process's slot in the shared memory: records to the consumer and answers from it.
 *
 * Records are written under one lock (QEMU translates under its own, but system calls of other
 * threads send records too). A request leaves the lock held until the answer is there: the
 * consumer answers in the order of records. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/qemu/futex.h"

enum { PATIENCE_NANOSECONDS = 100000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A zombie, and a process that is gone, has no memory to read; needs no permission to find out. */
static bool consumer_is_gone(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)4096, 1};
    return process_vm_readv(plugin.control->consumer, &here, 1, &there, 1, 0) < 0 && errno == ESRCH;
}

bool process_wait(_Atomic uint32_t *word, uint32_t seen) {
    struct ring_control *control = plugin.control;
    while (atomic_load(word) == seen && !atomic_load(&control->detached))
        if (!futex_wait(word, seen, PATIENCE_NANOSECONDS) && consumer_is_gone())
            atomic_store(&control->detached, 1);
    return !atomic_load(&control->detached);
}

void process_ring_doorbell(void) {
    struct ring_control *control = plugin.control;
    atomic_fetch_add(&control->doorbell, 1);
    if (atomic_load(&control->sleeping))
        futex_wake(&control->doorbell);
}

static void copy_in(uint64_t at, const void *data, size_t size) {
    uint8_t *records = ring_records(plugin.control, (uint32_t)plugin.slot);
    size_t offset = at % RING_RECORD_BYTES, first = RING_RECORD_BYTES - offset;
    if (first > size)
        first = size;
    memcpy(records + offset, data, first);
    memcpy(records, (const uint8_t *)data + first, size - first);
}

static bool put_locked(struct ring_record *record, size_t size, const void *extra,
                       size_t extra_size) {
    struct ring_process *slot = &plugin.control->processes[plugin.slot];
    record->size = (uint32_t)((size + extra_size + 7) & ~(size_t)7);
    uint64_t head = atomic_load(&slot->head);
    for (;;) {
        uint32_t seen = atomic_load(&plugin.control->released);
        if (head + record->size - atomic_load(&slot->tail) <= RING_RECORD_BYTES)
            break;
        process_ring_doorbell();
        atomic_fetch_add(&plugin.control->waiting, 1);
        bool alive = head + record->size - atomic_load(&slot->tail) <= RING_RECORD_BYTES ||
                     process_wait(&plugin.control->released, seen);
        atomic_fetch_sub(&plugin.control->waiting, 1);
        if (!alive)
            return false;
    }
    copy_in(head, record, size);
    if (extra)
        copy_in(head + size, extra, extra_size);
    atomic_store(&slot->head, head + record->size);
    return true;
}

void process_put(struct ring_record *record, size_t size, const void *extra, size_t extra_size) {
    if (plugin.slot == NO_SLOT)
        return;
    pthread_mutex_lock(&lock);
    put_locked(record, size, extra, extra_size);
    pthread_mutex_unlock(&lock);
}

bool process_ask(struct ring_record *record, size_t size, struct ring_reply *reply) {
    if (plugin.slot == NO_SLOT)
        return false;
    struct ring_process *slot = &plugin.control->processes[plugin.slot];
    pthread_mutex_lock(&lock);
    uint32_t seen = atomic_load(&slot->replies);
    bool answered = put_locked(record, size, NULL, 0);
    if (answered) {
        process_ring_doorbell();
        answered = process_wait(&slot->replies, seen);
    }
    if (answered)
        *reply = slot->reply;
    pthread_mutex_unlock(&lock);
    return answered;
}

static int claim_slot(void) {
    struct ring_control *control = plugin.control;
    for (int i = 0; i < RING_PROCESSES; i++) {
        uint32_t free = 0;
        if (atomic_compare_exchange_strong(&control->processes[i].claimed, &free, 1))
            return i;
    }
    return NO_SLOT;
}

/* This process stays out of the trace: names it, in a slot that the consumer frees. */
static void tell_not_followed(uint32_t parent) {
    plugin.slot = atomic_load(&plugin.control->detached) ? NO_SLOT : claim_slot();
    struct ring_untraced_process record = {.record.kind = RING_UNTRACED,
                                           .pid = (uint32_t)getpid(),
                                           .parent = parent,
                                           .reason = RING_NOT_FOLLOWED,
                                           .forked = 1};
    process_put(&record.record, sizeof record, "", 1);
    process_ring_doorbell();
    plugin.slot = NO_SLOT;
}

bool process_join(enum ring_origin origin, uint32_t parent, uint32_t inherited_blocks) {
    plugin.slot = atomic_load(&plugin.control->detached) ? NO_SLOT : claim_slot();
    if (plugin.slot == NO_SLOT)
        return false;
    struct ring_hello hello = {.record.kind = RING_HELLO,
                               .pid = (uint32_t)getpid(),
                               .origin = origin,
                               .parent = parent,
                               .inherited_blocks = inherited_blocks};
    struct ring_reply reply;
    if (!process_ask(&hello.record, sizeof hello, &reply)) {
        plugin.slot = NO_SLOT;
        return false;
    }
    plugin.number = reply.process;
    return true;
}

/* ---- fork ---- */

static void before_fork(void) {
    if (plugin.slot != NO_SLOT)
        atomic_fetch_add(&plugin.control->processes[plugin.slot].forks_begun, 1);
}

static void in_child(void) {
    int parent_slot = plugin.slot;
    uint32_t parent = plugin.number;
    pthread_mutex_init(&lock, NULL);
    code_forked();
    thread_forked();
    effect_forked();
    plugin.slot = NO_SLOT;
    if (parent_slot == NO_SLOT)
        return;
    if (atomic_load(&plugin.control->phase) == RING_DONE)
        ;
    else if (plugin.control->follow)
        process_join(RING_FORKED, parent, code_block_count());
    else
        tell_not_followed(parent);
    atomic_fetch_add(&plugin.control->processes[parent_slot].forks_arrived, 1);
}

void process_start(void) {
    pthread_atfork(before_fork, NULL, in_child);
}
