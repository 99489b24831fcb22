/* What recorder.c and recorder_events.c share. Inside of the recorder. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "live/jit_names.h"
#include "live/perf_ring.h"
#include "live/python_frames.h"
#include "live/recorder.h"
#include "live/replay.h"
#include "live/unwinder.h"
#include "util/clock.h"

static const struct live_roots RECORDER_ROOTS = {.proc = "/proc", .sys = "/sys", .files = ""};

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

static inline uint64_t recorder_now(void) {
    return (uint64_t)clock_nanoseconds(CLOCK_MONOTONIC);
}

/* Opens and, but for a command that waits to be executed, enables all events of the process, or of
 * the machine. */
bool recorder_open(struct recorder *recorder, pid_t process, struct error *error);

/* Once all are open; NULL: none has this id. */
const struct counter *recorder_counter(const struct recorder *recorder, uint64_t id);

bool recorder_is_hardware(const struct live_event *event);
