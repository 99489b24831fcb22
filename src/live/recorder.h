/* Samples of one command and its children, of a process that runs already with all its threads and
 * later children, or of the whole machine: plain perf ring buffers, which need no privilege where
 * kernel.perf_event_paranoid is at most 2 (user code alone). */
#pragma once

#include <sys/types.h>

#include "live/live.h"
#include "live/python_frames.h"

struct recorder;

struct recorder_statistics {
    uint64_t samples;       /* delivered so far */
    uint64_t dropped;       /* records that the kernel found no room for, most of them samples */
    uint64_t dropped_tasks; /* of them, of what is told of processes and threads, at most */
    uint32_t processors;    /* that are sampled */
    uint64_t bytes;         /* of ring buffers and unwind tables */
    struct python_statistics python;
};

struct recorder_options {
    const struct live_event *events;
    size_t event_count; /* ≤ LIVE_EVENTS_MAX */
    bool machine;       /* all processes: in place of */
    pid_t process;
    bool waits;           /* it is stopped before its exec */
    bool times_waits;     /* the last two events are those of waits (waits.h) */
    uint32_t stack_bytes; /* copied to find the callers of a sample, where the stack cannot be
                             walked at once (of waits a quarter): a multiple of 8, at most
                             RECORDER_STACK_MAX; 0: no callers */
};
enum { RECORDER_STACK_MAX = 60 << 10 };

/* `process` is stopped before its exec (sampling begins with that), or runs already (it
 * begins now). Delivers to `sink` (copied). The error names the sysctl, the capability or the
 * process. */
struct recorder *recorder_new(const struct recorder_options *options, const struct live_sink *sink,
                              struct error *error);
void recorder_free(struct recorder *recorder);

/* Delivers what there is but for the newest, which might still be overtaken by what another
 * processor is writing; draws new sampling periods now and then. To be called every
 * RECORDER_INTERVAL_MS, and when a ring is filling: recorder_wait(). */
enum { RECORDER_INTERVAL_MS = 50 };
bool recorder_deliver(struct recorder *recorder, struct error *error);

/* Until the interval is over, a ring is half full, a signal has come, or `descriptor` (−1: none)
 * can be read. */
void recorder_wait(struct recorder *recorder, int descriptor);

/* Of the machine: can be read when a ring is filling. */
int recorder_descriptor(const struct recorder *recorder);

/* Samples at these events' periods from now on; they are its events but for that. */
void recorder_set_periods(struct recorder *recorder, const struct live_event *events);

/* Ends sampling and delivers all the rest. */
bool recorder_finish(struct recorder *recorder, struct error *error);

/* replay_running(). */
size_t recorder_running(const struct recorder *recorder, uint32_t *pids, size_t most);

/* How long each event could have been counted so far, and was, on all processors; `times` has room
 * for all. */
struct live_event_times;
void recorder_times(const struct recorder *recorder, struct live_event_times *times);

void recorder_statistics(const struct recorder *recorder, struct recorder_statistics *statistics);
/* One line that says what of the callers is not shown, and why; NULL: all well. */
const char *recorder_note(const struct recorder *recorder);
