/* A set's number is the index of its first word; an open-addressing table finds it by its cells. A
 * new set is written behind the others. */
#include "attribute/cell_sets.h"

#include <stdlib.h>

#include "tap/tap.h"
#include "util/array.h"

enum { FIRST_SLOTS = 1024 };

bool cell_sets_init(struct cell_sets *sets) {
    *sets = (struct cell_sets){.slots = calloc(FIRST_SLOTS, sizeof *sets->slots),
                               .slot_mask = FIRST_SLOTS - 1};
    return sets->slots != NULL;
}

void cell_sets_end(struct cell_sets *sets) {
    free(sets->words);
    free(sets->slots);
}

static inline uint64_t hash(const uint64_t *words, unsigned n) {
    uint64_t key = 0;
    for (unsigned i = 0; i < n; i++) {
        key = (key ^ words[i]) * 0x9e3779b97f4a7c15u;
        key ^= key >> 32;
    }
    return key;
}

static bool grow_slots(struct cell_sets *sets) {
    uint32_t mask = sets->slot_mask * 2 + 1;
    uint32_t *slots = calloc((size_t)mask + 1, sizeof *slots);
    if (!slots)
        return false;
    for (size_t number = 0, n; number < sets->used; number += n) {
        n = cell_set_size(sets, (uint32_t)number);
        uint64_t at = hash(&sets->words[number], (unsigned)n) & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = (uint32_t)number + 1;
    }
    free(sets->slots);
    sets->slots = slots;
    sets->slot_mask = mask;
    return true;
}

static inline bool same(const uint64_t *a, const uint64_t *b, unsigned n) {
    return all_where(i, n, a[i] == b[i]);
}

static uint64_t cell_of(uint64_t uop, uint32_t events) {
    return tap_uop(tap_uop_insn(uop), tap_uop_psv(uop) & events, 0);
}

/* The set of these words, or the free slot where it belongs. Words behind the last set are never
 * compared: sizes agree, being part of the first words. */
static inline uint32_t *find_slot(const struct cell_sets *sets, const uint64_t *cells, unsigned n) {
    uint64_t at = hash(cells, n) & sets->slot_mask;
    while (sets->slots[at] && !same(&sets->words[sets->slots[at] - 1], cells, n))
        at = (at + 1) & sets->slot_mask;
    return &sets->slots[at];
}

static uint32_t add(struct cell_sets *sets, const uint64_t *cells, unsigned n) {
    if (sets->used + n >= NO_CELL_SET || !array_room(sets->words, sets->capacity, sets->used + n) ||
        (sets->count * 2 > sets->slot_mask && !grow_slots(sets)))
        return NO_CELL_SET;
    uint32_t number = (uint32_t)sets->used;
    for (unsigned i = 0; i < n; i++)
        sets->words[number + i] = cells[i];
    *find_slot(sets, cells, n) = number + 1;
    sets->used += n;
    sets->count++;
    return number;
}

uint32_t cell_sets_find(struct cell_sets *sets, const uint64_t *uops, unsigned n, uint32_t events) {
    uint64_t cells[CELL_SET_MAX];
    cells[0] = cell_of(uops[0], events) | (uint64_t)n << CELL_SIZE_SHIFT;
    uint32_t found;
    if (n == 1) { /* most are */
        found = *find_slot(sets, cells, 1);
    } else {
        for (unsigned i = 1; i < n; i++)
            cells[i] = cell_of(uops[i], events);
        found = *find_slot(sets, cells, n);
    }
    return found ? found - 1 : add(sets, cells, n);
}
