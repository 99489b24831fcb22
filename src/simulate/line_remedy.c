/* A filter of one bit per hash of a line keeps the search from accesses of other lines. */
#include "simulate/line_remedy.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash_index.h"

/* The lines of one owner are neighbours, so that they take few pages. */
#define REMEDY_BASE  (UINT64_C(1) << 56)
#define REMEDY_OWNER (UINT64_C(1) << 32)

static int by_place(const void *left, const void *right) {
    const struct line_remedy *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static unsigned filter_bit(uint64_t line) {
    return (unsigned)hash_number(line) & (64 * 64 - 1);
}

void line_remedies_sort(struct line_remedies *remedies) {
    memset(remedies->filter, 0, sizeof remedies->filter);
    if (remedies->count)
        qsort(remedies->items, remedies->count, sizeof *remedies->items, by_place);
    for (size_t i = 0; i < remedies->count; i++) {
        const unsigned bit = filter_bit(remedies->items[i].address);
        remedies->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

static uint64_t place_of(const struct line_remedies *remedies, uint32_t process, uint32_t thread,
                         uint64_t address) {
    const uint64_t offset = address & (remedies->line_bytes - 1);
    const struct line_remedy key = {.address = address - offset, .process = process};
    const struct line_remedy *found =
        bsearch(&key, remedies->items, remedies->count, sizeof key, by_place);
    if (!found)
        return address;
    const unsigned part =
        (unsigned)(offset * REMEDY_PARTS /
                   (remedies->line_bytes > REMEDY_PARTS ? remedies->line_bytes : REMEDY_PARTS));
    const uint32_t owner = found->copies ? thread : found->owner[part];
    if (owner == UINT32_MAX)
        return address;
    return REMEDY_BASE + owner * REMEDY_OWNER +
           (uint64_t)(found - remedies->items) * remedies->line_bytes + offset;
}

void line_remedies_apply(const struct line_remedies *remedies, uint32_t process, uint32_t thread,
                         const struct memory_access *accesses, size_t count,
                         struct memory_access *moved) {
    const uint64_t mask = remedies->line_bytes - 1;
    for (size_t i = 0; i < count; i++) {
        moved[i] = accesses[i];
        const unsigned bit = filter_bit(accesses[i].address & ~mask);
        if (remedies->filter[bit / 64] >> bit % 64 & 1 &&
            (accesses[i].address & mask) + accesses[i].size_bytes <= mask + 1)
            moved[i].address = place_of(remedies, process, thread, accesses[i].address);
    }
}
