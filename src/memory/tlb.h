/* One TLB: set-associative or fully associative, true LRU. An entry carries the cycle from which
 * its translation is known, so that accesses to a page being walked wait for the same walk.
 *
 * A small table of hints, indexed by a hash of the page, names the entry where a page was last
 * seen; entries are checked, so a hint may be wrong and then the set is searched. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "util/error.h"

enum { TLB_HINTS = 256, TLB_MAX_ENTRIES = 65536 };
#define TLB_NONE UINT32_MAX

struct tlb_entry {
    uint64_t page_plus_one; /* 0: empty */
    uint64_t ready;         /* cycle from which the translation is known */
    uint64_t took;          /* cycles from the access that asked for it until then */
    uint64_t used;          /* when it was used last, in uses of this TLB; 0: never */
};

struct tlb {
    struct tlb_entry *items; /* NULL: perfect */
    uint64_t uses;
    uint64_t accesses, misses; /* misses: a lookup further out was started */
    uint64_t wait_cycles;      /* of all accesses, each by itself, for translations */
    uint32_t entries, ways, set_mask, page_shift, latency;
    uint16_t hints[TLB_HINTS];
};

bool tlb_new(struct tlb *tlb, const struct machine_tlb *machine, uint32_t page_size,
             const char *name, struct error *error);
void tlb_free(struct tlb *tlb);
/* Time begins anew: all translations are known. */
void tlb_restart(struct tlb *tlb);
/* See memory_copy(). */
void tlb_copy(struct tlb *tlb, const struct tlb *from);

/* Entry of an address, noting its use; TLB_NONE when it has none. */
uint32_t tlb_use(struct tlb *tlb, uint64_t address);

/* Puts an address that has no entry in place of the least recently used entry of its set. It was
 * asked for in cycle `asked`, and is known from `ready` on. */
void tlb_insert(struct tlb *tlb, uint64_t address, uint64_t asked, uint64_t ready);

bool tlb_consistent(const struct tlb *tlb);

/* The cycle from which an entry's translation is known. In program order, an access at a later
 * cycle may have asked for it: then it is asked for in this cycle, and known that much earlier. */
static inline uint64_t tlb_ready(struct tlb *tlb, uint32_t index, uint64_t cycle) {
    struct tlb_entry *entry = &tlb->items[index];
    if (entry->ready > cycle + entry->took)
        entry->ready = cycle + entry->took;
    return entry->ready;
}

static inline uint16_t *tlb_hint(struct tlb *tlb, uint64_t page) {
    return &tlb->hints[(page * 0x9e3779b97f4a7c15u) >> 56];
}

/* True, and the use noted, when the page is where its hint says and its translation is known at
 * `cycle`. False says nothing. */
static inline bool tlb_quick_hit(struct tlb *tlb, uint64_t address, uint64_t cycle) {
    if (!tlb->items)
        return true;
    const uint64_t page = address >> tlb->page_shift;
    struct tlb_entry *entry = &tlb->items[*tlb_hint(tlb, page)];
    if ((entry->page_plus_one != page + 1) | (entry->ready > cycle))
        return false;
    entry->used = ++tlb->uses;
    return true;
}
