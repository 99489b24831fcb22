#include "simulate/lock_remedy.h"

#include <stdlib.h>

static int by_place(const void *left, const void *right) {
    const struct lock_remedy *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

void lock_remedies_sort(struct lock_remedies *remedies) {
    if (remedies->open_count)
        qsort(remedies->open, remedies->open_count, sizeof *remedies->open, by_place);
}

bool lock_remedies_open(const struct lock_remedies *remedies, uint32_t process, uint64_t address) {
    const struct lock_remedy key = {.address = address, .process = process};
    if (!remedies)
        return false;
    return remedies->all_open ||
           (remedies->open_count &&
            bsearch(&key, remedies->open, remedies->open_count, sizeof key, by_place));
}
