/* Images are few and found one by one; blocks by open addressing. */
#include "region/block_ids.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

void block_ids_free(struct block_ids *blocks) {
    for (size_t i = 0; i < blocks->image_count; i++)
        free(blocks->images[i].path);
    free(blocks->images);
    free(blocks->blocks);
    free(blocks->places);
    *blocks = (struct block_ids){0};
}

/* UINT32_MAX: out of memory. */
static uint32_t image_of(struct block_ids *blocks, const struct region_image *image) {
    for (size_t i = 0; i < blocks->image_count; i++)
        if (blocks->images[i].build_id_size == image->build_id_size &&
            memcmp(blocks->images[i].build_id, image->build_id, image->build_id_size) == 0 &&
            strcmp(blocks->images[i].path, image->path) == 0)
            return (uint32_t)i;
    char *path = strdup(image->path);
    if (!path || !array_room(blocks->images, blocks->image_capacity, blocks->image_count + 1)) {
        free(path);
        return UINT32_MAX;
    }
    blocks->images[blocks->image_count] = *image;
    blocks->images[blocks->image_count].path = path;
    return (uint32_t)blocks->image_count++;
}

/* The place of the block, or the free one where it would be. */
static size_t place_of(const struct block_ids *blocks, const struct slice_block *block) {
    uint64_t hash = block->offset * 0x9e3779b97f4a7c15 ^
                    ((uint64_t)block->image << 32 | block->insn_count) * 0xbf58476d1ce4e5b9;
    size_t mask = blocks->place_count - 1, place = (hash ^ hash >> 29) & mask;
    for (; blocks->places[place]; place = (place + 1) & mask) {
        const struct slice_block *there = &blocks->blocks[blocks->places[place] - 1];
        if (there->offset == block->offset && there->image == block->image &&
            there->insn_count == block->insn_count)
            break;
    }
    return place;
}

/* Places for so many blocks, at most half of them taken. */
static bool make_places(struct block_ids *blocks, size_t count) {
    size_t places = 64;
    while (places < 2 * count)
        places *= 2;
    if (places <= blocks->place_count)
        return true;
    free(blocks->places);
    blocks->places = calloc(places, sizeof *blocks->places);
    blocks->place_count = blocks->places ? places : 0;
    for (size_t i = 0; i < blocks->block_count && blocks->places; i++)
        blocks->places[place_of(blocks, &blocks->blocks[i])] = (uint32_t)i + 1;
    return blocks->places != NULL;
}

bool block_ids_add(struct block_ids *blocks, const struct slice_table *table, uint32_t *ids,
                   struct error *error) {
    size_t most = blocks->block_count + table->block_count;
    uint32_t *images = malloc((table->image_count + 1) * sizeof *images);
    bool good = most < UINT32_MAX && images && make_places(blocks, most) &&
                array_room(blocks->blocks, blocks->block_capacity, most);
    for (size_t i = 0; i < table->image_count && good; i++)
        good = (images[i] = image_of(blocks, &table->images[i])) != UINT32_MAX;
    for (size_t i = 0; i < table->block_count && good; i++) {
        struct slice_block block = table->blocks[i];
        if (block.image != MARKER_NO_IMAGE)
            block.image = images[block.image];
        size_t place = place_of(blocks, &block);
        if (!blocks->places[place]) {
            blocks->blocks[blocks->block_count] = block;
            blocks->places[place] = (uint32_t)++blocks->block_count;
        }
        ids[i] = blocks->places[place];
    }
    free(images);
    return good || error_set(error, "out of memory for %zu blocks", most);
}
