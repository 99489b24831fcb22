/* Blocks chained from newest to oldest; an allocation bumps the newest block's `used`. A request
 * that does not fit gets a new block, at least as large as the request, so that memory never
 * moves. */
#include "util/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 16384 };

struct arena_block {
    struct arena_block *older;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size) {
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) & ~(align - 1);
    struct arena_block *block = arena->newest;
    if (!block || block->size - block->used < size) {
        size_t room = size > ARENA_BLOCK_BYTES ? size : ARENA_BLOCK_BYTES;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct arena_block){.older = arena->newest, .size = room};
        arena->newest = block;
    }
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length) {
    char *copy = length < SIZE_MAX ? arena_alloc(arena, length + 1) : NULL;
    if (copy) {
        memcpy(copy, bytes, length);
        copy[length] = '\0';
    }
    return copy;
}

void arena_free(struct arena *arena) {
    while (arena->newest) {
        struct arena_block *block = arena->newest;
        arena->newest = block->older;
        free(block);
    }
}
