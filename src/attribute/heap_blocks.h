/* Inside of this room: the blocks that a process has allocated, by address.
 *
 * Small blocks are found in two or three steps: a tree of pages, whose leaves say that a page lies
 * in one block, or of which block each 16 bytes are. Blocks of HEAP_LARGE and more, of which there
 * are few, lie in a sorted array. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEAP_LARGE = 1 << 20, HEAP_TREE_BITS = 12 };

struct heap_block {
    uint64_t base, size; /* size 0: the entry is free */
    uint32_t object;
};

struct heap_blocks { /* all zero: none */
    void *top[1 << HEAP_TREE_BITS];
    struct heap_block *blocks; /* small ones */
    size_t count, capacity;
    uint32_t free;            /* 1 more than the first free entry, which has the next as object */
    struct heap_block *large; /* by base */
    size_t large_count, large_capacity;
    size_t most;      /* small blocks; 0: no limit */
    uint64_t dropped; /* blocks that found no room */
};

/* What lay there is gone. False: out of memory. */
bool heap_blocks_add(struct heap_blocks *heap, uint64_t base, uint64_t size, uint32_t object);
/* The block that begins there. Its size; 0: none does. */
uint64_t heap_blocks_remove(struct heap_blocks *heap, uint64_t base);
/* NULL: no block has this byte. */
const struct heap_block *heap_blocks_at(const struct heap_blocks *heap, uint64_t address);
/* False: out of memory. */
bool heap_blocks_copy(struct heap_blocks *to, const struct heap_blocks *from);
void heap_blocks_free(struct heap_blocks *heap);
