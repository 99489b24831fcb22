/* Cycles by (static instruction, signature). Most cycles carry no event, so those lie in a plain
 * array by instruction; the others in an open-addressing table of (instruction, signature). Both
 * grow by doubling. */
#include "attribute/pics.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { FIRST_SLOTS = 1024 };

static uint64_t hash(uint64_t key) {
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 32;
}

struct pics *pics_new(void) {
    struct pics *pics = calloc(1, sizeof *pics);
    if (!pics)
        return NULL;
    pics->slots = calloc(FIRST_SLOTS, sizeof *pics->slots);
    pics->slot_mask = FIRST_SLOTS - 1;
    if (!pics->slots) {
        free(pics);
        return NULL;
    }
    return pics;
}

void pics_free(struct pics *pics) {
    if (!pics)
        return;
    free(pics->base);
    free(pics->slots);
    free(pics);
}

static struct slot *find_slot(struct slot *slots, uint64_t mask, uint64_t key) {
    uint64_t at = hash(key) & mask;
    while (slots[at].key && slots[at].key != key)
        at = (at + 1) & mask;
    return &slots[at];
}

static bool grow_slots(struct pics *pics) {
    uint64_t mask = pics->slot_mask * 2 + 1;
    struct slot *slots = calloc(mask + 1, sizeof *slots);
    if (!slots)
        return false;
    for (uint64_t i = 0; i <= pics->slot_mask; i++)
        if (pics->slots[i].key)
            *find_slot(slots, mask, pics->slots[i].key) = pics->slots[i];
    free(pics->slots);
    pics->slots = slots;
    pics->slot_mask = mask;
    return true;
}

bool pics_grow_base(struct pics *pics, uint32_t insn) {
    size_t old = pics->base_capacity;
    if (!array_reserve((void **)&pics->base, &pics->base_capacity, (size_t)insn + 1,
                       sizeof *pics->base))
        return false;
    memset(pics->base + old, 0, (pics->base_capacity - old) * sizeof *pics->base);
    return true;
}

bool pics_add(struct pics *pics, uint32_t insn, uint32_t psv, uint64_t units) {
    return pics_add_fast(pics, insn, psv, units);
}

bool pics_add_event(struct pics *pics, uint32_t insn, uint32_t psv, uint64_t units) {
    uint64_t key = (uint64_t)insn << PSV_BITS | psv;
    struct slot *slot = find_slot(pics->slots, pics->slot_mask, key);
    if (!slot->key) {
        if (pics->slot_used * 2 > pics->slot_mask) {
            if (!grow_slots(pics))
                return false;
            slot = find_slot(pics->slots, pics->slot_mask, key);
        }
        slot->key = key;
        pics->slot_used++;
    }
    slot->units += units;
    return true;
}

uint64_t pics_total(const struct pics *pics) {
    uint64_t total = 0;
    for (size_t i = 0; i < pics->base_capacity; i++)
        total += pics->base[i];
    for (uint64_t i = 0; i <= pics->slot_mask; i++)
        total += pics->slots[i].units;
    return total;
}

static int compare_cells(const void *left, const void *right) {
    const struct pics_cell *a = left, *b = right;
    if (a->insn != b->insn)
        return a->insn < b->insn ? -1 : 1;
    return a->psv < b->psv ? -1 : a->psv > b->psv;
}

struct pics_cell *pics_cells(const struct pics *pics, uint64_t *count) {
    uint64_t used = pics->slot_used;
    for (size_t i = 0; i < pics->base_capacity; i++)
        used += pics->base[i] != 0;
    struct pics_cell *cells = malloc((used ? used : 1) * sizeof *cells);
    *count = 0;
    if (!cells)
        return NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < pics->base_capacity; i++)
        if (pics->base[i])
            cells[n++] = (struct pics_cell){(uint32_t)i, 0, pics->base[i]};
    for (uint64_t i = 0; i <= pics->slot_mask; i++)
        if (pics->slots[i].key && pics->slots[i].units)
            cells[n++] = (struct pics_cell){(uint32_t)(pics->slots[i].key >> PSV_BITS),
                                            pics->slots[i].key & (PSV_COMBINATIONS - 1),
                                            pics->slots[i].units};
    qsort(cells, n, sizeof *cells, compare_cells);
    *count = n;
    return cells;
}
