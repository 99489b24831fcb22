/* A basic block measured by itself, natively or on a simulated machine, by BHive's method (Chen et
 * al. 2019 §3): copies of it run in a row, from registers that all hold BLOCK_VALUE and memory
 * that holds it everywhere. It is an address as well: whatever addresses the block makes of it have
 * memory, which stays in the L1, as there is little of it (HOST_FRAMES). The paper has one page of
 * it; then a load may depend on a store to another address, which processors find late and models
 * do not know. Denormal numbers are taken for zero. Two numbers of copies are run, and what more of
 * them cost is the block's.
 *
 * Blocks may be hostile: kernels run in children (host/child.h). */
#pragma once

#include "host/meter.h"

#define BLOCK_VALUE UINT64_C(0x72345600)
enum { BLOCK_MOST_BYTES = 1024, BLOCK_MOST_INSTRUCTIONS = 300 };

struct block {
    uint8_t code[BLOCK_MOST_BYTES]; /* as it is run */
    size_t size;
    unsigned instructions;
    uint32_t features;               /* that a processor must have (enum host_feature) */
    unsigned copies[2];              /* the second twice the first */
    uint64_t pages[HOST_MOST_PAGES]; /* that it touches */
    size_t page_count;
    char failure[120]; /* why it cannot be run; empty: it can, as far as is known */
};

/* From the machine code of a basic block of x86-64, which lies at `address` in its program. A
 * branch at its end is left out. What it addresses relative to its own place, or absolutely in a
 * segment, lies as far from the beginning of the page of BLOCK_VALUE; other segments are left out.
 * False: block->failure says why it cannot be run. */
bool block_read(struct block *block, const uint8_t *bytes, size_t size, uint64_t address);

/* Runs blocks natively, as often as they find pages missing, and fills in their pages, or what they
 * do that cannot be done. `watcher` may be all zero. False: no child can be had. */
bool blocks_place(struct block *blocks, size_t count, const struct watcher *watcher,
                  struct error *error);

/* Cycles of each block on what the meter measures. Those that cannot be run are HOST_FAILED. */
bool blocks_measure(const struct block *blocks, size_t count, struct host_meter *meter,
                    struct host_result *results, struct error *error);
