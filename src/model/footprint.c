/* Open addressing. Eight neighbours share a line or two of memory, since programs walk. */
#include "model/footprint.h"

#include <sys/mman.h>

enum { FIRST_SLOTS = 1 << 12, NEIGHBOURS = 8 };

static size_t slot_of(const struct footprint *footprint, uint64_t block) {
    const uint64_t hash = (block / NEIGHBOURS) * 0x9e3779b97f4a7c15u;
    return ((hash >> 20) * NEIGHBOURS + block % NEIGHBOURS) & footprint->mask;
}

/* The entry of a block, or the free one where it would be. */
static struct footprint_entry *find(const struct footprint *footprint, uint64_t block) {
    size_t slot = slot_of(footprint, block);
    while (footprint->entries[slot].block_plus_one &&
           footprint->entries[slot].block_plus_one != block + 1)
        slot = (slot + 1) & footprint->mask;
    return &footprint->entries[slot];
}

/* In large pages, where there are such: entries are used in no order. */
static struct footprint_entry *new_entries(size_t slots) {
    const size_t bytes = slots * sizeof(struct footprint_entry);
    void *entries = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (entries == MAP_FAILED)
        return NULL;
    madvise(entries, bytes, MADV_HUGEPAGE);
    return entries;
}

static void free_entries(struct footprint *footprint) {
    if (footprint->entries)
        munmap(footprint->entries, (footprint->mask + 1) * sizeof *footprint->entries);
}

static bool grow(struct footprint *footprint) {
    struct footprint old = *footprint;
    const size_t slots = old.entries ? 2 * (old.mask + 1) : FIRST_SLOTS;
    footprint->entries = new_entries(slots);
    if (!footprint->entries) {
        *footprint = old;
        return false;
    }
    footprint->mask = slots - 1;
    for (size_t i = 0; old.entries && i <= old.mask; i++)
        if (old.entries[i].block_plus_one)
            *find(footprint, old.entries[i].block_plus_one - 1) = old.entries[i];
    free_entries(&old);
    return true;
}

static void come_back(struct footprint *footprint, uint64_t block, uint64_t time) {
    struct footprint_entry *entry = footprint->entries ? find(footprint, block) : NULL;
    if (!entry || !entry->block_plus_one) {
        footprint->distinct++;
        return;
    }
    footprint->over[windows_over(entry->time, time)]++;
    entry->time = UINT64_MAX;
}

static bool drop(struct footprint *footprint, uint64_t block, uint64_t time) {
    if ((!footprint->entries || 4 * footprint->count > 3 * footprint->mask) && !grow(footprint))
        return false;
    struct footprint_entry *entry = find(footprint, block);
    footprint->count += !entry->block_plus_one;
    *entry = (struct footprint_entry){block + 1, time};
    return true;
}

static bool take_oldest(struct footprint *footprint) {
    const struct footprint_event *event = &footprint->ahead[footprint->done++ % FOOTPRINT_AHEAD];
    if (event->drops)
        return drop(footprint, event->block, event->time);
    come_back(footprint, event->block, event->time);
    return true;
}

static bool put(struct footprint *footprint, struct footprint_event event) {
    if (footprint->begun - footprint->done == FOOTPRINT_AHEAD && !take_oldest(footprint))
        return false;
    if (footprint->entries)
        __builtin_prefetch(&footprint->entries[slot_of(footprint, event.block)], 1);
    footprint->ahead[footprint->begun++ % FOOTPRINT_AHEAD] = event;
    return true;
}

bool footprint_return(struct footprint *footprint, uint64_t block, uint64_t time) {
    return put(footprint, (struct footprint_event){block, time, false});
}

bool footprint_drop(struct footprint *footprint, uint64_t block, uint64_t time) {
    return put(footprint, (struct footprint_event){block, time, true});
}

bool footprint_end(struct footprint *footprint, uint64_t time) {
    while (footprint->done < footprint->begun)
        if (!take_oldest(footprint))
            return false;
    for (size_t i = 0; footprint->entries && i <= footprint->mask; i++)
        if (footprint->entries[i].block_plus_one && footprint->entries[i].time != UINT64_MAX)
            footprint->over[windows_over(footprint->entries[i].time, time)]++;
    return true;
}

void footprint_free(struct footprint *footprint) {
    free_entries(footprint);
    *footprint = (struct footprint){0};
}
