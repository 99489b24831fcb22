/* What the kernel accounts of the runs of a command. Measured by study/usage.h. */
#pragma once

#include "live/event.h"
#include "trace/trace.h"

/* Of the command and those of its processes that were waited for. */
struct usage {
    double wall, user, system; /* seconds: from its start to its end; of processor time */
    uint64_t resident_bytes;   /* of the process that was largest */
    uint64_t minor_faults;     /* pages that were there already, or made */
    uint64_t major_faults;     /* pages that were read from a disk */
    uint64_t waits;            /* context switches: it waited; or */
    uint64_t preemptions;      /* it could have gone on */
    struct live_event_times counts[LIVE_EVENTS_MAX]; /* of the events asked for */
};

struct usages {
    struct usage *runs;
    size_t count;
    struct live_event events[LIVE_EVENTS_MAX];
    size_t event_count;
    bool user_only;         /* events of user code alone: the kernel's are not permitted */
    struct trace_exit exit; /* of the last */
    bool partial;           /* a signal came, or a run failed, before all were done */
};
