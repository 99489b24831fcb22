/* A block that was executed before is found by its address and bytes. */
#include "trace/foreign/blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/array.h"

void foreign_blocks_free(struct foreign_blocks *blocks) {
    free(blocks->known);
    free(blocks->events);
    hash_index_free(&blocks->index);
    arena_free(&blocks->arena);
}

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for the trace's code");
}

static size_t bytes_of(const struct foreign_block *block) {
    return block->described ? (size_t)DESCRIBED_BYTES * block->insn_count : block->size;
}

static bool is_open(const struct foreign_blocks *blocks, const struct foreign_block *known) {
    const struct foreign_block *open = &blocks->open;
    return known->address == open->address && known->insn_count == open->insn_count &&
           known->size == open->size && known->described == open->described &&
           memcmp(known->bytes, blocks->code, bytes_of(open)) == 0;
}

/* The number of the block in the making; HASH_INDEX_NONE with an error. */
static uint32_t number_of(struct foreign_blocks *blocks, struct error *error) {
    const struct foreign_block *open = &blocks->open;
    const uint64_t hash =
        hash_pair(open->address, XXH3_64bits(blocks->code, bytes_of(open)) + open->insn_count);
    size_t at;
    for (uint32_t i = hash_index_first(&blocks->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&blocks->index, hash, &at))
        if (is_open(blocks, &blocks->known[i]))
            return i;
    if (blocks->code_insns > BLOCK_CODE_MAX) {
        error_set(error, "the trace has more than %d different instructions: too many",
                  BLOCK_CODE_MAX);
        return HASH_INDEX_NONE;
    }
    struct foreign_block made = *open;
    made.bytes = (uint8_t *)arena_copy(&blocks->arena, (const char *)blocks->code, bytes_of(open));
    if (!made.bytes || !hash_index_reserve(&blocks->index, blocks->index.count + 1) ||
        !array_push(blocks->known, blocks->capacity, blocks->count, made)) {
        out_of_memory(error);
        return HASH_INDEX_NONE;
    }
    hash_index_add(&blocks->index, hash, blocks->count - 1);
    blocks->code_insns += open->insn_count;
    return blocks->count - 1;
}

bool foreign_blocks_end(struct foreign_blocks *blocks, uint64_t mark, struct error *error) {
    if (!blocks->open.insn_count)
        return true;
    const uint32_t number = number_of(blocks, error);
    if (number == HASH_INDEX_NONE)
        return false;
    if (mark)
        blocks->open_events[blocks->open_event_count++] = mark;
    const size_t need = (size_t)blocks->event_count + 1 + blocks->open_event_count;
    if (!array_room(blocks->events, blocks->event_capacity, need))
        return out_of_memory(error);
    blocks->events[blocks->event_count] = event_block(number);
    memcpy(blocks->events + blocks->event_count + 1, blocks->open_events,
           blocks->open_event_count * sizeof *blocks->events);
    blocks->event_count = (uint32_t)need;
    blocks->insn_count += blocks->open.insn_count;
    blocks->open.insn_count = 0;
    return true;
}

/* An event of index 0 as one of the instruction of this index. */
static uint64_t place(uint64_t event, uint32_t index) {
    if (event_kind(event) != EVENT_MARK)
        return event | (uint64_t)index << 48;
    return event_mark_kind(event) == MARK_REP ? event | (uint64_t)index << 45 : event;
}

static void open_block(struct foreign_blocks *blocks, const struct foreign_insn *insn) {
    blocks->open = (struct foreign_block){.address = insn->address, .described = insn->described};
    blocks->code_size = 0;
    blocks->open_event_count = 0;
}

bool foreign_blocks_add(struct foreign_blocks *blocks, const struct foreign_insn *insn,
                        struct error *error) {
    struct foreign_block *open = &blocks->open;
    if (open->insn_count &&
        (open->insn_count == BLOCK_INSNS || open->described != insn->described ||
         open->address + open->size != insn->address ||
         blocks->open_event_count + insn->event_count > BLOCK_EVENTS) &&
        !foreign_blocks_end(blocks, 0, error))
        return false;
    if (!open->insn_count)
        open_block(blocks, insn);
    const size_t size = insn->described ? DESCRIBED_BYTES : insn->length;
    memcpy(blocks->code + blocks->code_size, insn->code, size);
    blocks->code_size += size;
    for (uint32_t i = 0; i < insn->event_count; i++)
        blocks->open_events[blocks->open_event_count++] = place(insn->events[i], open->insn_count);
    open->size += insn->length;
    open->insn_count++;
    return !insn->ends || foreign_blocks_end(blocks, 0, error);
}

static struct item code_item(struct foreign_blocks *blocks) {
    const struct foreign_block *block = &blocks->known[blocks->told];
    return (struct item){.kind = ITEM_CODE,
                         .code = {.process = blocks->process,
                                  .block = blocks->told++,
                                  .image = blocks->image,
                                  .address = block->address,
                                  .offset = block->address,
                                  .insn_count = block->insn_count,
                                  .size = block->size,
                                  .bytes = block->bytes,
                                  .described = block->described}};
}

bool foreign_blocks_next(struct foreign_blocks *blocks, bool flush, struct item *item) {
    if (blocks->event_count < CHUNK_EVENTS && !(flush && blocks->event_count))
        return false;
    if (blocks->told < blocks->count) {
        *item = code_item(blocks);
        return true;
    }
    *item = (struct item){.kind = ITEM_DATA,
                          .data = {.process = blocks->process,
                                   .thread = blocks->thread,
                                   .ticket = blocks->ticket++,
                                   .first_insn = blocks->first_insn,
                                   .insn_count = blocks->insn_count,
                                   .event_count = blocks->event_count,
                                   .events = blocks->events}};
    blocks->first_insn += blocks->insn_count;
    blocks->event_count = 0;
    blocks->insn_count = 0;
    return true;
}
