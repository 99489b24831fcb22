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

struct tlb_entry {
    uint64_t page_plus_one; /* 0: empty */
    uint64_t ready;
    uint16_t newer, older; /* neighbours in its set's order of use; the ends name themselves */
};

struct tlb {
    /* The page of the last use, when its translation is known: (address & quick_mask) ==
     * quick_page is a hit that changes nothing. A perfect TLB has both 0. */
    uint64_t quick_mask, quick_page;
    uint64_t accesses, misses; /* misses: a lookup further out was started */

    struct tlb_entry *items;
    uint16_t *newest, *oldest; /* per set */
    uint32_t entries, ways, set_mask, page_shift, latency;
    uint16_t hints[TLB_HINTS];
};

bool tlb_new(struct tlb *tlb, const struct machine_tlb *machine, uint32_t page_size,
             const char *name, struct error *error);
void tlb_free(struct tlb *tlb);

/* Entry of an address, noting its use; TLB_NONE when it has none. */
uint32_t tlb_use(struct tlb *tlb, uint64_t address);

/* Puts an address that has no entry in place of the least recently used entry of its set. */
void tlb_insert(struct tlb *tlb, uint64_t address, uint64_t ready);

bool tlb_consistent(const struct tlb *tlb);

static inline uint16_t *tlb_hint(struct tlb *tlb, uint64_t page) {
    return &tlb->hints[(page * 0x9e3779b97f4a7c15u) >> 56];
}

/* Makes an entry of the page's set its most recently used one. */
static inline void tlb_touch(struct tlb *tlb, uint64_t page, uint32_t entry) {
    uint16_t *newest = &tlb->newest[page & tlb->set_mask];
    uint16_t *oldest = &tlb->oldest[page & tlb->set_mask];
    struct tlb_entry *item = &tlb->items[entry];
    if (entry == *newest)
        return;
    tlb->items[item->newer].older = item->older;
    if (entry == *oldest)
        *oldest = tlb->items[item->newer].older = item->newer;
    else
        tlb->items[item->older].newer = item->newer;
    item->older = *newest;
    item->newer = tlb->items[*newest].newer = (uint16_t)entry;
    *newest = (uint16_t)entry;
}

/* True, and the use noted, when the page is where its hint says and its translation is known at
 * `cycle`. False says nothing. */
static inline bool tlb_quick_hit(struct tlb *tlb, uint64_t address, uint64_t cycle) {
    if ((address & tlb->quick_mask) == tlb->quick_page)
        return true;
    const uint64_t page = address >> tlb->page_shift;
    const uint32_t entry = *tlb_hint(tlb, page);
    if (tlb->items[entry].page_plus_one != page + 1 || tlb->items[entry].ready > cycle)
        return false;
    tlb_touch(tlb, page, entry);
    tlb->quick_page = address & tlb->quick_mask;
    return true;
}

#endif
