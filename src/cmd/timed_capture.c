/* A signal asks to end the capture, not the simulation behind it; the next one asks for that. */
#include "cmd/timed_capture.h"

#include <stdio.h>

#include "cmd/interrupt.h"
#include "cmd/limit.h"
#include "cmd/temporary.h"
#include "util/progress.h"
#include "util/text.h"

void timed_capture_announce(double seconds) {
    fprintf(stderr,
            "culprit: the command runs for %s at most and is then asked to end (SIGTERM); a server "
            "answers some 4 to 6 times later meanwhile (measured with redis-server)\n",
            text_duration(seconds).s);
}

static void show_progress(void *context, const struct capture_result *sofar) {
    progress_update(context, sofar->instructions);
}

bool timed_capture(const struct capture_options *options, struct timed_capture *capture,
                   int *exec_status, struct error *error) {
    struct progress progress;
    struct capture_options watched = *options;
    struct capture_result result = {0};
    *capture = (struct timed_capture){.path = temporary_trace("--for", error)};
    if (!capture->path)
        return false;
    timed_capture_announce(options->seconds);
    limit_watch(&watched, options->stop_at_limit, &progress);
    watched.stop = &interrupt_signal;
    *exec_status = 0;
    progress_start_within(&progress, stderr, "capturing", "instructions", options->limit);
    bool good = trace_record(&watched, capture->path, false, show_progress, &progress, &result,
                             exec_status, error);
    progress_finish(&progress);
    capture->exit = result.exit;
    capture->signal = interrupt_take();
    if (good && !result.instructions)
        good = error_set(error, "no instruction was captured: the command executed none in %s",
                         capture->signal ? "the time until the interrupt"
                                         : text_duration(options->seconds).s);
    return good;
}
