/* Entries never move; LRU compares time stamps, which only misses pay for. */
#include "memory/tlb.h"

#include <stdlib.h>

#define NO_PAGE UINT64_MAX /* as quick_page: not the address of a page */

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
    tlb->pages = calloc(tlb->entries, sizeof *tlb->pages);
    tlb->ready = calloc(tlb->entries, sizeof *tlb->ready);
    tlb->used = calloc(tlb->entries, sizeof *tlb->used);
    if (!tlb->pages || !tlb->ready || !tlb->used)
        return error_set(error, "out of memory for the %s of %u entries", name, tlb->entries);
    return true;
}

void tlb_free(struct tlb *tlb) {
    free(tlb->pages);
    free(tlb->ready);
    free(tlb->used);
}

static uint16_t *hint_of(struct tlb *tlb, uint64_t page) {
    return &tlb->hints[(page * 0x9e3779b97f4a7c15u) >> 56];
}

uint32_t tlb_use(struct tlb *tlb, uint64_t address) {
    const uint64_t page = address >> tlb->page_shift;
    uint16_t *hint = hint_of(tlb, page);
    uint32_t entry = *hint;
    if (tlb->pages[entry] != page + 1) {
        const uint32_t set = ((uint32_t)page & tlb->set_mask) * tlb->ways;
        for (entry = set; entry < set + tlb->ways && tlb->pages[entry] != page + 1; entry++)
            ;
        if (entry == set + tlb->ways)
            return TLB_NONE;
        *hint = (uint16_t)entry;
    }
    tlb->quick_page = NO_PAGE;
    tlb->used[entry] = ++tlb->clock;
    return entry;
}

void tlb_insert(struct tlb *tlb, uint64_t address, uint64_t ready) {
    const uint64_t page = address >> tlb->page_shift;
    const uint32_t set = ((uint32_t)page & tlb->set_mask) * tlb->ways;
    uint32_t victim = set;
    for (uint32_t entry = set + 1; entry < set + tlb->ways; entry++)
        if (tlb->used[entry] < tlb->used[victim])
            victim = entry;
    tlb->quick_page = NO_PAGE;
    tlb->pages[victim] = page + 1;
    tlb->ready[victim] = ready;
    tlb->used[victim] = ++tlb->clock;
    *hint_of(tlb, page) = (uint16_t)victim;
}

bool tlb_consistent(const struct tlb *tlb) {
    for (uint32_t entry = 0; entry < tlb->entries; entry++) {
        const uint64_t page = tlb->pages[entry];
        const uint32_t set = entry / tlb->ways;
        if (page == 0)
            continue;
        if (((page - 1) & tlb->set_mask) != set || tlb->used[entry] > tlb->clock)
            return false;
        for (uint32_t other = set * tlb->ways; other < entry; other++)
            if (tlb->pages[other] == page)
                return false;
    }
    return true;
}
