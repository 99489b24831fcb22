/* A trace in a file: of a command that is captured, or of a file that another tool wrote; read once
 * more afterwards, to see that it can be. */
#pragma once

#include "study/input.h"
#include "trace/convert.h"

struct captured_file {
    /* Set before. */
    struct watch *watch;
    const struct input_options *input; /* the command; of `import` only the thread */
    const char *import;                /* a file that is read in place of a command; NULL: none */
    const char *path;                  /* "-": standard output */
    bool champsim;                     /* in that simulator's format */
    bool compress, no_addresses, no_check;
    enum check_depth check;             /* unless no_check */
    const volatile sig_atomic_t *begin; /* as of struct capture_options */

    struct capture_result result;
    struct champsim_lost lost; /* of that format */
};

/* After an interrupt the file has what came until then, and is not read again. A trace without an
 * instruction is an error. False with result.instructions: the file is there, but something is
 * wrong with it. *exec_status is set when a command cannot be run. */
bool captured_file_go(struct captured_file *file, int *exec_status, struct error *error);

/* trace_check(), which is watched. `written`: what is known to be in it, may be NULL. */
bool captured_file_check(struct watch *watch, const char *path, enum check_depth depth,
                         const struct capture_result *written, struct error *error);
