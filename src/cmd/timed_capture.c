/* A signal asks to end the capture, not the simulation behind it; the next one asks for that. */
#include "cmd/timed_capture.h"

#include <stdio.h>

#include "cmd/interrupt.h"
#include "study/temporary.h"
#include "util/text.h"

void timed_capture_announce(double seconds) {
    fprintf(stderr,
            "culprit: the command runs for %s at most and is then asked to end (SIGTERM); a server "
            "answers some 4 to 6 times later meanwhile (measured with redis-server)\n",
            text_duration(seconds).s);
}

bool timed_capture(const struct capture_options *options, struct timed_capture *capture,
                   int *exec_status, struct error *error) {
    struct capture_options watched = *options;
    struct capture_result result = {0};
    *capture =
        (struct timed_capture){.path = temporary_trace(&verb_watch.temporaries, "--for", error)};
    if (!capture->path)
        return false;
    timed_capture_announce(options->seconds);
    watch_limit(&verb_watch, &watched, options->stop_at_limit);
    watched.stop = &verb_watch.signal;
    *exec_status = 0;
    watch_begin_within(&verb_watch, "capturing", "instructions", options->limit);
    bool good = trace_record(&watched, capture->path, false, watch_capture, &verb_watch, &result,
                             exec_status, error);
    watch_end(&verb_watch);
    capture->exit = result.exit;
    capture->signal = watch_take(&verb_watch);
    if (good && !result.instructions)
        good = error_set(error, "no instruction was captured: the command executed none in %s",
                         capture->signal ? "the time until the interrupt"
                                         : text_duration(options->seconds).s);
    return good;
}
