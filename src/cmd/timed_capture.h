/* --for TIME: a server must not wait while it is simulated, or its clients would. It is captured to
 * a temporary file first, for that time, and simulated from there. */
#ifndef CULPRIT_CMD_TIMED_CAPTURE_H
#define CULPRIT_CMD_TIMED_CAPTURE_H

#include "trace/trace.h"

struct timed_capture {
    char *path;             /* of the trace, which the caller frees and removes */
    struct trace_exit exit; /* of the command */
    int signal;             /* that ended the capture early, and is forgotten; 0: none */
};

/* One line on standard error: for how long, and what the command's clients will see. */
void timed_capture_announce(double seconds);

/* False with *exec_status as trace_capture(). */
bool timed_capture(const struct capture_options *options, struct timed_capture *capture,
                   int *exec_status, struct error *error);

#endif
