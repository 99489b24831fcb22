/* Events are opened on every processor, inherited by threads and children (an inherited event can
 * have a ring buffer only when it is bound to a processor); all of one processor write to one ring.
 * Records are stamped with a clock that we can read too: what is older than the beginning of the
 * last round but one is complete in all rings, and is delivered in the order of its time. */
#include "live/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/event.h"
#include "live/jit_names.h"
#include "live/kernel_map.h"
#include "live/perf_record.h"
#include "live/perf_ring.h"
#include "live/python_frames.h"
#include "live/replay.h"
#include "live/unwinder.h"
#include "live/walked_stack.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/order.h"
#include "util/random.h"

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
static const uint64_t PERIOD_INTERVAL_NS = 1000000000; /* between new periods */
/* An interpreter that begins is followed as soon as what it maps was read. */
static const uint64_t QUICK_NS = 500000000;
enum { QUICK_INTERVAL_MS = 4 };

static const struct live_roots ROOTS = {.proc = "/proc", .sys = "/sys", .files = ""};

struct counter {
    int descriptor;
    pid_t thread; /* that it was opened for; −1: all */
    uint32_t event;
    bool tasks; /* it samples nothing, but tells of mappings, processes and threads */
    uint64_t id;
};

struct recorder {
    struct live_event events[LIVE_EVENTS_MAX];
    size_t event_count;
    bool machine, waits, build_ids; /* how events are opened */
    bool times_waits;
    bool apart; /* what is told of tasks has rings of its own: no sample takes its room */
    uint32_t stack_bytes;
    struct own_thread {           /* one that ran when its process was attached to */
        pid_t thread, sampled_by; /* that one's events; 0: not yet */
    } * own;
    size_t own_count;
    int *references; /* owned descriptors: see open_reference() */
    size_t reference_count, reference_capacity;
    struct counter *counters; /* sorted by id once all are open; their descriptors are owned */
    size_t counter_count, counter_capacity;
    struct perf_ring *rings;
    int *ring_of, *task_ring_of; /* by processor: index of rings, or −1 */
    uint32_t *processor_of;      /* by ring */
    size_t ring_count, processors;
    struct pollfd *polled;        /* the rings, and one more */
    int filling;                  /* of the machine: an epoll of the rings; else −1 */
    struct unwinder *unwinder;    /* NULL: no callers are looked for */
    struct sample_probe *probe;   /* NULL: not permitted */
    bool unprobed;                /* an event does not take it */
    struct python_frames *python; /* NULL: no callers are looked for */
    struct jit_names *jit;
    struct replay *replay;
    uint64_t complete;     /* ns: older records are all in the rings */
    uint64_t next_period;  /* ns: when periods are drawn anew */
    uint64_t random, seed; /* of periods, of hashes */
    uint64_t quick;        /* ns: until when rounds come soon after each other */
};

static uint64_t now(void) {
    return (uint64_t)clock_nanoseconds(CLOCK_MONOTONIC);
}

/* ---- opening ---- */

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

static bool is_hardware(const struct live_event *event) {
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
        !any_where(i, recorder->event_count, is_hardware(&recorder->events[i])))
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
    return proc_each_pid(&ROOTS, attach, recorder) ||
           error_errno(error, "%s: cannot read which processes there are", ROOTS.proc);
}

static bool open_all(struct recorder *recorder, pid_t process, struct error *error) {
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
                                        (uint32_t)recorder->own[i].thread, now(), error));
}

static bool time_waits(struct recorder *recorder) {
    struct waits_options options = {.blocked = (uint32_t)recorder->event_count - 2,
                                    .runnable = (uint32_t)recorder->event_count - 1,
                                    .placed = recorder->events[recorder->event_count - 2].kernel};
    kernel_map_scheduler(&ROOTS, &options.scheduler_start, &options.scheduler_end);
    return replay_time_waits(recorder->replay, &options);
}

