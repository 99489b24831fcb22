/* Samples of a command or process, as an epoch of the profile database. */
#pragma once

#include <limits.h>

#include "live/event.h"
#include "live/recorder.h"
#include "live/resolver.h"
#include "trace/trace.h"

enum { RECORDING_RUNNING_TOLD = 4 };

struct recording {
    struct live_event events[LIVE_EVENTS_MAX];
    struct live_event_times times[LIVE_EVENTS_MAX]; /* that they were sampled */
    size_t event_count;
    char name[1024]; /* the command */
    char store[PATH_MAX];
    int64_t session;
    double seconds;
    bool partial; /* interrupted */
    struct resolver_statistics attributed;
    struct recorder_statistics recorded;
    const char *note;     /* NULL: none */
    char stack_note[512]; /* as recorder_note(); empty: none */
    struct trace_exit exit;
    size_t running; /* processes of the command that were there when it had ended */
    uint32_t running_pids[RECORDING_RUNNING_TOLD];
};
