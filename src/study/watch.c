/* A progress that has not been started, or has finished, is silent. */
#include "study/study.h"
#include "util/text.h"

void watch_interrupt(struct watch *watch, int signal) {
    watch->signal = signal;
    struct trace *trace = atomic_load(&watch->trace);
    struct region_capture *regions = atomic_load(&watch->regions);
    if (trace)
        trace_interrupt(trace);
    if (regions)
        region_capture_interrupt(regions);
}

void watch_interrupt_other(struct watch *watch, int signal) {
    pthread_mutex_lock(watch->lock);
    watch_interrupt(watch, signal);
    pthread_mutex_unlock(watch->lock);
}

static void lock(struct watch *watch) {
    if (watch->lock)
        pthread_mutex_lock(watch->lock);
}

static void unlock(struct watch *watch) {
    if (watch->lock)
        pthread_mutex_unlock(watch->lock);
}

int watch_take(struct watch *watch) {
    int taken = watch->signal;
    watch->signal = 0;
    return taken;
}

void watch_trace(struct watch *watch, struct trace *trace) {
    lock(watch);
    atomic_store(&watch->trace, trace);
    if (trace && watch->signal)
        trace_interrupt(trace);
    unlock(watch);
}

void watch_regions(struct watch *watch, struct region_capture *regions) {
    lock(watch);
    atomic_store(&watch->regions, regions);
    if (regions && watch->signal)
        region_capture_interrupt(regions);
    unlock(watch);
}

static void show_waiting(void *context) {
    struct progress *progress = &((struct watch *)context)->progress;
    char what[200], of[64] = "";
    if (progress->total)
        snprintf(of, sizeof of, " of %s instructions", text_count(progress->total).s);
    snprintf(what, sizeof what, "limit%s reached; the command runs on (--stop ends it)", of);
    progress_wait(progress, what);
}

static void show_outlived(void *context) {
    progress_wait(&((struct watch *)context)->progress,
                  "the command has ended; what it started runs on (Ctrl-C ends it)");
}

static void tell_stuck(void *context, const char *text) {
    const struct watch *watch = context;
    char line[512];
    snprintf(line, sizeof line, "%s (Ctrl-C ends it)", text);
    if (watch->tell)
        watch->tell(line);
}

void watch_limit(struct watch *watch, struct capture_options *capture, bool stop) {
    capture->stop_at_limit = stop;
    capture->waiting = show_waiting;
    capture->outlived = show_outlived;
    capture->stuck = tell_stuck;
    capture->waiting_context = watch;
}

void watch_begin(struct watch *watch, const char *label, const char *unit, uint64_t total) {
    progress_start(&watch->progress, watch->stream, label, unit, total);
}

void watch_begin_within(struct watch *watch, const char *label, const char *unit, uint64_t most) {
    progress_start_within(&watch->progress, watch->stream, label, unit, most);
}

void watch_end(struct watch *watch) {
    progress_finish(&watch->progress);
}

void watch_progress(void *context, uint64_t done) {
    struct watch *watch = context;
    progress_update(&watch->progress, done);
    if (watch->observe)
        watch->observe(watch->context, &watch->progress);
}

struct watcher watcher_of(struct watch *watch) {
    return (struct watcher){watch_progress, watch, &watch->signal};
}

void watch_progress_of(void *context, uint64_t done, uint64_t total) {
    struct watch *watch = context;
    progress_set_total(&watch->progress, total);
    watch_progress(watch, done);
}

void watch_region_capture(void *context, const struct region_capture_progress *sofar) {
    watch_progress(context, sofar->instructions);
}
