/* An L1D with a prefetcher, large enough that nothing is evicted. Not built by the Makefile as a
 * test of its own. */
#pragma once

#include "memory/hierarchy.h"
#include "unit/memory_machine.h"

static inline struct memory *prefetching(enum prefetcher_kind kind, uint32_t degree) {
    struct machine machine = small_machine();
    machine.l1d.size = 8192; /* 64 sets: nothing is evicted here */
    machine.l1d.prefetcher = kind;
    machine.l1d.prefetch_degree = degree;
    return new_memory(&machine, 0);
}

static inline bool has(const struct memory *memory, uint64_t address) {
    return cache_find(&memory->l1d, address) != CACHE_NONE;
}
