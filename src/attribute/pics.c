/* Cycles by (static instruction, signature). Most cycles carry no event, so those lie in a plain
 * array by instruction; the others in an open-addressing table of (instruction, signature). Both
 * grow by doubling. */
#include "attribute/pics.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

enum { FIRST_SLOTS = 1024, BASE_STEP = 4096 /* instructions */ };

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
    size_t old = pics->base_count, need = ((size_t)insn / BASE_STEP + 1) * BASE_STEP;
    if (!array_room(pics->base, pics->base_capacity, need))
        return false;
    assert(pics->base);
    memset(pics->base + old, 0, (need - old) * sizeof *pics->base);
    pics->base_count = need;
    return true;
}

bool pics_add(struct pics *pics, uint32_t insn, uint32_t psv, uint64_t units) {
    return pics_add_fast(pics, insn, psv, units);
}

bool pics_add_event(struct pics *pics, uint32_t insn, uint32_t psv, uint64_t units) {
    uint64_t key = (uint64_t)insn << PSV_BITS | psv;
    struct slot *slot = find_slot(pics->slots, pics->slot_mask, key);
    if (!slot->key) {
        if (pics->slot_used > pics->slot_mask / 4 * 3) {
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
    return sum_over(uint64_t, i, pics->base_count, pics->base[i]) +
           sum_over(uint64_t, i, pics->slot_mask + 1, pics->slots[i].units);
}

void pics_by_signature(const struct pics *pics, uint64_t units[]) {
    memset(units, 0, PSV_COMBINATIONS * sizeof *units);
    for (size_t i = 0; i < pics->base_count; i++)
        units[0] += pics->base[i];
    for (uint64_t i = 0; i <= pics->slot_mask; i++)
        units[pics->slots[i].key & (PSV_COMBINATIONS - 1)] += pics->slots[i].units;
}

static void pics_clear(struct pics *pics) {
    if (pics->base)
        memset(pics->base, 0, pics->base_count * sizeof *pics->base);
    memset(pics->slots, 0, (pics->slot_mask + 1) * sizeof *pics->slots);
    pics->slot_used = 0;
}

bool pics_move(struct pics *pics, struct pics *from, uint64_t weight) {
    if (weight == 1 && !pics->base && !pics->slot_used) {
        struct pics empty = *pics;
        *pics = *from;
        *from = empty;
        return true;
    }
    bool room = true;
    for (size_t i = 0; i < from->base_count; i++)
        if (from->base[i])
            room &= pics_add_fast(pics, (uint32_t)i, 0, from->base[i] * weight);
    for (uint64_t i = 0; i <= from->slot_mask; i++)
        if (from->slots[i].key)
            room &= pics_add_event(pics, (uint32_t)(from->slots[i].key >> PSV_BITS),
                                   from->slots[i].key & (PSV_COMBINATIONS - 1),
                                   from->slots[i].units * weight);
    pics_clear(from);
    return room;
}

static int compare_cells(const void *left, const void *right) {
    const struct pics_cell *a = left, *b = right;
    return ascending(a->insn, b->insn) ?: ascending(a->psv, b->psv);
}

/* Cells with events are sorted at the end of the array. Cells without are in order already, and are
 * merged in from the front: the write position never reaches the cells not yet merged. */
struct pics_cell *pics_cells(const struct pics *pics, uint64_t *count) {
    uint64_t plain = 0, events = 0;
    for (size_t i = 0; i < pics->base_count; i++)
        plain += pics->base[i] != 0;
    for (uint64_t i = 0; i <= pics->slot_mask; i++)
        events += pics->slots[i].units != 0;
    *count = plain + events;
    struct pics_cell *cells = malloc((*count ? *count : 1) * sizeof *cells);
    if (!cells)
        return NULL;
    struct pics_cell *next = cells + plain, *end = cells + *count, *out = next;
    for (uint64_t i = 0; i <= pics->slot_mask; i++)
        if (pics->slots[i].units)
            *out++ = (struct pics_cell){(uint32_t)(pics->slots[i].key >> PSV_BITS),
                                        pics->slots[i].key & (PSV_COMBINATIONS - 1),
                                        pics->slots[i].units};
    qsort(next, events, sizeof *next, compare_cells);
    out = cells;
    for (size_t i = 0; i < pics->base_count; i++) {
        if (!pics->base[i])
            continue;
        while (next < end && next->insn < i)
            *out++ = *next++;
        *out++ = (struct pics_cell){(uint32_t)i, 0, pics->base[i]};
    }
    return cells;
}
