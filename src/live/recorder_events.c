/* Opens events on every processor, for the machine or for the threads of a process, and the rings
 * that they write to. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/event.h"
#include "live/perf_record.h"
#include "live/recorder_internal.h"
#include "util/array.h"
#include "util/order.h"

enum {
    RING_PAGES_MOST = 256,
    STACK_RING_PAGES_MOST = 4096, /* a sample with its stack takes some pages */
    MACHINE_PAGES_MOST = 1 << 16, /* of all processors: 256 MB */
    RING_PAGES_LEAST = 4,
    /* Of which a reader is told: a quarter of what an ordinary user's ring has, or root's at least.
     */
    STACK_WATERMARK_BYTES = 128 << 10,
    ROOT_WATERMARK_BYTES = 1 << 20,
    ROUNDS_MAX = 1000
};

/* Threads wait far more often than samples are taken, and not as deep down. */
static uint32_t stack_bytes_of(const struct recorder *recorder, uint32_t event) {
    enum { WAITS_PART = 4 };
    return live_event_lasts(recorder->events[event].kind)
               ? recorder->stack_bytes / WAITS_PART / 8 * 8
               : recorder->stack_bytes;
}

static void ask_for_stacks(const struct recorder *recorder, uint32_t event,
                           struct perf_event_attr *attributes) {
    attributes->sample_type |= PERF_RECORD_STACK_TYPE;
    attributes->exclude_callchain_user = 1; /* which knows frame pointers alone */
    attributes->sample_regs_user = PERF_RECORD_REGISTERS;
    attributes->sample_stack_user = stack_bytes_of(recorder, event);
    attributes->wakeup_watermark = geteuid() == 0 ? ROOT_WATERMARK_BYTES : STACK_WATERMARK_BYTES;
}

static void ask_for_tasks(const struct recorder *recorder, struct perf_event_attr *attributes) {
    attributes->mmap = attributes->mmap2 = 1;
    attributes->comm = attributes->comm_exec = 1;
    attributes->task = 1;
    attributes->context_switch = recorder->times_waits;
    attributes->build_id = recorder->build_ids;
}

/* What needs no counter, and is never sampled. */
static struct live_event nothing(const struct recorder *recorder) {
    return (struct live_event){.kind = LIVE_SOFTWARE,
                               .type = PERF_TYPE_SOFTWARE,
                               .config = {PERF_COUNT_SW_DUMMY},
                               .kernel = recorder->events[0].kernel};
}

/* A descriptor, or −1 with errno. Where tasks are told of apart, by `tasks`; else by the first
 * event of a processor. */
