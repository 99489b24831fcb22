/* Epochs are removed from a store while a daemon may write to it: the one that it writes stays, and
 * what waits to be sent to a server. */
#pragma once

#include <sys/types.h>

#include "store/store.h"

/* The epoch that a daemon writes. Without a daemon one that has not ended is of a writer that died,
 * and may go. */
struct ongoing_epoch {
    int64_t session; /* 0: none */
    int64_t saved;   /* last, ns since 1970 */
    pid_t daemon;
};

/* Removes all of these epochs, or none: one that goes on is an error. */
bool store_upkeep_remove(struct store *store, const int64_t *epochs, size_t count,
                         struct error *error);

struct store_upkeep_pruned {
    uint64_t removed;
    size_t waiting; /* epochs to be sent, which stay */
    struct ongoing_epoch
        ongoing; /* stays; session 0: nothing that goes on would have been removed */
};
/* What ended before a moment (ns since 1970; 0: nothing for age), and the oldest until the store
 * takes at most so many bytes (0: no limit). */
bool store_upkeep_prune(struct store *store, int64_t before, uint64_t bytes,
                        struct store_upkeep_pruned *pruned, struct error *error);
