/* Memory that is freed all at once: strings and small arrays that live as long as their owner.
 *
 *     struct arena arena = {0};
 *     char *name = arena_copy(&arena, text, strlen(text));
 *     arena_free(&arena);
 */
#pragma once

#include <stddef.h>

struct arena {
    struct arena_block *newest; /* NULL: nothing allocated yet */
};

/* Uncleared memory, aligned for any plain type; NULL when memory is out. */
void *arena_alloc(struct arena *arena, size_t size);

/* A copy of `length` bytes with a NUL after them; NULL when memory is out. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);

/* Frees everything; the arena is empty again. */
void arena_free(struct arena *arena);
