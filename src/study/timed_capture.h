/* --for TIME: a server must not wait while it is simulated, or its clients would. It is captured to
 * a temporary file first, for that time, and simulated from there. */
#pragma once

#include "study/study.h"

struct timed_capture {
    char *path;             /* of the trace, which the caller frees and removes */
    struct trace_exit exit; /* of the command */
    int signal;             /* that ended the capture early, and is forgotten; 0: none */
};

/* False with *exec_status as trace_capture(). */
bool timed_capture(struct watch *watch, const struct capture_options *options,
                   struct timed_capture *capture, int *exec_status, struct error *error);
