/* A progress that has not been started, or has finished, is silent. */
#include "cmd/limit.h"

#include <stdio.h>

#include "util/text.h"

static void show_waiting(void *context) {
    struct progress *progress = context;
    char what[200], of[64] = "";
    if (progress->total)
        snprintf(of, sizeof of, " of %s instructions", text_count(progress->total).s);
    snprintf(what, sizeof what, "limit%s reached; the command runs on (--stop ends it)", of);
    progress_wait(progress, what);
}

static void show_outlived(void *context) {
    progress_wait(context, "the command has ended; what it started runs on (Ctrl-C ends it)");
}

void limit_watch(struct capture_options *capture, bool stop, struct progress *progress) {
    capture->stop_at_limit = stop;
    capture->waiting = progress ? show_waiting : NULL;
    capture->outlived = progress ? show_outlived : NULL;
    capture->waiting_context = progress;
}