static int open_event(const struct recorder *recorder, uint32_t event, bool tasks, pid_t thread,
                      int processor) {
    struct perf_event_attr attributes;
    const struct live_event described = tasks ? nothing(recorder) : recorder->events[event];
    live_event_attributes(&described, &attributes);
    attributes.sample_type = PERF_RECORD_SAMPLE_TYPE;
    attributes.sample_id_all = 1;
    attributes.inherit = !recorder->machine;
    attributes.enable_on_exec = recorder->waits;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    attributes.watermark = 1;
    attributes.wakeup_watermark = RING_PAGES_LEAST / 2 * (uint32_t)sysconf(_SC_PAGESIZE);
    if (recorder->stack_bytes && !tasks)
        ask_for_stacks(recorder, event, &attributes);
    if (recorder->apart ? tasks : !event)
        ask_for_tasks(recorder, &attributes);
    return (int)syscall(SYS_perf_event_open, &attributes, thread, processor, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

/* As large as the limit on locked memory (kernel.perf_event_mlock_kb) allows. */
static bool map_ring(struct recorder *recorder, int counter, bool tasks, struct error *error) {
    struct perf_ring *ring = &recorder->rings[recorder->ring_count];
    size_t most = recorder->stack_bytes && !tasks ? STACK_RING_PAGES_MOST : RING_PAGES_MOST;
    while (recorder->machine && most > RING_PAGES_LEAST &&
           most * recorder->processors > MACHINE_PAGES_MOST)
        most /= 2;
    for (size_t pages = most; pages >= RING_PAGES_LEAST; pages /= 2) {
        if (perf_ring_map(ring, counter, pages)) {
            recorder->polled[recorder->ring_count++] =
                (struct pollfd){.fd = counter, .events = POLLIN};
            return true;
        }
        if (errno != EPERM && errno != ENOMEM)
            break;
    }
    return errno == EPERM
               ? error_set(error, "the ring buffers for samples exceed what may be locked (raise "
                                  "kernel.perf_event_mlock_kb or ulimit -l)")
               : error_errno(error, "a ring buffer for samples");
}

static bool add_counter(struct recorder *recorder, int descriptor, uint32_t event, bool tasks,
                        pid_t thread, int processor, struct error *error) {
    struct counter counter = {
        .descriptor = descriptor, .thread = thread, .event = event, .tasks = tasks};
    if (!array_room(recorder->counters, recorder->counter_capacity, recorder->counter_count + 1)) {
        close(descriptor);
        return error_set(error, "out of memory for the events");
    }
    if (ioctl(descriptor, PERF_EVENT_IOC_ID, &counter.id) != 0) {
        close(descriptor);
        return error_errno(error, "sampling %s", recorder->events[event].name);
    }
    int *ring = tasks ? &recorder->task_ring_of[processor] : &recorder->ring_of[processor];
    if (*ring < 0) {
        if (!map_ring(recorder, descriptor, tasks, error)) {
            close(descriptor);
            return false;
        }
        *ring = (int)recorder->ring_count - 1;
        recorder->processor_of[*ring] = (uint32_t)processor;
    } else if (ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, recorder->rings[*ring].counter) != 0) {
        close(descriptor);
        return error_errno(error, "sampling %s", recorder->events[event].name);
    }
    recorder->counters[recorder->counter_count++] = counter;
    /* Without, its samples come all the same. */
    if (recorder->probe && !tasks &&
        !sample_probe_attach(recorder->probe, descriptor, processor,
                             recorder->rings[*ring].counter))
        recorder->unprobed = true;
    return true;
}

/* Threads that leave their processor are sampled where that is permitted: they do in the kernel. */
static bool is_opened(const struct live_event *event) {
    return event->kind != LIVE_RUN_QUEUE && (event->kind != LIVE_OFF_CPU || event->kernel);
}

bool recorder_is_hardware(const struct live_event *event) {
    return event->kind == LIVE_CYCLES || event->kind == LIVE_HARDWARE;
}

/* Of an event of a thread on one processor the kernel tells no time in which it could have been
 * counted: it goes on while the thread runs elsewhere. An event that needs no counter is counted
 * whenever the thread runs here. */
static bool open_reference(struct recorder *recorder, pid_t thread, int processor,
                           struct error *error) {
    const struct live_event reference = nothing(recorder);
    struct perf_event_attr attributes;
    if (recorder->machine ||
        !any_where(i, recorder->event_count, recorder_is_hardware(&recorder->events[i])))
        return true;
    live_event_attributes(&reference, &attributes);
    attributes.inherit = 1;
    attributes.enable_on_exec = recorder->waits;
    int descriptor =
        (int)syscall(SYS_perf_event_open, &attributes, thread, processor, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor < 0)
        return errno == ESRCH || error_errno(error, "sampling: how long is not known");
    if (array_push(recorder->references, recorder->reference_capacity, recorder->reference_count,
                   descriptor))
        return true;
    close(descriptor);
    return error_set(error, "out of memory for the events");
}

/* 1; 0: the thread has ended, or the processor is off; −1 with an error. */
static int open_counter(struct recorder *recorder, uint32_t event, bool tasks, pid_t thread,
                        int processor, struct error *error) {
    int descriptor = open_event(recorder, event, tasks, thread, processor);
    if (descriptor < 0 && errno == EINVAL && recorder->build_ids && !event) {
        recorder->build_ids = false; /* before Linux 5.12 */
        descriptor = open_event(recorder, event, tasks, thread, processor);
    }
    if (descriptor < 0 && (errno == ESRCH || errno == ENODEV))
        return 0;
    if (descriptor < 0) {
        live_event_refused(&recorder->events[event], errno, error);
        return -1;
    }
    return add_counter(recorder, descriptor, event, tasks, thread, processor, error) ? 1 : -1;
}

/* Likewise. */
static int open_on_processor(struct recorder *recorder, pid_t thread, int processor,
                             struct error *error) {
    int opened = recorder->apart ? open_counter(recorder, 0, true, thread, processor, error) : 1;
    for (uint32_t event = 0; opened > 0 && event < recorder->event_count; event++)
        if (is_opened(&recorder->events[event]))
            opened = open_counter(recorder, event, false, thread, processor, error);
    if (opened <= 0)
        return opened;
    return open_reference(recorder, thread, processor, error) ? 1 : -1;
}

static bool open_thread(struct recorder *recorder, pid_t thread, struct error *error) {
    return !any_where(processor, recorder->processors,
                      open_on_processor(recorder, thread, (int)processor, error) < 0);
}

struct threads {
    pid_t *ids;
    size_t count, capacity;
};

static bool is_known(const struct threads *threads, pid_t id) {
    return any_where(i, threads->count, threads->ids[i] == id);
}

/* Opens events on threads that have none yet. 1: there were any; 0: none; −1 with an error. */
static int open_new_threads(struct recorder *recorder, pid_t process, struct threads *threads,
                            struct error *error) {
    char path[64];
    int any = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    if (!folder) {
        error_set(error, "process %d: there is none", (int)process);
        return -1;
    }
    for (struct dirent *entry; any >= 0 && (entry = readdir(folder));) {
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id <= 0 || is_known(threads, id))
            continue;
        if (!array_room(threads->ids, threads->capacity, threads->count + 1)) {
            error_set(error, "out of memory for the threads of process %d", (int)process);
            any = -1;
        } else {
            threads->ids[threads->count++] = id;
            any = open_thread(recorder, id, error) ? 1 : -1;
        }
    }
    closedir(folder);
    return any;
}

