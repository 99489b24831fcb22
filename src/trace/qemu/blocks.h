/* The block definitions of one process, kept because a fork child runs on with its parent's
 * blocks under its own process number. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/kept_code.h"
#include "trace/qemu/images.h"
#include "trace/qemu/ring.h"

struct block_table {
    struct block_table *parent; /* of a fork child: holds the blocks below `inherited` */
    uint32_t inherited;
    uint32_t references; /* its process, and the tables of fork children */
    struct kept_code code;
    struct image_mapping *mappings; /* announced as IMAGE items of this process */
    size_t mapping_count, mapping_capacity;
    /* A fork child's blocks are renumbered densely as they are first entered. */
    uint32_t *renumbered; /* by the plugin's number; 0: not yet entered, else number + 1 */
    size_t renumbered_count;
    uint32_t entered;
};

/* Takes a reference to `parent` (may be NULL). NULL: out of memory. */
struct block_table *blocks_new(struct block_table *parent, uint32_t inherited);
void blocks_release(struct block_table *table);

/* Adds a block. Blocks come in the order of their numbers. False: out of order, or out of
 * memory. */
bool blocks_add(struct block_table *table, const struct ring_block *block, const uint8_t *bytes);
uint32_t blocks_count(const struct block_table *table);
/* Finds a block; NULL: not defined. *owner is the table that has its bytes. */
const struct kept_block *blocks_find(const struct block_table *table, uint32_t number,
                                     const struct block_table **owner);
/* The mapping that holds `address` of `image`: one announced in this process, or else in a process
 * it was forked from; NULL: none. */
const struct image_mapping *blocks_mapping(const struct block_table *table, uint32_t image,
                                           uint64_t address, bool *announced);
bool blocks_announce(struct block_table *table, const struct image_mapping *mapping);
