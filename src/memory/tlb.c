/* Entries never move; the least recently used one of a set is looked for when it must go. */
#include "memory/tlb.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

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
    tlb->items = calloc(tlb->entries, sizeof *tlb->items);
    if (!tlb->items)
        return error_set(error, "out of memory for the %s of %u entries", name, tlb->entries);
    return true;
}

void tlb_free(struct tlb *tlb) {
    free(tlb->items);
}

void tlb_restart(struct tlb *tlb) {
    for (uint32_t entry = 0; tlb->items && entry < tlb->entries; entry++)
        tlb->items[entry].ready = 0;
}

void tlb_copy(struct tlb *tlb, const struct tlb *from) {
    if (!tlb->items)
        return;
    memcpy(tlb->items, from->items, tlb->entries * sizeof *tlb->items);
    memcpy(tlb->hints, from->hints, sizeof tlb->hints);
    tlb->uses = from->uses;
    tlb_restart(tlb);
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
    tlb->items[entry].used = ++tlb->uses;
    return entry;
}

void tlb_insert(struct tlb *tlb, uint64_t address, uint64_t asked, uint64_t ready) {
    const uint64_t page = address >> tlb->page_shift;
    const uint32_t set = ((uint32_t)page & tlb->set_mask) * tlb->ways;
    const size_t victim = set + index_of_least(i, tlb->ways, tlb->items[set + i].used);
    tlb->items[victim] = (struct tlb_entry){page + 1, ready, ready - asked, ++tlb->uses};
    *tlb_hint(tlb, page) = (uint16_t)victim;
}

bool tlb_consistent(const struct tlb *tlb) {
    for (uint32_t entry = 0; entry < tlb->entries; entry++) {
        const uint64_t page = tlb->items[entry].page_plus_one;
        const uint32_t set = entry / tlb->ways;
        if (tlb->items[entry].used > tlb->uses || (page == 0) != (tlb->items[entry].used == 0))
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
