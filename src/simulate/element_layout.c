#include "simulate/element_layout.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash_index.h"
#include "util/order.h"

/* At addresses that no program has. */
#define HOT_BASE  (UINT64_C(1) << 56)
#define COLD_BASE (UINT64_C(1) << 57)

enum { FILTER_BITS = 1 << 20, LINE_SHIFT = 6, WORD = 8, HEAP_HEADER = 8, HEAP_STEP = 16 };

/* ---- fields ---- */

static uint64_t round_up(uint64_t number, uint64_t to) {
    return (number + to - 1) / to * to;
}

/* As its place shows: no more than a word. */
static uint64_t alignment_of(const struct element_leaf *leaf) {
    const uint64_t both = leaf->offset | leaf->size | WORD;
    return both & (0 - both);
}

static uint64_t place(struct element_leaf *leaves, const bool *is_hot, uint32_t count, bool hot,
                      uint64_t at) {
    for (uint32_t i = 0; i < count; i++)
        if (is_hot[i] == hot) {
            at = round_up(at, alignment_of(&leaves[i]));
            leaves[i].moved = at;
            at += leaves[i].size;
        }
    return at;
}

uint64_t element_leaves_place(struct element_leaf *leaves, const bool *is_hot, uint32_t count,
                              bool split, uint64_t *cold_size) {
    const uint64_t hot = place(leaves, is_hot, count, true, 0);
    const uint64_t end = place(leaves, is_hot, count, false, split ? 0 : hot);
    uint64_t alignment[2] = {1, 1}; /* of the cold and the hot ones */
    for (uint32_t i = 0; i < count; i++)
        if (alignment_of(&leaves[i]) > alignment[is_hot[i]])
            alignment[is_hot[i]] = alignment_of(&leaves[i]);
    for (uint32_t i = 0; i < count; i++)
        leaves[i].is_cold = split && !is_hot[i];
    *cold_size = round_up(split ? end : end - hot, alignment[0]);
    return round_up(hot, alignment[1]);
}

/* ---- elements ---- */

static uint64_t chunk(uint64_t size) {
    return round_up(size + HEAP_HEADER, HEAP_STEP);
}

/* How far apart neighbours are when they are `to` in place of `from` bytes long. */
static uint64_t distance(uint64_t now, uint64_t from, uint64_t to) {
    if (now % from == 0)
        return now / from * to;
    if (now % chunk(from) == 0) /* those between were not accessed */
        return now / chunk(from) * chunk(to);
    if (now >= chunk(from))
        return now - chunk(from) + chunk(to);
    return now - from + to;
}

static uint64_t *place_all(const struct element_layout *layout, uint64_t base, uint64_t size) {
    uint64_t *places = malloc((layout->count + 1) * sizeof *places);
    for (size_t i = 0; places && i < layout->count; i++)
        places[i] = i == 0 ? base + layout->bases[0] % 4096
                           : places[i - 1] + distance(layout->bases[i] - layout->bases[i - 1],
                                                      layout->size, size);
    return places;
}

static void filter_line(uint64_t *filter, uint64_t line) {
    const uint64_t bit = hash_number(line) % FILTER_BITS;
    filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

bool element_layout_place(struct element_layout *layout, bool split, uint64_t hot_size,
                          uint64_t cold_size) {
    layout->hot = layout->cold = NULL;
    layout->filter = calloc(FILTER_BITS / 64, sizeof *layout->filter);
    if (split) {
        layout->hot = place_all(layout, HOT_BASE, hot_size ? hot_size : WORD);
        layout->cold = place_all(layout, COLD_BASE, cold_size ? cold_size : WORD);
    }
    if (!layout->filter || (split && (!layout->hot || !layout->cold)))
        return false;
    for (size_t i = 0; i < layout->count; i++)
        for (uint64_t line = layout->bases[i] >> LINE_SHIFT;
             line <= (layout->bases[i] + layout->size - 1) >> LINE_SHIFT; line++)
            filter_line(layout->filter, line);
    return true;
}

void element_layout_free(struct element_layout *layout) {
    free(layout->hot);
    free(layout->cold);
    free(layout->filter);
    layout->hot = layout->cold = layout->filter = NULL;
}

/* The element that an address lies in; `count`: none. */
static size_t element_at(const struct element_layout *layout, uint64_t address) {
    const size_t behind = first_where(i, layout->count, layout->bases[i] > address);
    return behind && address - layout->bases[behind - 1] < layout->size ? behind - 1
                                                                        : layout->count;
}

static bool may_have(const struct element_layout *layout, uint64_t address) {
    const uint64_t bit = hash_number(address >> LINE_SHIFT) % FILTER_BITS;
    return layout->filter[bit / 64] >> bit % 64 & 1;
}

bool element_layout_has(const struct element_layout *layout, uint64_t address) {
    return may_have(layout, address) && element_at(layout, address) < layout->count;
}

static uint64_t moved_to(const struct element_layout *layout, uint64_t address) {
    const size_t element = element_at(layout, address);
    if (element == layout->count)
        return address;
    const uint64_t offset = address - layout->bases[element];
    const size_t behind = first_where(i, layout->leaf_count, layout->leaves[i].offset > offset);
    if (!behind)
        return address;
    const struct element_leaf *leaf = &layout->leaves[behind - 1];
    const uint64_t *places = leaf->is_cold ? layout->cold : layout->hot;
    return (places ? places[element] : layout->bases[element]) + leaf->moved + offset -
           leaf->offset;
}

void element_layout_apply(const struct element_layout *layout, uint32_t process,
                          const struct memory_access *accesses, size_t count,
                          struct memory_access *moved) {
    memcpy(moved, accesses, count * sizeof *moved);
    if (process != layout->process)
        return;
    for (size_t i = 0; i < count; i++)
        if (may_have(layout, accesses[i].address))
            moved[i].address = moved_to(layout, accesses[i].address);
}
