/* One TLB: set-associative or fully associative, true LRU. An entry carries the cycle from which
 * its translation is known, so that accesses to a page being walked wait for the same walk.
 *
 * A small table of hints, indexed by a hash of the page, names the entry where a page was last
 * seen; entries are checked, so a hint may be wrong and then the set is searched. */
#ifndef CULPRIT_MEMORY_TLB_H
#define CULPRIT_MEMORY_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "util/error.h"

enum { TLB_HINTS = 256, TLB_MAX_ENTRIES = 65536 };
#define TLB_NONE UINT32_MAX

struct tlb {
    /* The page of the last access, settled: (address & quick_mask) == quick_page is a hit that
     * changes nothing. A perfect TLB has quick_mask = quick_page = 0. */
    uint64_t quick_mask, quick_page;
    uint64_t accesses, misses; /* misses: a lookup further out was started */

    uint64_t *pages; /* page number + 1; 0: empty */
    uint64_t *ready;
    uint64_t *used; /* value of `clock` at its last use */
    uint64_t clock;
    uint32_t entries, ways, set_mask, page_shift, latency;
    uint16_t hints[TLB_HINTS];
};

bool tlb_new(struct tlb *tlb, const struct machine_tlb *machine, uint32_t page_size,
             const char *name, struct error *error);
void tlb_free(struct tlb *tlb);

/* Entry of an address, noting its use; TLB_NONE when it has none. */
uint32_t tlb_use(struct tlb *tlb, uint64_t address);

/* Puts an address that has no entry in place of the LRU entry of its set. */
void tlb_insert(struct tlb *tlb, uint64_t address, uint64_t ready);

/* Makes the page of an address, whose translation is known, the quick one. */
static inline void tlb_make_quick(struct tlb *tlb, uint64_t address) {
    tlb->quick_page = address & tlb->quick_mask;
}

bool tlb_consistent(const struct tlb *tlb);

#endif