static bool allocate(struct recorder *recorder, const struct live_sink *sink) {
    enum { RINGS = 2 }; /* of a processor */
    recorder->rings = calloc(RINGS * recorder->processors, sizeof *recorder->rings);
    recorder->ring_of = malloc(recorder->processors * sizeof *recorder->ring_of);
    recorder->task_ring_of = malloc(recorder->processors * sizeof *recorder->task_ring_of);
    recorder->processor_of = calloc(RINGS * recorder->processors, sizeof *recorder->processor_of);
    recorder->polled = calloc(RINGS * recorder->processors + 1, sizeof *recorder->polled);
    if (!recorder->ring_of || !recorder->task_ring_of)
        return false;
    for (size_t i = 0; i < recorder->processors; i++)
        recorder->ring_of[i] = recorder->task_ring_of[i] = -1;
    struct error not_permitted;
    if (recorder->stack_bytes) {
        recorder->unwinder = unwinder_new(&ROOTS);
        recorder->probe = sample_probe_new(recorder->processors, &not_permitted);
        recorder->python = python_frames_new(&ROOTS, recorder->probe);
        if (recorder->probe && recorder->unwinder)
            unwinder_share(recorder->unwinder, recorder->probe);
    }
    if (!(recorder->jit = jit_names_new(&ROOTS, sink)))
        return false;
    const struct live_sink named = jit_names_sink(recorder->jit);
    recorder->replay = replay_new(&named, recorder->unwinder, recorder->python);
    if (recorder->times_waits && recorder->replay && !time_waits(recorder))
        return false;
    return recorder->rings && recorder->processor_of && recorder->polled && recorder->replay &&
           ((recorder->unwinder && recorder->python) || !recorder->stack_bytes);
}

struct recorder *recorder_new(const struct recorder_options *options, const struct live_sink *sink,
                              struct error *error) {
    struct recorder *recorder = calloc(1, sizeof *recorder);
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    if (!recorder || processors < 1 || options->event_count > LIVE_EVENTS_MAX) {
        free(recorder);
        return error_null(error, "out of memory for the events");
    }
    memcpy(recorder->events, options->events, options->event_count * sizeof *options->events);
    recorder->event_count = options->event_count;
    recorder->machine = options->machine;
    recorder->waits = options->waits;
    recorder->times_waits = options->times_waits;
    recorder->filling = -1;
    recorder->stack_bytes = options->stack_bytes;
    /* Of what others may lock each ring takes a part. */
    recorder->apart = geteuid() == 0;
    /* Not of the machine: the mark of build ids gets into the records of everybody else, and perf
     * dies of it. */
    recorder->build_ids = !options->machine;
    recorder->processors = (size_t)processors;
    if (getrandom(&recorder->random, sizeof recorder->random, GRND_NONBLOCK) < 0)
        recorder->random = now();
    recorder->seed = random_next(&recorder->random);
    bool good = allocate(recorder, sink);
    if (!good)
        error_set(error, "out of memory for the events");
    if (!good || !open_all(recorder, options->process, error)) {
        recorder_free(recorder);
        return NULL;
    }
    recorder->next_period = now() + PERIOD_INTERVAL_NS;
    recorder->quick = now() + QUICK_NS;
    return recorder;
}

void recorder_free(struct recorder *recorder) {
    if (!recorder)
        return;
    for (size_t i = 0; i < recorder->counter_count; i++)
        close(recorder->counters[i].descriptor);
    for (size_t i = 0; i < recorder->ring_count; i++)
        perf_ring_close(&recorder->rings[i]);
    replay_free(recorder->replay);
    jit_names_free(recorder->jit);
    unwinder_free(recorder->unwinder);
    for (size_t i = 0; i < recorder->reference_count; i++)
        close(recorder->references[i]);
    free(recorder->references);
    python_frames_free(recorder->python);
    sample_probe_free(recorder->probe);
    free(recorder->counters);
    free(recorder->rings);
    free(recorder->ring_of);
    free(recorder->task_ring_of);
    free(recorder->processor_of);
    free(recorder->polled);
    free(recorder->own);
    if (recorder->filling >= 0)
        close(recorder->filling);
    free(recorder);
}

