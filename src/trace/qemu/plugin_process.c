/* This process's slot in the shared memory: records to the consumer and answers from it.
 *
 * Records are written under one lock (QEMU translates under its own, but system calls of other
 * threads send records too). A request leaves the lock held until the answer is there: the
 * consumer answers in the order of records. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "trace/qemu/futex.h"

enum { PATIENCE_NANOSECONDS = 100000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t forks; /* of this process, the one under way included: QEMU makes one at a time */

/* A zombie, or a process that is gone, has no memory to read. Finding that out needs no
 * permission. */
static bool consumer_is_gone(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)4096, 1};
    return process_vm_readv(plugin.consumer, &here, 1, &there, 1, 0) < 0 && errno == ESRCH;
}

static bool consumer_seen; /* when this process began: it has no other numbers of processes */

/* A followed child does not run on, emulated, behind a culprit that was killed; the command ends
 * with it (launcher.c). */
static void leave_consumer(void) {
    if (consumer_seen)
        kill(getpid(), SIGKILL);
    atomic_store(&plugin.control->detached, 1);
}

bool process_wait(_Atomic uint32_t *word, uint32_t seen) {
    struct ring_control *control = plugin.control;
    while (atomic_load(word) == seen && !atomic_load(&control->detached))
        if (!futex_wait(word, seen, PATIENCE_NANOSECONDS) && consumer_is_gone())
            leave_consumer();
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

static bool left_out;            /* a fork child that is not traced */
static uint32_t left_out_parent; /* its parent's number */

/* This process is not traced: reports it, in a slot that the consumer frees. */
static void tell_not_followed(bool forked, const char *path) {
    plugin.slot = atomic_load(&plugin.control->detached) ? NO_SLOT : claim_slot();
    struct ring_untraced_process record = {.record.kind = RING_UNTRACED,
                                           .pid = (uint32_t)getpid(),
                                           .parent = left_out_parent,
                                           .reason = RING_NOT_FOLLOWED,
                                           .forked = forked};
    process_put(&record.record, sizeof record, path, strlen(path) + 1);
    process_ring_doorbell();
    plugin.slot = NO_SLOT;
}

void process_tell_exec(const char *path) {
    if (left_out && atomic_load(&plugin.control->phase) != RING_DONE)
        tell_not_followed(false, path);
}

/* ---- children that are not traced ---- */

/* Processor time of the children that were waited for, in microseconds. */
struct children_time {
    uint64_t user, all;
};

static uint64_t microseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static struct children_time children_time(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
        return (struct children_time){0};
    uint64_t user = microseconds(usage.ru_utime);
    return (struct children_time){.user = user, .all = user + microseconds(usage.ru_stime)};
}

/* The total time of a process is exact, but most kernels divide it between user mode and kernel by
 * what their ticks interrupted, a few milliseconds apart. Of a short time none, or all, may count
 * as user time by chance, and a short child may pass for a long one. So all of a short time
 * counts. */
enum { FEW_TICKS_MICROSECONDS = 100000 };

static uint64_t user_time(struct children_time before, struct children_time now) {
    uint64_t user = now.user - before.user, all = now.all - before.all;
    return all < FEW_TICKS_MICROSECONDS ? all : user;
}

static pthread_mutex_t children_lock = PTHREAD_MUTEX_INITIALIZER;
static struct children_time children_before;

void process_waited(uint32_t pid) {
    pthread_mutex_lock(&children_lock);
    struct children_time now = children_time();
    uint64_t user = user_time(children_before, now);
    children_before = now;
    pthread_mutex_unlock(&children_lock);
    if (plugin.control->follow || !user ||
        ring_activity(atomic_load(&plugin.control->phase)) != RING_CAPTURE)
        return;
    struct ring_waited record = {.record.kind = RING_WAITED, .pid = pid, .user_microseconds = user};
    process_put(&record.record, sizeof record, NULL, 0);
}

bool process_join(enum ring_origin origin, uint32_t parent, uint32_t inherited_blocks) {
    const uint32_t fork = forks - (origin == RING_FORKED);
    forks = 0;
    consumer_seen = !consumer_is_gone();
    plugin.slot = atomic_load(&plugin.control->detached) ? NO_SLOT : claim_slot();
    if (plugin.slot == NO_SLOT)
        return false;
    struct ring_hello hello = {.record.kind = RING_HELLO,
                               .pid = (uint32_t)getpid(),
                               .origin = origin,
                               .parent = parent,
                               .inherited_blocks = inherited_blocks,
                               .fork = fork};
    struct ring_reply reply;
    if (!process_ask(&hello.record, sizeof hello, &reply)) {
        plugin.slot = NO_SLOT;
        return false;
    }
    plugin.number = reply.process;
    plugin.known = reply.known;
    return true;
}

/* ---- fork ---- */

static void before_fork(void) {
    forks++;
    if (plugin.slot != NO_SLOT)
        atomic_fetch_add(&plugin.control->processes[plugin.slot].forks_begun, 1);
}

/* Where the consumer kills those that it knows, and does not know this one. */
static void end_unknown(void) {
    const struct ring_control *control = plugin.control;
    const bool over = atomic_load(&control->phase) == RING_DONE || atomic_load(&control->detached);
    if (over && control->follow && atomic_load(&control->stop))
        kill(getpid(), SIGKILL);
}

static bool watching; /* this process, or one that forked it, was followed, and is not known */

static void *watch_consumer(void *unused) {
    const struct timespec patience = {.tv_nsec = PATIENCE_NANOSECONDS};
    while (!atomic_load(&plugin.control->detached)) {
        if (consumer_is_gone())
            leave_consumer();
        end_unknown();
        nanosleep(&patience, NULL);
    }
    end_unknown();
    return unused;
}

/* It waits for nothing of the consumer's, whose end it would not hear of. The thread takes none of
 * the guest's signals. */
static void begin_watch(void) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch_consumer, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void in_child(void) {
    int parent_slot = plugin.slot;
    uint32_t parent = plugin.number;
    pthread_mutex_init(&lock, NULL);
    code_forked();
    thread_forked();
    effect_forked();
    pthread_mutex_init(&children_lock, NULL);
    children_before = (struct children_time){0};
    plugin.slot = NO_SLOT;
    if (watching)
        begin_watch();
    if (parent_slot == NO_SLOT)
        return;
    if (atomic_load(&plugin.control->phase) == RING_DONE)
        ;
    else if (plugin.control->follow)
        process_join(RING_FORKED, parent, code_block_count());
    else {
        left_out = true;
        left_out_parent = parent;
        tell_not_followed(true, "");
    }
    atomic_fetch_add(&plugin.control->processes[parent_slot].forks_arrived, 1);
    if (plugin.slot != NO_SLOT)
        return;
    end_unknown();
    watching = plugin.control->follow && consumer_seen;
    if (watching)
        begin_watch();
}

void process_start(void) {
    children_before = children_time(); /* of the programs before this one */
    pthread_atfork(before_fork, NULL, in_child);
}
