/* What the files of the daemon share: daemon.c (its loop, drains and rate), daemon_store.c (epochs
 * and merging), daemon_push.c (epochs on their way to a server), daemon_answer.c (what it tells of
 * itself). */
#pragma once

#include <sys/stat.h>

#include "live/budget_meter.h"
#include "live/daemon.h"
#include "live/resolver.h"
#include "live/scaling.h"
#include "live/source.h"
#include "store/store.h"
#include "util/clock.h"

struct daemon_push;

struct daemon {
    const struct daemon_options *options;
    /* As they are now, and as they were when what is gathered was sampled. */
    struct live_event sampled[LIVE_EVENTS_MAX], gathered[LIVE_EVENTS_MAX];
    struct live_event stored[LIVE_EVENTS_MAX]; /* as gathered, of counters that took turns */
    struct live_scaling scaling;
    struct budget budget;
    struct budget_meter meter;
    double next_adjustment;
    struct live_source source;
    struct resolver *resolver;
    struct live_host host;
    int lock, signals, socket;
    int last; /* socket of those who wait for what it tells when it ends */
    char socket_path[PATH_MAX], last_path[PATH_MAX];
    double began, drained, merged; /* clock; drained, merged < 0: not yet */
    double next_drain, next_merge, next_names;
    bool stop;

    struct store *store;             /* NULL but while it is read or written */
    struct stat file;                /* of the store, when it was opened last */
    int64_t session;                 /* 0: begun at the next merge */
    int64_t whole;                   /* the last epoch of which no slices are left; 0: not known */
    int64_t events[LIVE_EVENTS_MAX]; /* of the session */
    bool resampled;                  /* these have other periods */
    int64_t epoch_start;             /* ns since 1970 */
    double epoch_began;              /* clock */
    uint64_t unknown_before, dropped_before; /* the epoch */

    struct daemon_push *push; /* NULL: epochs are not sent */
    uint64_t drains, merges, failed_merges;
    uint64_t written;   /* samples in the store */
    char problem[1024]; /* of the last merge; empty: none */
};

/* Nobody can set this clock. */
static inline double daemon_now(void) {
    return clock_seconds(CLOCK_BOOTTIME);
}
static inline double daemon_ago(double time) {
    return time < 0 ? -1 : daemon_now() - time;
}

/* A line of the log. */
__attribute__((format(printf, 2, 3))) void daemon_say(const struct daemon *daemon,
                                                      const char *format, ...);
uint64_t daemon_drained(const struct daemon *daemon);   /* samples */
uint64_t daemon_unwritten(const struct daemon *daemon); /* those in the kernel, too */

/* Whether the store can be used; epochs that a daemon before left open are ended. */
bool daemon_check_store(struct daemon *daemon, struct error *error);
/* From the last drain on: what the kernel holds by now is of the new epoch. */
void daemon_begin_epoch(struct daemon *daemon);
/* Writes what is gathered. A failure stands in daemon->problem, and is said once. `ended`: the
 * epoch ended with the last drain. */
void daemon_merge(struct daemon *daemon, bool ended);

/* Answers whoever asks at the socket; false: nobody does. */
bool daemon_answer(const struct daemon *daemon, int socket);
