/* Inside of this room: the moves from node to node of one guest thread, which one thread of the
 * host writes and another reads. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct path_move {
    uint64_t position;
    uint32_t node;
};

struct move_chunk;
/* A list of chunks, of which one thread writes the last and the other reads the first. What was
 * read is filled again: chunks that one thread allocates and another frees cost the kernel more
 * than what is in them. */
struct move_list {
    struct move_chunk *first, *last;    /* the reader's, the writer's */
    uint32_t taken;                     /* the reader's: of the first */
    struct move_chunk *idle;            /* the writer's: a list of those that it may fill */
    _Atomic(struct move_chunk *) spare; /* another, of those that were read since */
};

/* False: out of memory. path_moves_free() either way, when neither thread uses it. */
bool path_moves_init(struct move_list *list);
void path_moves_free(struct move_list *list);
/* The writer's. False: out of memory. */
bool path_moves_put(struct move_list *list, struct path_move move);
/* The reader's: the first move that was not `taken`; NULL: none is there. */
const struct path_move *path_moves_first(struct move_list *list);
