/* An index by open addressing of groups that lie one after the other, each a line of memory. An
 * event first finds its group, then looks into it, and what each step needs is on its way long
 * before. */
#include "model/footprint.h"

#include <assert.h>
#include <sys/mman.h>

enum {
    FIRST_SLOTS = 1 << 9,
    HUGE_PAGE = 1 << 21,
    FIND_AHEAD = FOOTPRINT_AHEAD / 2 /* events until one finds its group */
};
static_assert(sizeof(struct footprint_group) == 64, "a group is a line");

/* What a group says of a block that has no last use there: none, or a stack knows. */
enum { NEVER = 0 };
#define IN_STACK UINT64_MAX

/* ---- memory ---- */

/* In large pages, where there are such: it is used in no order. */
static void *in_large_pages(void *memory, size_t bytes) {
    if (memory == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_PAGE)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void *new_memory(size_t bytes) {
    return in_large_pages(
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes);
}

static size_t index_bytes(const struct footprint *footprint) {
    return (footprint->mask + 1) * sizeof *footprint->slots;
}

/* As many as the index takes. */
static size_t groups_bytes(const struct footprint *footprint) {
    return (footprint->mask + 1) / 2 * sizeof *footprint->groups;
}

static size_t slot_of(const struct footprint *footprint, uint64_t group) {
    return (group * 0x9e3779b97f4a7c15u >> 24) & footprint->mask;
}

/* The slot of a group, or the free one where it would be. */
static struct footprint_slot *find_slot(const struct footprint *footprint, uint64_t group) {
    size_t slot = slot_of(footprint, group);
    while (footprint->slots[slot].group_plus_one &&
           footprint->slots[slot].group_plus_one != group + 1)
        slot = (slot + 1) & footprint->mask;
    return &footprint->slots[slot];
}

static bool grow_index(struct footprint *footprint, const struct footprint *old) {
    footprint->slots = new_memory(index_bytes(footprint));
    if (!footprint->slots)
        return false;
    for (size_t i = 0; old->slots && i <= old->mask; i++)
        if (old->slots[i].group_plus_one)
            *find_slot(footprint, old->slots[i].group_plus_one - 1) = old->slots[i];
    return true;
}

static bool grow_groups(struct footprint *footprint, const struct footprint *old) {
    const size_t bytes = groups_bytes(footprint);
    footprint->groups =
        old->groups
            ? in_large_pages(mremap(old->groups, groups_bytes(old), bytes, MREMAP_MAYMOVE), bytes)
            : new_memory(bytes);
    return footprint->groups;
}

/* Twice the size. */
static bool grow(struct footprint *footprint) {
    const struct footprint old = *footprint;
    footprint->mask = old.slots ? 2 * old.mask + 1 : FIRST_SLOTS - 1;
    if (!grow_index(footprint, &old)) {
        *footprint = old;
        return false;
    }
    if (!grow_groups(footprint, &old)) {
        munmap(footprint->slots, index_bytes(footprint));
        *footprint = old;
        return false;
    }
    if (old.slots)
        munmap(old.slots, index_bytes(&old));
    return true;
}

void footprint_free(struct footprint *footprint) {
    if (footprint->slots) {
        munmap(footprint->slots, index_bytes(footprint));
        munmap(footprint->groups, groups_bytes(footprint));
    }
    *footprint = (struct footprint){0};
}

/* ---- events ---- */

/* The group of the next one that has not found it yet, which a block that is dropped may be the
 * first of. */
static bool find_group(struct footprint *footprint) {
    struct footprint_event *event = &footprint->ahead[footprint->found++ % FOOTPRINT_AHEAD];
    const uint64_t group = event->block / FOOTPRINT_GROUP;
    if ((!footprint->slots || 2 * footprint->count > footprint->mask) && !grow(footprint))
        return false;
    struct footprint_slot *slot = find_slot(footprint, group);
    if (!slot->group_plus_one && event->drops)
        *slot = (struct footprint_slot){group + 1, ++footprint->count};
    event->group_plus_one = slot->number_plus_one;
    if (event->group_plus_one)
        __builtin_prefetch(&footprint->groups[event->group_plus_one - 1], 1);
    return true;
}

static void take_oldest(struct footprint *footprint) {
    const struct footprint_event *event = &footprint->ahead[footprint->done++ % FOOTPRINT_AHEAD];
    uint64_t *last =
        event->group_plus_one
            ? &footprint->groups[event->group_plus_one - 1].last[event->block % FOOTPRINT_GROUP]
            : NULL;
    if (event->drops) {
        assert(last); /* find_group() has made room for it */
        *last = event->time + 1;
    } else if (!last || *last == NEVER) {
        footprint->distinct++;
    } else {
        footprint->over[windows_over(*last - 1, event->time)]++;
        *last = IN_STACK;
    }
}

static bool put(struct footprint *footprint, uint64_t block, uint64_t time, bool drops) {
    if (footprint->begun - footprint->done == FOOTPRINT_AHEAD)
        take_oldest(footprint);
    if (footprint->begun - footprint->found == FIND_AHEAD && !find_group(footprint))
        return false;
    if (footprint->slots)
        __builtin_prefetch(&footprint->slots[slot_of(footprint, block / FOOTPRINT_GROUP)], 1);
    footprint->ahead[footprint->begun++ % FOOTPRINT_AHEAD] =
        (struct footprint_event){.block = block, .time = time, .drops = drops};
    return true;
}

bool footprint_return(struct footprint *footprint, uint64_t block, uint64_t time) {
    return put(footprint, block, time, false);
}

bool footprint_drop(struct footprint *footprint, uint64_t block, uint64_t time) {
    return put(footprint, block, time, true);
}

bool footprint_end(struct footprint *footprint, uint64_t time) {
    while (footprint->found < footprint->begun)
        if (!find_group(footprint))
            return false;
    while (footprint->done < footprint->begun)
        take_oldest(footprint);
    for (size_t i = 0; i < footprint->count; i++)
        for (uint32_t k = 0; k < FOOTPRINT_GROUP; k++) {
            const uint64_t last = footprint->groups[i].last[k];
            if (last != NEVER && last != IN_STACK)
                footprint->over[windows_over(last - 1, time)]++;
        }
    return true;
}
