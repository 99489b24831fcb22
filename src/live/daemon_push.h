/* Inside of this room: the daemon's epochs on their way to a server. A thread of its own sends
 * them, in order, with a connection of its own to the store, so that sampling and merging never
 * wait for the network. While the server is away they wait in the store, and it asks again, after a
 * second first, every five minutes at last. */
#pragma once

#include "live/daemon.h"

struct daemon_push;

struct daemon_push_status {
    uint64_t waiting, waiting_bytes; /* epochs, as far as is known */
    uint64_t sent, given_up;         /* since the daemon began */
    double last;                     /* clock, when the last was sent; < 0: not yet */
    char problem[1024];              /* why it cannot send; empty: it can, or has nothing to */
};

/* Begins with what waits since before. NULL: no thread can be made. `options` and `host` outlive
 * it. */
struct daemon_push *daemon_push_begin(const struct daemon_options *options, const char *host,
                                      struct error *error);
/* So many wait now, and some were given up: sends them. */
void daemon_push_wake(struct daemon_push *push, uint64_t waiting, uint64_t bytes,
                      uint64_t given_up);
void daemon_push_read(struct daemon_push *push, struct daemon_push_status *status);
/* Sends once more what waits, for some seconds. NULL: nothing to do. */
void daemon_push_end(struct daemon_push *push);
