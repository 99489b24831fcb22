/* Asks the running daemon to do something, by signals, and waits until it has done it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

enum daemon_request {
    DAEMON_FLUSH,     /* write what it has counted to its store */
    DAEMON_NEW_EPOCH, /* the same, and begin another epoch */
    DAEMON_STOP       /* the same, and end */
};

/* Asks, and returns when it is done; *pid becomes the daemon's process number. False: none runs, it
 * cannot be signalled, it cannot write (then it goes on counting, or has ended with the loss that
 * the error tells), or it takes over a minute. */
bool daemon_request(enum daemon_request request, pid_t *pid, struct error *error);
