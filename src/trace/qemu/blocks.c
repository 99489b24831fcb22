/* Tables form a chain from a fork child to its ancestors. Each is freed when nothing refers to it
 * any more. */
#include "trace/qemu/blocks.h"

#include <stdlib.h>

#include "util/array.h"

struct block_table *blocks_new(struct block_table *parent, uint32_t inherited) {
    struct block_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->references = 1;
    table->parent = parent;
    table->inherited = parent ? inherited : 0;
    if (parent)
        parent->references++;
    return table;
}

void blocks_release(struct block_table *table) {
    while (table && --table->references == 0) {
        struct block_table *parent = table->parent;
        kept_code_free(&table->code);
        free(table->mappings);
        free(table->renumbered);
        free(table);
        table = parent;
    }
}

uint32_t blocks_count(const struct block_table *table) {
    return table->inherited + (uint32_t)table->code.count;
}

bool blocks_add(struct block_table *table, const struct ring_block *block, const uint8_t *bytes) {
    const struct kept_block kept = {.address = block->address,
                                    .offset = block->offset,
                                    .image = block->image,
                                    .insn_count = block->insn_count,
                                    .size = block->size,
                                    .time = block->time};
    return block->block == blocks_count(table) && kept_code_add(&table->code, kept, bytes);
}

const struct kept_block *blocks_find(const struct block_table *table, uint32_t number,
                                     const struct block_table **owner) {
    while (table && number < table->inherited)
        table = table->parent;
    if (!table || number - table->inherited >= table->code.count)
        return NULL;
    *owner = table;
    return &table->code.blocks[number - table->inherited];
}

const struct image_mapping *blocks_mapping(const struct block_table *table, uint32_t image,
                                           uint64_t address, bool *announced) {
    *announced = true;
    for (; table; table = table->parent) {
        for (size_t i = table->mapping_count; i-- > 0;) {
            const struct image_mapping *mapping = &table->mappings[i];
            if (mapping->image == image && address >= mapping->start && address < mapping->end)
                return mapping;
        }
        *announced = false;
    }
    return NULL;
}

bool blocks_announce(struct block_table *table, const struct image_mapping *mapping) {
    return array_push(table->mappings, table->mapping_capacity, table->mapping_count, *mapping);
}
