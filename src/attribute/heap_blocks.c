/* A leaf's word of a page is 0 (no block), twice a block's number plus 1 (all of the page is in
 * that block), or a pointer to a number for each 16 bytes. Numbers begin at 1. A block may leave
 * bytes of its last 16 to nobody: whoever asks compares with its size. */
#include "attribute/heap_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum {
    PAGE_BITS = 12,
    GRAIN_BITS = 4,
    GRAINS = 1 << (PAGE_BITS - GRAIN_BITS),
    ENTRIES = 1 << HEAP_TREE_BITS,
    ADDRESS_BITS = PAGE_BITS + 3 * HEAP_TREE_BITS
};

struct page {
    uint32_t grains[GRAINS];
};

/* ---- the tree of pages ---- */

static uint64_t index_at(uint64_t page, int level) {
    return page >> level * HEAP_TREE_BITS & (ENTRIES - 1);
}

/* The word of a page; NULL: there is none yet. */
static uint64_t *find_word(const struct heap_blocks *heap, uint64_t page) {
    void *const *middle = heap->top[index_at(page, 2)];
    uint64_t *leaf = middle ? middle[index_at(page, 1)] : NULL;
    return leaf ? &leaf[index_at(page, 0)] : NULL;
}

static uint64_t *make_word(struct heap_blocks *heap, uint64_t page) {
    void **top = &heap->top[index_at(page, 2)];
    if (!*top && !(*top = calloc(ENTRIES, sizeof(void *))))
        return NULL;
    void **middle = &((void **)*top)[index_at(page, 1)];
    if (!*middle && !(*middle = calloc(ENTRIES, sizeof(uint64_t))))
        return NULL;
    return &((uint64_t *)*middle)[index_at(page, 0)];
}

static struct page *page_of(uint64_t word) {
    return word & 1 ? NULL : (struct page *)(uintptr_t)word;
}

static uint32_t number_in(uint64_t word, uint64_t address) {
    const struct page *page = page_of(word);
    if (!page)
        return (uint32_t)(word >> 1);
    return page->grains[address >> GRAIN_BITS & (GRAINS - 1)];
}

/* [first, last] of the grains of a page become the block's. */
static bool fill_page(uint64_t *word, uint32_t first, uint32_t last, uint32_t number) {
    struct page *page = page_of(*word);
    if (first == 0 && last == GRAINS - 1) {
        free(page);
        *word = number ? (uint64_t)number << 1 | 1 : 0;
        return true;
    }
    if (!page) {
        const uint32_t whole = (uint32_t)(*word >> 1);
        if (!(page = malloc(sizeof *page)))
            return false;
        for (int i = 0; i < GRAINS; i++)
            page->grains[i] = whole;
        *word = (uint64_t)(uintptr_t)page;
    }
    for (uint32_t i = first; i <= last; i++)
        page->grains[i] = number;
    return true;
}

/* The grains of [base, base + size) become the block's, or 0: nobody's. */
static bool fill(struct heap_blocks *heap, uint64_t base, uint64_t size, uint32_t number) {
    const uint64_t first = base >> GRAIN_BITS, last = (base + size - 1) >> GRAIN_BITS;
    for (uint64_t page = base >> PAGE_BITS; page <= (base + size - 1) >> PAGE_BITS; page++) {
        const uint64_t from = page * GRAINS, to = from + GRAINS - 1;
        uint64_t *word = number ? make_word(heap, page) : find_word(heap, page);
        if (!word && number)
            return false;
        if (word && !fill_page(word, (uint32_t)((first > from ? first : from) - from),
                               (uint32_t)((last < to ? last : to) - from), number))
            return false;
    }
    return true;
}

/* ---- large blocks ---- */

