/* The layout of struct pics, for workers that add to it for every committed µop. Most cycles carry
 * no event, so those lie in a plain array by instruction; the others in an open-addressing table of
 * (instruction, signature). */
#pragma once

#include <assert.h>
#include <stddef.h>

#include "attribute/attribute.h"

struct slot {
    uint64_t key; /* insn << 9 | psv; 0 is free, as signature 0 is never here */
    uint64_t units;
};

struct pics {
    uint64_t *base;    /* units without any event, by instruction */
    size_t base_count; /* of its entries that are in use; what lies behind was never written, so
                          that it takes no memory yet */
    size_t base_capacity;
    struct slot *slots;
    uint64_t slot_mask, slot_used;
};

bool pics_grow_base(struct pics *pics, uint32_t insn);
bool pics_add_event(struct pics *pics, uint32_t insn, uint32_t psv, uint64_t units);

static inline bool pics_add_fast(struct pics *pics, uint32_t insn, uint32_t psv, uint64_t units) {
    if (psv)
        return pics_add_event(pics, insn, psv, units);
    if (insn >= pics->base_count && !pics_grow_base(pics, insn))
        return false;
    assert(pics->base); /* it has base_count entries */
    pics->base[insn] += units;
    return true;
}