/* ---- delivering ---- */

/* A thread that began while its process was attached to may have inherited events, and have been
 * given its own besides: those count that took the first sample, for as long as it lives. */
static bool is_twice(struct recorder *recorder, const struct counter *counter, uint32_t tid) {
    const size_t i = index_where(k, recorder->own_count, recorder->own[k].thread == (pid_t)tid);
    if (i == recorder->own_count)
        return false;
    if (!recorder->own[i].sampled_by)
        recorder->own[i].sampled_by = counter->thread;
    return recorder->own[i].sampled_by != counter->thread;
}

static void forget_thread(struct recorder *recorder, uint32_t tid) {
    const size_t i = index_where(k, recorder->own_count, recorder->own[k].thread == (pid_t)tid);
    if (i < recorder->own_count)
        recorder->own[i] = recorder->own[--recorder->own_count];
}

/* What the program wrote beside samples. */
static bool take_other(struct recorder *recorder, const uint8_t *bytes, const uint8_t *written,
                       size_t size, struct error *error) {
    enum { PID_AT = 24, TID_AT = 28 };
    struct walk_unknown unknown;
    uint32_t pid, tid;
    memcpy(&pid, bytes + PID_AT, sizeof pid);
    memcpy(&tid, bytes + TID_AT, sizeof tid);
    if (python_frames_take(recorder->python, pid, tid, written, size) || size < sizeof unknown)
        return true;
    memcpy(&unknown, written, sizeof unknown);
    return unknown.mark != WALK_UNKNOWN_MARK ||
           replay_unknown(recorder->replay, pid, &unknown, error);
}

static bool visit(void *context, size_t ring, const uint8_t *bytes, size_t size,
                  struct error *error) {
    struct recorder *recorder = context;
    struct perf_record record;
    const uint8_t *written;
    size_t written_size;
    if (recorder->probe &&
        sample_probe_take(recorder->probe, bytes, size, &written, &written_size)) {
        if (!walked_stack_read(bytes, written, written_size, recorder->seed, &record))
            return take_other(recorder, bytes, written, written_size, error);
    } else if (!perf_record_read(bytes, size, recorder->build_ids, &record))
        return true;
    uint32_t event = 0;
    if (record.type == PERF_RECORD_SAMPLE || record.type == PERF_RECORD_SWITCH) {
        const struct counter *counter =
            bsearch(&(struct counter){.id = record.id}, recorder->counters, recorder->counter_count,
                    sizeof *recorder->counters, by_id);
        if (!counter || is_twice(recorder, counter, record.tid))
            return true;
        event = counter->event;
    }
    if (record.type == PERF_RECORD_EXIT)
        forget_thread(recorder, record.tid);
    if (record.type == PERF_RECORD_COMM && record.exec)
        recorder->quick = now() + QUICK_NS;
    record.processor = recorder->processor_of[ring] + 1;
    record.samples_alone =
        recorder->apart && recorder->ring_of[recorder->processor_of[ring]] == (int)ring;
    return replay_record(recorder->replay, &record, event, error);
}

static bool deliver_until(struct recorder *recorder, uint64_t until, struct error *error) {
    return all_where(i, recorder->ring_count, perf_ring_read(&recorder->rings[i], error)) &&
           perf_rings_merge(recorder->rings, recorder->ring_count, until, visit, recorder, error) &&
           jit_names_pass(recorder->jit, false, error);
}

/* Only the events that we opened can be told, not those that children inherited. Each time costs
 * the rest of a period, hence not often. */