/* How many begin at the address or before. */
static size_t large_before(const struct heap_blocks *heap, uint64_t address) {
    size_t low = 0, high = heap->large_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (heap->large[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct heap_block *large_at(const struct heap_blocks *heap, uint64_t address) {
    const size_t at = large_before(heap, address);
    const struct heap_block *block = at ? &heap->large[at - 1] : NULL;
    return block && address - block->base < block->size ? block : NULL;
}

static void drop_large(struct heap_blocks *heap, size_t at) {
    heap->large_count--;
    memmove(heap->large + at, heap->large + at + 1, (heap->large_count - at) * sizeof *heap->large);
}

/* Those that have bytes of [base, base + size). */
static void drop_large_in(struct heap_blocks *heap, uint64_t base, uint64_t size) {
    size_t at = large_before(heap, base + (size - 1));
    while (at && heap->large[at - 1].base + heap->large[at - 1].size > base)
        drop_large(heap, --at);
}

static bool add_large(struct heap_blocks *heap, struct heap_block block) {
    const size_t at = large_before(heap, block.base);
    if (!array_room(heap->large, heap->large_capacity, heap->large_count + 1))
        return false;
    memmove(heap->large + at + 1, heap->large + at, (heap->large_count - at) * sizeof *heap->large);
    heap->large[at] = block;
    heap->large_count++;
    return true;
}

/* ---- small blocks ---- */

static bool release(struct heap_blocks *heap, uint32_t number) {
    struct heap_block *block = &heap->blocks[number - 1];
    const bool good = fill(heap, block->base, block->size, 0);
    *block = (struct heap_block){.object = heap->free};
    heap->free = number;
    return good;
}

static uint32_t number_at(const struct heap_blocks *heap, uint64_t address) {
    const uint64_t *word = find_word(heap, address >> PAGE_BITS);
    return word && *word ? number_in(*word, address) : 0;
}

/* What is still there was freed unseen. */
static bool release_in(struct heap_blocks *heap, uint64_t base, uint64_t size) {
    for (uint64_t address = base & ~(uint64_t)((1 << GRAIN_BITS) - 1); address < base + size;) {
        const uint64_t *word = find_word(heap, address >> PAGE_BITS);
        if (!word || !*word) {
            address = ((address >> PAGE_BITS) + 1) << PAGE_BITS;
            continue;
        }
        const uint32_t number = number_in(*word, address);
        if (number && !release(heap, number))
            return false;
        address += 1 << GRAIN_BITS;
    }
    return true;
}

/* 0: no room. */
static uint32_t new_number(struct heap_blocks *heap) {
    const uint32_t number = heap->free;
    if (number) {
        heap->free = heap->blocks[number - 1].object;
        return number;
    }
    if ((heap->most && heap->count >= heap->most) ||
        !array_push(heap->blocks, heap->capacity, heap->count, (struct heap_block){.size = 0}))
        return 0;
    return (uint32_t)heap->count;
}

bool heap_blocks_add(struct heap_blocks *heap, uint64_t base, uint64_t size, uint32_t object) {
    const uint64_t end = (uint64_t)1 << ADDRESS_BITS;
    size += !size;
    if (base >= end || size > end - base)
        return true; /* no address of a program */
    drop_large_in(heap, base, size);
    if (size >= HEAP_LARGE)
        return add_large(heap, (struct heap_block){base, size, object});
    if (!release_in(heap, base, size))
        return false;
    const uint32_t number = new_number(heap);
    heap->dropped += !number;
    if (!number)
        return true;
    heap->blocks[number - 1] = (struct heap_block){base, size, object};
    return fill(heap, base, size, number);
}

uint64_t heap_blocks_remove(struct heap_blocks *heap, uint64_t base) {
    const size_t at = large_before(heap, base);
    uint64_t size = 0;
    if (at && heap->large[at - 1].base == base) {
        size = heap->large[at - 1].size;
        drop_large(heap, at - 1);
        return size;
    }
    if (base >> ADDRESS_BITS)
        return 0;
    const uint32_t number = number_at(heap, base);
    if (number && heap->blocks[number - 1].base == base) {
        size = heap->blocks[number - 1].size;
        release(heap, number); /* what memory is out for stays, and is overwritten */
    }
    return size;
}

const struct heap_block *heap_blocks_at(const struct heap_blocks *heap, uint64_t address) {
    if (!(address >> ADDRESS_BITS)) {
        const uint32_t number = number_at(heap, address);
        const struct heap_block *block = number ? &heap->blocks[number - 1] : NULL;
        if (block && address - block->base < block->size)
            return block;
    }
    return heap->large_count ? large_at(heap, address) : NULL;
}

bool heap_blocks_copy(struct heap_blocks *to, const struct heap_blocks *from) {
    to->most = from->most;
    for (size_t i = 0; i < from->count; i++)
        if (from->blocks[i].size && !heap_blocks_add(to, from->blocks[i].base, from->blocks[i].size,
                                                     from->blocks[i].object))
            return false;
    for (size_t i = 0; i < from->large_count; i++)
        if (!add_large(to, from->large[i]))
            return false;
    return true;
}

static void free_leaf(uint64_t *leaf) {
    for (size_t i = 0; leaf && i < ENTRIES; i++)
        free(page_of(leaf[i]));
    free(leaf);
}

void heap_blocks_free(struct heap_blocks *heap) {
    for (size_t i = 0; i < ENTRIES; i++) {
        void **middle = heap->top[i];
        for (size_t k = 0; middle && k < ENTRIES; k++)
            free_leaf(middle[k]);
        free(middle);
    }
    free(heap->blocks);
    free(heap->large);
}
