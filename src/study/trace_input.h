/* A run that may be read more than once: a trace file, or a command or pipe whose trace
 * is kept in a temporary file while it is read for the first time. */
#pragma once

#include "simulate/selection.h"
#include "study/input.h"
#include "study/study.h"

struct trace_input {
    struct watch *watch;
    struct trace *trace; /* read once, then for its names and notes */
    bool live;
    struct selection selection; /* for reading `trace` */
    const char *file;           /* a regular file that it is read from; NULL: a command, a pipe */
    char *path;                 /* to read it again; NULL: it is not to be */
    struct selection again;     /* for reading that */
    bool kept;                  /* in `path`, while `trace` is read */
};

/* `number`: of the traces given; 0: the command or the first trace. `folder`: where the trace is
 * kept; NULL: it is not to be read again. False with *exec_status set when a command cannot be run.
 * trace_input_close() either way. */
bool trace_input_open(struct trace_input *input, struct watch *watch,
                      const struct input_options *options, uint32_t number, const char *folder,
                      int *exec_status, struct error *error);
/* The trace was read as far as it is wanted; the rest of a live one is read as well. */
bool trace_input_end(struct trace_input *input, struct error *error);
/* In place of a study: what is not in a file yet is read to its end, to be kept; at most `limit`
 * instructions if that is not 0. An interrupt may leave the last of it torn. */
bool trace_input_read(struct trace_input *input, uint64_t limit, struct error *error);
/* It is not to be read again after all. */
void trace_input_forget(struct trace_input *input);
void trace_input_close(struct trace_input *input);

/* Its command, or the file that it comes from as a short name for a column; the caller's. */
char *trace_input_label(const struct input_options *options, uint32_t number);
