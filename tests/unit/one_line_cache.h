/* Caches in which it is seen how long a line stays in a last level that others use too. Not built
 * by the Makefile as a test of its own. */
#pragma once

#include "machine/machine.h"

/* The L1D has one line, which any other takes; there is no L2, and no prefetcher of data. The LLC
 * keeps a line so many cycles after its last use, and all that come. */
static inline void share_last_cache(struct machine *machine, uint64_t retention) {
    machine->l1d.prefetcher = machine->l1d.second_prefetcher = machine->l1d.third_prefetcher =
        PREFETCH_NONE;
    machine->l1d.size = machine->l1d.line;
    machine->l1d.ways = 1;
    machine->l2 = (struct machine_cache){.present = false};
    machine->llc.retention = retention;
}
