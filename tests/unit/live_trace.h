/* A command under capture, without input and with its output discarded; cmocka must be included
 * before. */
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "trace/trace.h"

/* Beyond so many instructions, only how often blocks are executed. */
static inline struct trace *live_counts(const char *const *command, struct capture_counts counted) {
    struct error error = {0};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
    struct capture_options options = {.command = (char *const *)command,
                                      .thread = -1,
                                      .addresses = true,
                                      .counted = counted,
                                      .descriptors = {null, null, null}};
    struct trace *trace = trace_capture(&options, &status, &error);
    close(null);
    if (!trace)
        fail_msg("%s", error.message);
    return trace;
}

static inline struct trace *live_trace(const char *const *command) {
    return live_counts(command, (struct capture_counts){0});
}