/* Threads that start meanwhile are inherited, or found by the next round. */
static bool open_process(struct recorder *recorder, pid_t process, struct error *error) {
    struct threads threads = {0};
    int any = 1;
    for (int round = 0; any > 0 && round < ROUNDS_MAX; round++)
        any = open_new_threads(recorder, process, &threads, error);
    recorder->own = calloc(threads.count + 1, sizeof *recorder->own);
    recorder->own_count = recorder->own ? threads.count : 0;
    for (size_t i = 0; i < recorder->own_count; i++)
        recorder->own[i].thread = threads.ids[i];
    free(threads.ids);
    return any >= 0;
}

ORDER(by_id, struct counter, ascending(a->id, b->id))

/* Each event on each processor takes a descriptor. */
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool watch_rings(struct recorder *recorder) {
    if ((recorder->filling = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return false;
    return all_where(i, recorder->ring_count,
                     epoll_ctl(recorder->filling, EPOLL_CTL_ADD, recorder->rings[i].counter,
                               &(struct epoll_event){.events = EPOLLIN}) == 0);
}

static bool enable(struct recorder *recorder) {
    for (size_t i = 0; i < recorder->reference_count; i++)
        ioctl(recorder->references[i], PERF_EVENT_IOC_ENABLE, 0);
    return all_where(i, recorder->counter_count,
                     ioctl(recorder->counters[i].descriptor, PERF_EVENT_IOC_ENABLE, 0) == 0);
}

/* One that has ended meanwhile, or that may not be looked at, is none. */
static bool attach(void *context, uint32_t pid) {
    struct recorder *recorder = context;
    struct error ignored;
    replay_attach(recorder->replay, pid, &ignored);
    return true;
}

/* What is told from the beginning on is replayed behind what is read of the processes now: a
 * mapping that is told twice is the same. */
static bool open_machine(struct recorder *recorder, struct error *error) {
    if (!open_thread(recorder, -1, error))
        return false;
    if (!recorder->counter_count)
        return error_set(error, "no processor can be sampled");
    qsort(recorder->counters, recorder->counter_count, sizeof *recorder->counters, by_id);
    if (!watch_rings(recorder) || !enable(recorder))
        return error_errno(error, "sampling the machine");
    return proc_each_pid(&RECORDER_ROOTS, attach, recorder) ||
           error_errno(error, "%s: cannot read which processes there are", RECORDER_ROOTS.proc);
}

bool recorder_open(struct recorder *recorder, pid_t process, struct error *error) {
    raise_descriptor_limit();
    if (recorder->machine)
        return open_machine(recorder, error);
    if (!(recorder->waits ? open_thread(recorder, process, error)
                          : open_process(recorder, process, error)))
        return false;
    if (!recorder->counter_count)
        return error_set(error, "process %d: there is none", (int)process);
    qsort(recorder->counters, recorder->counter_count, sizeof *recorder->counters, by_id);
    if (recorder->waits)
        return true;
    if (!enable(recorder))
        return error_errno(error, "sampling process %d", (int)process);
    return replay_attach(recorder->replay, (uint32_t)process, error) &&
           all_where(i, recorder->own_count,
                     replay_assume_wait(recorder->replay, (uint32_t)process,
                                        (uint32_t)recorder->own[i].thread, recorder_now(), error));
}

const struct counter *recorder_counter(const struct recorder *recorder, uint64_t id) {
    return bsearch(&(struct counter){.id = id}, recorder->counters, recorder->counter_count,
                   sizeof *recorder->counters, by_id);
}
