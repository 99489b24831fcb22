/* A signal asks to end the capture, not the simulation behind it; the next one asks for that. */
#include "study/timed_capture.h"

#include "util/temporary.h"
#include "util/text.h"

bool timed_capture(struct watch *watch, const struct capture_options *options,
                   struct timed_capture *capture, int *exec_status, struct error *error) {
    const struct watcher watcher = watcher_of(watch);
    struct capture_options watched = *options;
    struct capture_result result = {0};
    *capture = (struct timed_capture){.path = temporary_trace(&watch->temporaries, "--for", error)};
    if (!capture->path)
        return false;
    watch_limit(watch, &watched, options->stop_at_limit);
    watched.stop = &watch->signal;
    *exec_status = 0;
    watch_begin_within(watch, "capturing", "instructions", options->limit);
    bool good = trace_record(&watched, capture->path, false, &watcher, &result, exec_status, error);
    watch_end(watch);
    capture->exit = result.exit;
    capture->signal = watch_take(watch);
    if (good && !result.instructions)
        good = error_set(error, "no instruction was captured: the command executed none in %s",
                         capture->signal ? "the time until the interrupt"
                                         : text_duration(options->seconds).s);
    return good;
}
