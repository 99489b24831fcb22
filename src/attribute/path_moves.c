#include "attribute/path_moves.h"

#include <stdlib.h>

enum { CHUNK_MOVES = 1024 };

struct move_chunk {
    _Atomic(struct move_chunk *) next;
    atomic_uint count;
    struct path_move moves[CHUNK_MOVES];
};

/* An empty one, that which is given unless it is NULL. NULL: out of memory. */
static struct move_chunk *move_chunk_of(struct move_chunk *used) {
    struct move_chunk *chunk = used ? used : malloc(sizeof *chunk);
    if (chunk) {
        atomic_init(&chunk->next, NULL);
        atomic_init(&chunk->count, 0);
    }
    return chunk;
}

bool path_moves_init(struct move_list *list) {
    list->first = list->last = move_chunk_of(NULL);
    return list->first;
}

static void free_moves(struct move_chunk *chunk) {
    for (struct move_chunk *next; chunk; chunk = next) {
        next = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        free(chunk);
    }
}

void path_moves_free(struct move_list *list) {
    free_moves(list->first);
    free_moves(list->idle);
    free_moves(atomic_load(&list->spare));
}

static struct move_chunk *next_move_chunk(struct move_list *list) {
    struct move_chunk *used = list->idle ? list->idle : atomic_exchange(&list->spare, NULL);
    list->idle = used ? atomic_load_explicit(&used->next, memory_order_relaxed) : NULL;
    return move_chunk_of(used);
}

static void give_back(struct move_list *list, struct move_chunk *chunk) {
    struct move_chunk *others = atomic_load(&list->spare);
    do
        atomic_store_explicit(&chunk->next, others, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&list->spare, &others, chunk));
}

bool path_moves_put(struct move_list *list, struct path_move move) {
    struct move_chunk *chunk = list->last;
    unsigned count = atomic_load_explicit(&chunk->count, memory_order_relaxed);
    if (count == CHUNK_MOVES) {
        struct move_chunk *more = next_move_chunk(list);
        if (!more)
            return false;
        atomic_store_explicit(&chunk->next, more, memory_order_release);
        list->last = chunk = more;
        count = 0;
    }
    chunk->moves[count] = move;
    atomic_store_explicit(&chunk->count, count + 1, memory_order_release);
    return true;
}

const struct path_move *path_moves_first(struct move_list *list) {
    struct move_chunk *chunk = list->first;
    if (list->taken == CHUNK_MOVES) {
        struct move_chunk *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
        if (!next)
            return NULL;
        give_back(list, chunk);
        list->first = chunk = next;
        list->taken = 0;
    }
    return list->taken < atomic_load_explicit(&chunk->count, memory_order_acquire)
               ? &chunk->moves[list->taken]
               : NULL;
}
