/* Blocks of a process as they were defined, by number, with their bytes. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "trace/item.h"
#include "util/array.h"

struct kept_block {
    uint64_t address, offset;
    size_t at; /* where its bytes begin in `bytes` */
    uint32_t image, insn_count, size;
    bool described;
    uint64_t time; /* of a live capture: of its translation, if it is anonymous */
};

struct kept_code {
    struct kept_block *blocks;
    size_t count, capacity;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
};

/* The next block; `block.at` is filled in. False: out of memory. */
static inline bool kept_code_add(struct kept_code *code, struct kept_block block,
                                 const uint8_t *bytes) {
    const size_t size = item_code_bytes(&(struct item_code){
        .insn_count = block.insn_count, .size = block.size, .described = block.described});
    if (!array_room(code->blocks, code->capacity, code->count + 1) ||
        !array_room(code->bytes, code->byte_capacity, code->byte_count + size))
        return false;
    memcpy(code->bytes + code->byte_count, bytes, size);
    block.at = code->byte_count;
    code->blocks[code->count++] = block;
    code->byte_count += size;
    return true;
}

/* A block as an item, which has the numbers that are given. */
static inline struct item_code kept_code_item(const struct kept_code *code, size_t number,
                                              uint32_t process, uint32_t as) {
    const struct kept_block *block = &code->blocks[number];
    return (struct item_code){.process = process,
                              .block = as,
                              .image = block->image,
                              .address = block->address,
                              .offset = block->offset,
                              .insn_count = block->insn_count,
                              .size = block->size,
                              .described = block->described,
                              .bytes = code->bytes + block->at};
}

static inline void kept_code_free(struct kept_code *code) {
    free(code->blocks);
    free(code->bytes);
}
