/* Only predecode.c and blocks.c include this: what predecode made of basic blocks.
 *
 * The µops of a block are the same each time it is executed, but for the addresses of its accesses,
 * the place before it and where its branch goes. They are kept when it is executed for the second
 * time and copied from then on, as long as its instructions and accesses are what they were:
 * otherwise predecode goes through them one by one. */
#pragma once

#include "core/ooo/ooo.h"

/* An access of a block, and the µop that has it. */
struct block_access {
    uint8_t access, uop; /* by number, in the block; no µop has it: the block's µop_count */
    uint8_t is_store, operand;
};

/* Instructions are compared, and µops copied, so many at a time: how many there are is as hard to
 * foresee as the program, and most blocks have no more. */
enum { BLOCK_GROUP = 4 };
typedef uint32_t insn_words
    __attribute__((vector_size(sizeof(struct dynamic_insn)), aligned(4), may_alias));
static_assert(offsetof(struct dynamic_insn, memory) == 4 &&
                  offsetof(struct dynamic_insn, flags) == 14,
              "the second word is relative to the block; the upper half of the last may say taken");
struct block_group {
    /* Instructions as they were, the first access of the block being number 0, and which bits are
     * to be the same: none where there is no instruction. */
    insn_words insns[BLOCK_GROUP], same[BLOCK_GROUP];
    struct stream_uop uops[BLOCK_GROUP];
};

/* The basic block that begins with an instruction. */
struct block {
    uint16_t insn_count, uop_count, access_count, link_count, group_count;
    uint8_t minds_stack; /* 1: `stack_moved` must be, and becomes; 0: it may be any, and stays */
    uint8_t stack_before, stack_after;
    uint64_t last_begin, last_end; /* first and last byte of its last instruction */
    /* All of its accesses; those of several µops more than once. They lie behind the groups. */
    const struct block_access *links;
    struct block_group groups[];
};

/* How many instructions from the first on make a block that can be kept: up to a branch, a limit,
 * or the first that is not plain; 0: none. `count` follow in the batch. */
uint32_t block_extent(const struct ooo *core, const struct core_input *batch,
                      const struct dynamic_insn *insns, uint32_t count);

/* Keeps what `count` instructions, a block by block_extent(), have become: the µops of the stream
 * from `first` on, where nothing is said of the place before them. `stack_moved`: that of the core
 * before them. Nothing is kept when memory is out. */
void keep_block(struct ooo *core, const struct core_input *batch, const struct dynamic_insn *insns,
                uint32_t count, uint64_t first, bool stack_moved);

/* Whether the instruction can be one of a block, as far as itself shows: it does not repeat, it
 * completed, was not interrupted, and all its accesses are of different operands. */
bool is_plain_insn(const struct dynamic_insn *insn, const struct memory_access *accesses);

/* Puts the block into the stream if the first of `count` instructions are its own, but for where
 * the last goes: how many it has. 0, and nothing is done: they are not, or the batch or the
 * stream's ring ends too soon. */
static inline uint32_t copy_block(struct ooo *core, const struct block *block,
                                  const struct core_input *batch, const struct dynamic_insn *insns,
                                  uint32_t count) {
    typedef uint64_t halves __attribute__((vector_size(sizeof(insn_words))));
    const uint64_t base = insns->memory - batch->first_access;
    const struct block_access *link = block->links, *end = link + block->link_count;
    const struct block_group *group = block->groups, *last = group + block->group_count;
    const uint32_t room = block->group_count * BLOCK_GROUP;
    const uint64_t at = core->produced & core->stream_mask;
    if (room > count || base + block->access_count > batch->access_count ||
        at + room > core->stream_mask)
        return 0;
    const struct memory_access *accesses = batch->accesses + base;
    const insn_words *met = (const insn_words *)insns, first = {0, insns->memory};
    struct stream_uop *stream = core->stream + at, *to = stream;
    insn_words differ = {0};
    do {
        for (uint32_t i = 0; i < BLOCK_GROUP; i++) {
            differ |= (met[i] ^ (group->insns[i] + first)) & group->same[i];
            to[i] = group->uops[i];
        }
        met += BLOCK_GROUP;
        to += BLOCK_GROUP;
    } while (++group < last);
    uint32_t others = block->minds_stack & (core->stack_moved ^ block->stack_before);
    for (; link < end; link++) {
        const struct memory_access *access = &accesses[link->access];
        const uint32_t size = access->size_bytes;
        stream[link->uop].address = access->address;
        stream[link->uop].size_bytes = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX;
        if (__builtin_expect(is_split_load(core, access->address, size) && !link->is_store, 0))
            stream[link->uop].flags |= U_LONG;
        others |= (uint32_t)(access->is_store ^ link->is_store) |
                  (uint32_t)(access->operand ^ link->operand);
    }
    const halves both = (halves)differ;
    if (both[0] | both[1] | others)
        return 0;
    core->produced += block->uop_count;
    core->last_begin = block->last_begin;
    core->last_end = block->last_end;
    core->stack_moved ^= block->minds_stack & (block->stack_before ^ block->stack_after);
    return block->insn_count;
}