static void draw_periods(struct recorder *recorder) {
    for (size_t i = 0; i < recorder->counter_count; i++) {
        const struct counter *counter = &recorder->counters[i];
        if (counter->tasks || live_event_lasts(recorder->events[counter->event].kind))
            continue;
        uint64_t period =
            live_event_period(&recorder->events[counter->event], random_next(&recorder->random));
        if (ioctl(counter->descriptor, PERF_EVENT_IOC_PERIOD, &period) != 0)
            return;
    }
}

bool recorder_deliver(struct recorder *recorder, struct error *error) {
    uint64_t begin = now();
    if (!deliver_until(recorder, recorder->complete, error))
        return false;
    recorder->complete = begin;
    if (begin >= recorder->next_period) {
        recorder->next_period = begin + PERIOD_INTERVAL_NS;
        draw_periods(recorder);
    }
    return true;
}

void recorder_wait(struct recorder *recorder, int descriptor) {
    recorder->polled[recorder->ring_count] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    const bool quick = recorder->probe && now() < recorder->quick;
    poll(recorder->polled, recorder->ring_count + 1,
         quick ? QUICK_INTERVAL_MS : RECORDER_INTERVAL_MS);
    /* A ring whose processes have all ended would end every wait at once. */
    for (size_t i = 0; i < recorder->ring_count; i++)
        if (recorder->polled[i].revents & (POLLHUP | POLLERR))
            recorder->polled[i].fd = -1;
}

int recorder_descriptor(const struct recorder *recorder) {
    return recorder->filling;
}

void recorder_set_periods(struct recorder *recorder, const struct live_event *events) {
    for (size_t i = 0; i < recorder->event_count; i++)
        recorder->events[i].period = events[i].period;
    draw_periods(recorder);
}

bool recorder_finish(struct recorder *recorder, struct error *error) {
    for (size_t i = 0; i < recorder->counter_count; i++)
        ioctl(recorder->counters[i].descriptor, PERF_EVENT_IOC_DISABLE, 0);
    return deliver_until(recorder, UINT64_MAX, error) &&
           replay_finish(recorder->replay, now(), error) &&
           jit_names_pass(recorder->jit, true, error);
}

void recorder_times(const struct recorder *recorder, struct live_event_times *times) {
    struct live_event_times reference = {0};
    memset(times, 0, recorder->event_count * sizeof *times);
    for (size_t i = 0; i < recorder->counter_count; i++)
        if (!recorder->counters[i].tasks)
            live_event_read(recorder->counters[i].descriptor, &times[recorder->counters[i].event]);
    for (size_t i = 0; i < recorder->reference_count; i++)
        live_event_read(recorder->references[i], &reference);
    for (size_t i = 0; i < recorder->event_count; i++)
        if (!is_hardware(&recorder->events[i]))
            times[i].enabled = times[i].running;
        else if (!recorder->machine)
            times[i].enabled = reference.running;
}

void recorder_statistics(const struct recorder *recorder, struct recorder_statistics *statistics) {
    struct replay_statistics replayed;
    replay_statistics(recorder->replay, &replayed);
    *statistics = (struct recorder_statistics){.samples = replayed.samples,
                                               .dropped = replayed.lost,
                                               .dropped_tasks = replayed.lost_tasks};
    for (size_t i = 0; i < recorder->processors; i++)
        statistics->processors += recorder->ring_of[i] >= 0;
    for (size_t i = 0; i < recorder->ring_count; i++)
        statistics->bytes += recorder->rings[i].data_bytes;
    if (recorder->unwinder)
        statistics->bytes +=
            unwinder_bytes(recorder->unwinder) + python_frames_bytes(recorder->python);
    if (recorder->python)
        python_frames_statistics(recorder->python, &statistics->python);
}

const char *recorder_note(const struct recorder *recorder) {
    struct python_statistics python = {0};
    if (recorder->python)
        python_frames_statistics(recorder->python, &python);
    if (recorder->unprobed && python.samples)
        return "Python's functions are not shown of all samples: the kernel runs no BPF program "
               "for one of these events";
    return recorder->python ? python_frames_note(recorder->python) : NULL;
}
