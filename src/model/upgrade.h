/* Machines that lose less to long data misses than a given one: a larger window, more MSHRs,
 * another prefetcher of the L1D. Each is a list of settings, so that `--set` makes the same. */
#pragma once

#include <stdint.h>

#include "machine/machine.h"

enum upgrade_kind {
    UPGRADE_WINDOW, /* reorder buffer, and in proportion what else bounds what is in flight: queues,
                       registers, branches, fetch packets */
    UPGRADE_MSHRS,  /* of all data caches, and the queue of the memory controller */
    UPGRADE_BOTH,
    UPGRADE_PREFETCHER
};

enum { UPGRADES_MOST = 9, UPGRADE_SETTINGS = 20 };

struct upgrade {
    enum upgrade_kind kind;
    uint32_t times;     /* as large; 1 of a prefetcher */
    const char *name;   /* "rob", "mshrs", "rob+mshrs"; of the prefetcher: "tagged" */
    uint32_t now, then; /* of the reorder buffer or the MSHRs; else 0 */
    char settings[UPGRADE_SETTINGS][40]; /* "core.rob=512" */
    uint32_t setting_count;
    struct machine machine;
};

/* Those that the machine can be given: a window and MSHRs, alone and together, twice and four times
 * as large, unless they are unlimited or become larger than a machine can be; next_line, tagged
 * and stride prefetchers where the L1D has none, of tagged and stride those that it has not where
 * it has one. Returns how many. */
uint32_t upgrades_of(const struct machine *machine, struct upgrade upgrades[UPGRADES_MOST]);
