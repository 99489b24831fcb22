/* Which lines a prefetcher asks for after a demand access to its cache: an address step and a
 * number of steps. hierarchy.c then fetches those that are not there.
 *
 * Stride (Baer and Chen 1991): a reference prediction table of 128 entries, 4-way LRU, indexed by
 * static instruction. Of an access at `address`, "right" is address = last + stride:
 *
 *     state           right        wrong
 *     initial         steady       transient, stride set
 *     transient       steady       no prediction, stride set
 *     steady          steady       initial, stride kept
 *     no prediction   transient    no prediction, stride set
 *
 * A new entry is initial with stride 0. Unless the new state is no prediction (or the stride 0) it
 * asks for address + stride. */
#ifndef CULPRIT_MEMORY_PREFETCH_H
#define CULPRIT_MEMORY_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

enum { STRIDE_SETS = 32, STRIDE_WAYS = 4 };
#define NO_INSN UINT32_MAX /* access of no known instruction: trains no table */

enum stride_state { STRIDE_INITIAL, STRIDE_TRANSIENT, STRIDE_STEADY, STRIDE_NO_PREDICTION };

struct stride_entry {
    uint64_t last; /* address */
    int64_t stride;
    uint32_t insn_plus_one; /* 0: empty */
    uint8_t state;
};

struct prefetcher {
    enum prefetcher_kind kind;
    uint32_t degree;                                     /* lines or strides ahead per trigger */
    struct stride_entry table[STRIDE_SETS][STRIDE_WAYS]; /* most recently used first */
};

/* Takes note of a demand access (missed: it started a fill; first_use: of a line that a prefetch
 * fetched). Returns the step in bytes from `address` to the first prefetch, the next ones being as
 * far apart; 0: no prefetch. */
int64_t prefetch_step(struct prefetcher *prefetcher, uint64_t address, uint32_t line_bytes,
                      uint32_t insn, bool missed, bool first_use);

/* True for the prefetchers that do not leave the page of the access. The hybrid model's on-miss
 * and tagged prefetchers do. */
bool prefetch_stays_in_page(const struct prefetcher *prefetcher);

#endif
