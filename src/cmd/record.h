/* culprit record: what its files share. */
#ifndef CULPRIT_CMD_RECORD_H
#define CULPRIT_CMD_RECORD_H

#include <limits.h>
#include <stdio.h>

#include "cmd/live_options.h"
#include "cmd/options.h"
#include "live/attribution.h"
#include "live/recorder.h"
#include "trace/trace.h"

struct record_request {
    char **command; /* NULL: --pid */
    pid_t pid;
    const char *store; /* NULL: the default one */
    struct output_options output;
    struct live_options sampled;
    double seconds; /* 0: as long as it runs */
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
    struct attribution_statistics attributed;
    struct recorder_statistics recorded;
    const char *note; /* NULL: none */
    struct trace_exit exit;
};

/* Records and saves. *status: what to end with when it fails. What could be collected is saved, and
 * told in *recording (session 0: nothing was saved), also on failure. */
bool record_run(const struct record_request *request, struct recording *recording, int *status,
                struct error *error);

bool record_report(const struct record_request *request, const struct recording *recording,
                   FILE *file, struct error *error);

#endif
