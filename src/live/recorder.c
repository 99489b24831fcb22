/* Events are opened on every processor, inherited by threads and children (an inherited event can
 * have a ring buffer only when it is bound to a processor); all of one processor write to one ring.
 * Records are stamped with a clock that we can read too: what is older than the beginning of the
 * last round but one is complete in all rings, and is delivered in the order of its time. */
#include "live/recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "live/event.h"
#include "live/kernel_map.h"
#include "live/perf_record.h"
#include "live/recorder_internal.h"
#include "live/walked_stack.h"
#include "util/array.h"
#include "util/random.h"

static const uint64_t PERIOD_INTERVAL_NS = 1000000000; /* between new periods */
/* At first, so that names of a file are read before a short command that has removed it ends; and
 * with a probe whenever a program begins: an interpreter is followed as soon as what it maps was
 * read. */
static const uint64_t QUICK_NS = 500000000;
enum { QUICK_INTERVAL_MS = 4 };

static bool time_waits(struct recorder *recorder) {
    struct waits_options options = {.blocked = (uint32_t)recorder->event_count - 2,
                                    .runnable = (uint32_t)recorder->event_count - 1,
                                    .placed = recorder->events[recorder->event_count - 2].kernel};
    kernel_map_scheduler(&RECORDER_ROOTS, &options.scheduler_start, &options.scheduler_end);
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
        recorder->unwinder = unwinder_new(&RECORDER_ROOTS);
        recorder->probe = sample_probe_new(recorder->processors, &not_permitted);
        recorder->python = python_frames_new(&RECORDER_ROOTS, recorder->probe);
        if (recorder->probe && recorder->unwinder)
            unwinder_share(recorder->unwinder, recorder->probe);
    }
    if (!(recorder->jit = jit_names_new(&RECORDER_ROOTS, sink)))
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
        recorder->random = recorder_now();
    recorder->seed = random_next(&recorder->random);
    bool good = allocate(recorder, sink);
    if (!good)
        error_set(error, "out of memory for the events");
    if (!good || !recorder_open(recorder, options->process, error)) {
        recorder_free(recorder);
        return NULL;
    }
    recorder->next_period = recorder_now() + PERIOD_INTERVAL_NS;
    recorder->quick = recorder_now() + QUICK_NS;
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
        const struct counter *counter = recorder_counter(recorder, record.id);
        if (!counter || is_twice(recorder, counter, record.tid))
            return true;
        event = counter->event;
    }
    if (record.type == PERF_RECORD_EXIT)
        forget_thread(recorder, record.tid);
    if (record.type == PERF_RECORD_COMM && record.exec && recorder->probe)
        recorder->quick = recorder_now() + QUICK_NS;
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
    uint64_t begin = recorder_now();
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
    const bool quick = recorder_now() < recorder->quick;
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
           replay_finish(recorder->replay, recorder_now(), error) &&
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
        if (!recorder_is_hardware(&recorder->events[i]))
            times[i].enabled = times[i].running;
        else if (!recorder->machine)
            times[i].enabled = reference.running;
}

size_t recorder_running(const struct recorder *recorder, uint32_t *pids, size_t most) {
    return replay_running(recorder->replay, pids, most);
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
