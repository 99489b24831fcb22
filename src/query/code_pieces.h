/* Anonymous code that nobody named, cut into pieces that belong together: what control flow shows
 * of its functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dynamic.h"

/* A run of instructions that follow one another. */
struct code_piece {
    uint32_t image;
    uint64_t start, end; /* addresses, end exclusive */
    uint64_t first;      /* where the first run of its piece begins: names the piece */
};

struct code_pieces {
    struct code_piece *items; /* by image and start */
    size_t count, capacity;
};

/* A run ends where nothing that executed follows, behind a jump or a return, and before what a
 * direct call leads to. Runs are of one piece when a direct branch or jump over at most 4 KB leads
 * from one to the other: loops with what they branch to, but neither what they call nor, farther
 * away, the exits that compiled traces share. False: out of memory; code_pieces_free() either way.
 */
bool code_pieces_build(struct code_pieces *pieces, const struct code *code);
void code_pieces_free(struct code_pieces *pieces);

/* The run at an address; NULL: none. */
const struct code_piece *code_pieces_find(const struct code_pieces *pieces, uint32_t image,
                                          uint64_t address);
