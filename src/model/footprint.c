/* Open addressing of groups, each a line of memory: programs walk, and what is looked for is found
 * with one line that is on its way. */
#include "model/footprint.h"

#include <assert.h>
#include <sys/mman.h>

enum { FIRST_GROUPS = 1 << 9, HUGE_PAGE = 1 << 21 };
static_assert(sizeof(struct footprint_group) == 64, "a group is a line");

/* What a group says of a block that has no last use there: none, or a stack knows. */
enum { NEVER = 0 };
#define IN_STACK UINT64_MAX

static size_t place_of(const struct footprint *footprint, uint64_t group) {
    return (group * 0x9e3779b97f4a7c15u >> 24) & footprint->mask;
}

/* A group, or the free one where it would be. */
static struct footprint_group *find(const struct footprint *footprint, uint64_t group) {
    size_t place = place_of(footprint, group);
    while (footprint->groups[place].group_plus_one &&
           footprint->groups[place].group_plus_one != group + 1)
        place = (place + 1) & footprint->mask;
    return &footprint->groups[place];
}

/* In large pages, where there are such: groups are used in no order. */
static struct footprint_group *new_groups(size_t count) {
    const size_t bytes = count * sizeof(struct footprint_group);
    void *groups = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (groups == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_PAGE)
        madvise(groups, bytes, MADV_HUGEPAGE);
    return groups;
}

static void free_groups(struct footprint *footprint) {
    if (footprint->groups)
        munmap(footprint->groups, (footprint->mask + 1) * sizeof *footprint->groups);
}

static bool grow(struct footprint *footprint) {
    struct footprint old = *footprint;
    const size_t groups = old.groups ? 2 * (old.mask + 1) : FIRST_GROUPS;
    footprint->groups = new_groups(groups);
    if (!footprint->groups) {
        *footprint = old;
        return false;
    }
    footprint->mask = groups - 1;
    for (size_t i = 0; old.groups && i <= old.mask; i++)
        if (old.groups[i].group_plus_one)
            *find(footprint, old.groups[i].group_plus_one - 1) = old.groups[i];
    free_groups(&old);
    return true;
}

static void come_back(struct footprint *footprint, uint64_t block, uint64_t time) {
    struct footprint_group *group =
        footprint->groups ? find(footprint, block / FOOTPRINT_GROUP) : NULL;
    uint64_t *last = group ? &group->last[block % FOOTPRINT_GROUP] : NULL;
    if (!last || *last == NEVER) {
        footprint->distinct++;
        return;
    }
    footprint->over[windows_over(*last - 1, time)]++;
    *last = IN_STACK;
}

static bool drop(struct footprint *footprint, uint64_t block, uint64_t time) {
    if ((!footprint->groups || 4 * footprint->count > 3 * footprint->mask) && !grow(footprint))
        return false;
    struct footprint_group *group = find(footprint, block / FOOTPRINT_GROUP);
    footprint->count += !group->group_plus_one;
    group->group_plus_one = block / FOOTPRINT_GROUP + 1;
    group->last[block % FOOTPRINT_GROUP] = time + 1;
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
    if (footprint->groups)
        __builtin_prefetch(&footprint->groups[place_of(footprint, event.block / FOOTPRINT_GROUP)],
                           1);
    footprint->ahead[footprint->begun++ % FOOTPRINT_AHEAD] = event;
    return true;
}

bool footprint_return(struct footprint *footprint, uint64_t block, uint64_t time) {
    return put(footprint, (struct footprint_event){block, time, false});
}

bool footprint_drop(struct footprint *footprint, uint64_t block, uint64_t time) {
    return put(footprint, (struct footprint_event){block, time, true});
}

static void end_group(struct footprint *footprint, const struct footprint_group *group,
                      uint64_t time) {
    for (uint32_t i = 0; i < FOOTPRINT_GROUP; i++)
        if (group->last[i] != NEVER && group->last[i] != IN_STACK)
            footprint->over[windows_over(group->last[i] - 1, time)]++;
}

bool footprint_end(struct footprint *footprint, uint64_t time) {
    while (footprint->done < footprint->begun)
        if (!take_oldest(footprint))
            return false;
    for (size_t i = 0; footprint->groups && i <= footprint->mask; i++)
        end_group(footprint, &footprint->groups[i], time);
    return true;
}

void footprint_free(struct footprint *footprint) {
    free_groups(footprint);
    *footprint = (struct footprint){0};
}
