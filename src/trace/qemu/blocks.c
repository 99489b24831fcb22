/* Tables form a chain from a fork child to its ancestors. Each is freed when nothing refers to it
 * any more. */
#include "trace/qemu/blocks.h"

#include <stdlib.h>
#include <string.h>

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
        free(table->items);
        free(table->bytes);
        free(table->mappings);
        free(table->renumbered);
        free(table);
        table = parent;
    }
}

uint32_t blocks_count(const struct block_table *table) {
    return table->inherited + (uint32_t)table->count;
}

bool blocks_add(struct block_table *table, const struct ring_block *block, const uint8_t *bytes) {
    if (block->block != blocks_count(table) ||
        !array_room(table->items, table->capacity, table->count + 1) ||
        !array_reserve((void **)&table->bytes, &table->byte_capacity,
                       table->byte_count + block->size, 1))
        return false;
    memcpy(table->bytes + table->byte_count, bytes, block->size);
    table->items[table->count++] = (struct block_definition){.address = block->address,
                                                             .offset = block->offset,
                                                             .image = block->image,
                                                             .insn_count = block->insn_count,
                                                             .size = block->size,
                                                             .bytes = table->byte_count};
    table->byte_count += block->size;
    return true;
}

const struct block_definition *blocks_find(const struct block_table *table, uint32_t number,
                                           const struct block_table **owner) {
    while (table && number < table->inherited)
        table = table->parent;
    if (!table || number - table->inherited >= table->count)
        return NULL;
    *owner = table;
    return &table->items[number - table->inherited];
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
    if (!array_room(table->mappings, table->mapping_capacity, table->mapping_count + 1))
        return false;
    table->mappings[table->mapping_count++] = *mapping;
    return true;
}
