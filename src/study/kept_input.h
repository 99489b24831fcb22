/* The standard input of a command that is run twice: the second run must read what the first did.
 *
 * A regular file is read again from where it stood. A pipe or socket is copied, while the first run
 * reads it, into a temporary file without a name; for that it is read ahead of the command by what
 * a pipe holds. A terminal cannot be read again: the second run finds it at its end. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

struct watch;

struct kept_input {
    int first;    /* the first run's standard input; 0: culprit's own */
    int file;     /* the copy; −1: none */
    int to, stop; /* the other end of the first run's pipe; tells the thread to stop */
    off_t offset; /* of a regular file; −1: it is none */
    pthread_t thread;
    bool copying;
    atomic_bool enough; /* what the first run reads from now on need not be kept */
    atomic_int failure; /* errno of the copy; 0: none */
};

/* For a command that is run more often than that: reads a pipe or socket to its end, into a
 * temporary file that takes its place as culprit's own standard input. Before the first run; then
 * what follows finds a regular file. Says so where it takes long; an interrupt is an error. */
bool kept_input_read_all(struct watch *watch, struct error *error);

/* Before the first run. */
bool kept_input_start(struct kept_input *input, struct error *error);
/* A second run will not read more than the first has. False: not all of that is kept. */
bool kept_input_enough(struct kept_input *input, struct error *error);
/* The first run has ended. False: not all that it read is kept, up to where it was enough. */
bool kept_input_end(struct kept_input *input, struct error *error);
/* A descriptor, the caller's, to begin with once more; −1 with an error. */
int kept_input_again(const struct kept_input *input, struct error *error);
/* All zero, or started. */
void kept_input_free(struct kept_input *input);
