/* Standard output and error of a command's second run: of the same kind as the first run's, since
 * programs look (a terminal, /dev/null, anything else), but nobody sees it. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "util/error.h"

struct muted_output {
    int files[2]; /* for the command's output and error */
    int ends[2];  /* from which they are read and forgotten; −1: nobody needs to */
    int stop;
    pthread_t thread;
    bool reading, opened;
};

bool muted_output_open(struct muted_output *output, struct error *error);
/* All zero, or opened. */
void muted_output_close(struct muted_output *output);
