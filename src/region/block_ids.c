/* Images are few and found one by one; blocks by their hashes. */
#include "region/block_ids.h"

#include <stdlib.h>

#include "util/array.h"

void block_ids_free(struct block_ids *blocks) {
    region_images_free(blocks->images, blocks->image_count);
    free(blocks->blocks);
    hash_index_free(&blocks->index);
    *blocks = (struct block_ids){0};
}

/* The id of a block, which is added when it is new; there is room. */
static uint32_t id_of(struct block_ids *blocks, const struct slice_block *block) {
    const uint64_t hash =
        hash_pair(block->offset, (uint64_t)block->image << 32 | block->insn_count);
    size_t at;
    for (uint32_t i = hash_index_first(&blocks->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&blocks->index, hash, &at)) {
        const struct slice_block *there = &blocks->blocks[i];
        if (there->offset == block->offset && there->image == block->image &&
            there->insn_count == block->insn_count)
            return i + 1;
    }
    hash_index_add(&blocks->index, hash, (uint32_t)blocks->block_count);
    blocks->blocks[blocks->block_count++] = *block;
    return (uint32_t)blocks->block_count;
}

bool block_ids_add(struct block_ids *blocks, const struct slice_table *table, uint32_t *ids,
                   struct error *error) {
    size_t most = blocks->block_count + table->block_count;
    uint32_t *images = malloc((table->image_count + 1) * sizeof *images);
    bool good = most < UINT32_MAX && images && hash_index_reserve(&blocks->index, most) &&
                array_room(blocks->blocks, blocks->block_capacity, most);
    for (size_t i = 0; i < table->image_count && good; i++)
        good = (images[i] = region_images_find(&blocks->images, &blocks->image_count,
                                               &blocks->image_capacity, &table->images[i])) !=
               UINT32_MAX;
    for (size_t i = 0; i < table->block_count && good; i++) {
        struct slice_block block = table->blocks[i];
        if (block.image != MARKER_NO_IMAGE)
            block.image = images[block.image];
        ids[i] = id_of(blocks, &block);
    }
    free(images);
    return good || error_set(error, "out of memory for %zu blocks", most);
}
