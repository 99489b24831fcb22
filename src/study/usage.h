/* A command run on this machine, again and again: what the kernel accounts of each run. */
#pragma once

#include "live/event.h"
#include "study/study.h"

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

struct usage_request {
    struct watch *watch;
    char **command;
    const int *descriptors; /* its standard streams, as of command_start(); NULL: the caller's */
    uint32_t runs;          /* ≥ 1 */
    const char *events;     /* to be counted, too; NULL: none */
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

/* Runs it until all runs are done, one fails (its figures count), or a signal comes, which is
 * passed on: the run that it ends counts when it is the first. *exec_status becomes 126 or 127 when
 * the command cannot be run or found. usages_free() either way. */
bool usage_measure(const struct usage_request *request, struct usages *usages, int *exec_status,
                   struct error *error);
void usages_free(struct usages *usages);
