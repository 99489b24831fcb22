/* Samples of a command, or of a process that runs, saved as an epoch of the profile database. */
#ifndef CULPRIT_STUDY_RECORD_H
#define CULPRIT_STUDY_RECORD_H

#include <limits.h>

#include "live/recorder.h"
#include "live/resolver.h"
#include "study/study.h"

struct recording_request {
    struct watch *watch;
    char **command; /* NULL: `pid` */
    pid_t pid;
    const char *store;  /* NULL: the default one */
    const char *events; /* NULL: what the machine has (live_events_choose) */
    double rate;        /* samples per second and processor */
    double seconds;     /* 0: as long as it runs */
};

/* What was recorded. */
struct recording {
    struct live_event events[LIVE_EVENTS_MAX];
    size_t event_count;
    char name[1024]; /* the command */
    char store[PATH_MAX];
    int64_t session;
    double seconds;
    bool partial; /* interrupted */
    struct resolver_statistics attributed;
    struct recorder_statistics recorded;
    const char *note; /* NULL: none */
    struct trace_exit exit;
};

/* Records until the command or process ends, `seconds` are over, or a signal comes: of a command it
 * is passed on. *exec_status becomes 126 or 127 when the command cannot be run or found. What could
 * be collected is saved, and told in *recording (session 0: nothing was saved), also on failure. */
bool record_run(const struct recording_request *request, struct recording *recording,
                int *exec_status, struct error *error);

#endif
