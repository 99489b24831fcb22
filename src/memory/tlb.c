/* Entries never move; each set's order of use is a doubly linked list through them. */
#include "memory/tlb.h"

#include <stdlib.h>

#define NO_PAGE UINT64_MAX /* as quick_page: not the address of a page */

/* Chains the ways of every set, the last way the oldest. */
static void link_sets(struct tlb *tlb) {
    for (uint32_t entry = 0; entry < tlb->entries; entry++) {
        const uint32_t way = entry % tlb->ways;
        tlb->items[entry].newer = (uint16_t)(way ? entry - 1 : entry);
        tlb->items[entry].older = (uint16_t)(way + 1 < tlb->ways ? entry + 1 : entry);
        if (way == 0)
            tlb->newest[entry / tlb->ways] = (uint16_t)entry;
        if (way == tlb->ways - 1)
            tlb->oldest[entry / tlb->ways] = (uint16_t)entry;
    }
}

bool tlb_new(struct tlb *tlb, const struct machine_tlb *machine, uint32_t page_size,
             const char *name, struct error *error) {
    tlb->latency = machine->latency;
    if (machine->entries == 0)
        return true;
    const uint32_t ways = machine->ways ? machine->ways : machine->entries;
    const uint32_t sets = machine->entries / ways;
    if (machine->entries > TLB_MAX_ENTRIES || machine->entries % ways || sets & (sets - 1))
        return error_set(error,
                         "%s: entries = %u, ways = %u: entries / ways must be a power of two, "
                         "entries at most %d",
                         name, machine->entries, machine->ways, TLB_MAX_ENTRIES);
    tlb->entries = machine->entries;
    tlb->ways = ways;
    tlb->set_mask = sets - 1;
    tlb->page_shift = (uint32_t)__builtin_ctz(page_size);
    tlb->quick_mask = ~(uint64_t)(page_size - 1);
    tlb->quick_page = NO_PAGE;
    tlb->items = calloc(tlb->entries, sizeof *tlb->items);
    tlb->newest = calloc(sets, sizeof *tlb->newest);
    tlb->oldest = calloc(sets, sizeof *tlb->oldest);
    if (!tlb->items || !tlb->newest || !tlb->oldest)
        return error_set(error, "out of memory for the %s of %u entries", name, tlb->entries);
    link_sets(tlb);
    return true;
}

void tlb_free(struct tlb *tlb) {
    free(tlb->items);
    free(tlb->newest);
    free(tlb->oldest);
}

uint32_t tlb_use(struct tlb *tlb, uint64_t address) {
    const uint64_t page = address >> tlb->page_shift;
    uint16_t *hint = tlb_hint(tlb, page);
    uint32_t entry = *hint;
    if (tlb->items[entry].page_plus_one != page + 1) {
        const uint32_t set = ((uint32_t)page & tlb->set_mask) * tlb->ways;
        entry = set;
        while (tlb->items[entry].page_plus_one != page + 1)
            if (++entry == set + tlb->ways)
                return TLB_NONE;
        *hint = (uint16_t)entry;
    }
    tlb->quick_page = NO_PAGE;
    tlb_touch(tlb, page, entry);
    return entry;
}

void tlb_insert(struct tlb *tlb, uint64_t address, uint64_t ready) {
    const uint64_t page = address >> tlb->page_shift;
    const uint32_t victim = tlb->oldest[page & tlb->set_mask];
    tlb->quick_page = NO_PAGE;
    tlb->items[victim].page_plus_one = page + 1;
    tlb->items[victim].ready = ready;
    tlb_touch(tlb, page, victim);
    *tlb_hint(tlb, page) = (uint16_t)victim;
}

/* The list of a set visits each of its ways once, from the newest to the oldest. */
static bool order_consistent(const struct tlb *tlb, uint32_t set) {
    uint32_t entry = tlb->newest[set], visited = 1;
    if (tlb->items[entry].newer != entry)
        return false;
    for (; tlb->items[entry].older != entry; entry = tlb->items[entry].older, visited++)
        if (tlb->items[tlb->items[entry].older].newer != entry || visited > tlb->ways ||
            entry / tlb->ways != set)
            return false;
    return visited == tlb->ways && entry == tlb->oldest[set];
}

bool tlb_consistent(const struct tlb *tlb) {
    for (uint32_t entry = 0; entry < tlb->entries; entry++) {
        const uint64_t page = tlb->items[entry].page_plus_one;
        const uint32_t set = entry / tlb->ways;
        if (entry % tlb->ways == 0 && !order_consistent(tlb, set))
            return false;
        if (page == 0)
            continue;
        if (((page - 1) & tlb->set_mask) != set)
            return false;
        for (uint32_t other = set * tlb->ways; other < entry; other++)
            if (tlb->items[other].page_plus_one == page)
                return false;
    }
    return true;
}
