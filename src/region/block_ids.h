/* Ids of blocks that are the same for all runs of a program: two blocks are one when image (build
 * id and path), offset and number of instructions are (PinPoints §4.4, "bbmerge"). Those of the
 * first run stay as they are, so far as its blocks are different. */
#pragma once

#include "region/slices.h"
#include "util/hash_index.h"

struct block_ids {
    struct region_image *images; /* paths of its own */
    size_t image_count, image_capacity;
    struct slice_block *blocks; /* by id − 1; image: of those above */
    size_t block_count, block_capacity;
    struct hash_index index; /* of the blocks */
};

/* All zero: none. Fills `ids`, an item for each block of the table, by its id there − 1. */
bool block_ids_add(struct block_ids *blocks, const struct slice_table *table, uint32_t *ids,
                   struct error *error);
void block_ids_free(struct block_ids *blocks);
