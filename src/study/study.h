/* Studies: what culprit does for one question, of the rooms below, without options and without a
 * report. A study takes a request and gives a result; it prints nothing and ends nothing.
 *
 * A watch is how a study is ended early, by a signal, and how it shows how far it is. It belongs to
 * whoever begins the study; one at a time may be under way in it. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "program/kept_files.h"
#include "trace/region_capture.h"
#include "trace/trace.h"
#include "util/progress.h"
#include "util/temporary.h"
#include "util/watcher.h"

struct watch {
    volatile sig_atomic_t signal; /* that asked to end; 0: none did. For the `stop` of options */
    volatile sig_atomic_t
        waits_for_command;                  /* as study/command_signals.h tells: then the next is */
    volatile sig_atomic_t signal_again;     /* kept here, and kills nothing; 0: none came */
    volatile sig_atomic_t finishes_file;    /* the second is kept there too, and ends the command
                                               that is captured; the third ends culprit at once */
    struct trace *_Atomic trace;            /* that it interrupts; NULL: none */
    struct region_capture *_Atomic regions; /* likewise */
    pthread_mutex_t *lock; /* where another thread interrupts: held meanwhile, and while either of
                              these is exchanged; NULL: this thread does, or its signal handler */
    struct temporaries temporaries; /* of the study */
    struct kept_files kept;         /* what ran in it, so that its names can be read afterwards */
    FILE *stream;                   /* where progress is drawn; NULL: nowhere */
    void (*tell)(const char *text); /* the user, at once; NULL: nobody is told */
    struct progress progress;       /* of the step under way */
    /* Called with it after each update; NULL: nothing is. */
    void (*observe)(void *context, const struct progress *progress);
    void *context;
};

/* A signal asks to end: safe in its handler. */
void watch_interrupt(struct watch *watch, int signal);
/* The same by another thread; watch->lock is not NULL. */
void watch_interrupt_other(struct watch *watch, int signal);
/* The signal that asked to end what was done so far, which is forgotten; 0: none did. What follows
 * is ended by the next one. */
int watch_take(struct watch *watch);
/* The trace to interrupt, at once if a signal came already; NULL: none (before it is closed). */
void watch_trace(struct watch *watch, struct trace *trace);
/* Likewise a capture of regions. */
void watch_regions(struct watch *watch, struct region_capture *regions);
/* The limit is `capture->limit`; `stop`: the command is killed there. While it runs on behind it,
 * the progress, which begins with that total, says so. */
void watch_limit(struct watch *watch, struct capture_options *capture, bool stop);

/* A step, as progress_start() and progress_start_within(). */
void watch_begin(struct watch *watch, const char *label, const char *unit, uint64_t total);
void watch_begin_within(struct watch *watch, const char *label, const char *unit, uint64_t most);
void watch_end(struct watch *watch);

/* The watch for options of rooms that are watched. */
struct watcher watcher_of(struct watch *watch);
/* Callbacks of rooms that tell how far they are; `context` is a watch. */
void watch_progress(void *context, uint64_t done);
void watch_progress_of(void *context, uint64_t done, uint64_t total);
void watch_region_capture(void *context, const struct region_capture_progress *sofar);
