/* Collects from the whole machine until it is told to stop (DCPI §4.3): drains the kernel's tables,
 * attributes, merges into the store, begins new epochs, keeps the store within its bounds.
 *
 * SIGTERM and SIGINT: merge and stop. SIGUSR1: merge now. SIGHUP: merge, then begin a new epoch.
 * The caller blocks them before it starts threads. A killed daemon loses what was not merged;
 * everything merged is in the store. When merging fails (a full disk) it goes on counting, within
 * its memory, tries again at the next merge, and tells. */
#pragma once

#include <signal.h>

#include "live/slices.h"

struct daemon_options {
    const char *store;
    const char *push;     /* address of a server that epochs are sent to when they have ended; NULL:
                             none */
    uint64_t queue_bytes; /* of epochs that wait to be sent, at most; the oldest are given up */
    const struct live_event *events;
    size_t event_count;
    double rate;          /* samples per second and processor that the events' periods stand for */
    double budget;        /* share of the busy time that sampling may cost: the rate falls until it
                             does not cost more; 0: the rate stays */
    double drain_seconds; /* > 0 */
    double merge_seconds; /* ≥ drain_seconds */
    double epoch_seconds; /* a new epoch after so long; 0: only at SIGHUP */
    double keep_seconds;  /* epochs that ended longer ago are removed; 0: none */
    double keep_slices_seconds; /* of epochs that ended longer ago slices are forgotten */
    uint64_t keep_bytes;        /* the oldest epochs are, when the store grows over this; 0: none */
    bool no_symbols;            /* names are not kept with the samples */
    uint32_t stack_bytes; /* copied of each sample's stack to find its callers; 0: no callers */
    struct sample_slicing slicing;
    size_t entries;                /* kept in memory between merges, at most about */
    void (*say)(const char *line); /* what happens, for a log */
};

/* The signals that it handles. */
void daemon_signals(sigset_t *signals);

/* Returns when it was told to stop: true when everything was merged. False: it could not begin, or
 * not merge at the end. */
bool daemon_run(const struct daemon_options *options, struct error *error);
