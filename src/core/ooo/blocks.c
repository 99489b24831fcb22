/* Which instructions make a block, and what is kept of it: in one piece of memory. */
#include "core/ooo/blocks.h"

#include <string.h>

#include "util/array.h"

enum { PLAIN_ACCESSES = 4, MOST_LINKS = BLOCK_UOPS + BLOCK_INSNS * PLAIN_ACCESSES };
static_assert(BLOCK_UOPS <= UINT8_MAX && BLOCK_INSNS * PLAIN_ACCESSES <= UINT8_MAX, "bytes");

/* ---- what can be kept ---- */

bool is_plain_insn(const struct dynamic_insn *insn, const struct memory_access *accesses) {
    if (insn->flags & ~(unsigned)DYN_TAKEN || insn->memory_count > PLAIN_ACCESSES)
        return false;
    for (uint32_t i = 1; i < insn->memory_count; i++)
        if (any_where(k, i,
                      accesses[k].operand == accesses[i].operand &&
                          accesses[k].is_store == accesses[i].is_store))
            return false;
    return true;
}

uint32_t block_extent(const struct ooo *core, const struct core_input *batch,
                      const struct dynamic_insn *insns, uint32_t count) {
    const uint64_t base = insns->memory - batch->first_access;
    uint32_t taken = 0, uops = 0, accesses = 0;
    for (; taken < BLOCK_INSNS; taken++) {
        const struct dynamic_insn *insn = &insns[taken];
        if (taken == count || insn->insn >= core->known_count || !core->known[insn->insn].uops)
            return 0; /* the block may be longer */
        const struct known_insn *known = &core->known[insn->insn];
        uops += known->uop_count + 1u;
        if (uops > BLOCK_UOPS - BLOCK_GROUP || insn->memory != insns->memory + accesses ||
            (insn->memory_count && base + accesses + insn->memory_count > batch->access_count) ||
            !is_plain_insn(insn, batch->accesses + (insn->memory_count ? base + accesses : 0)) ||
            any_where(k, taken, insns[k].insn == insn->insn)) /* as no program, but a trace may */
            break;
        if (known->branch != BRANCH_NONE)
            return taken + 1;
        accesses += insn->memory_count;
    }
    /* A compare may fuse with what comes next. */
    return taken && core->known[insns[taken - 1].insn].traits & KNOWN_COMPARE ? taken - 1 : taken;
}

/* ---- keeping ---- */

/* The access of its instruction that the µop has, as predecode gives them out. */
static uint32_t access_of(const struct stream_uop *uop, const struct memory_access *accesses,
                          uint32_t count) {
    const bool store = uop->flags & U_STORE;
    const uint8_t operand = uop->operands->memory;
    const uint32_t found = (uint32_t)index_where(
        i, count, accesses[i].operand == operand && accesses[i].is_store == store);
    return found < count ? found : (uint32_t)index_where(i, count, accesses[i].operand == operand);
}

/* Links the accesses of an instruction with its µops, or no µop; returns the end of the links. */
static struct block_access *link_accesses(const struct ooo *core, uint64_t first,
                                          const struct dynamic_insn *insn,
                                          const struct memory_access *accesses, uint32_t number,
                                          struct block_access *links) {
    for (uint32_t i = 0; i < insn->memory_count; i++) {
        const struct block_access none = {(uint8_t)(number + i), (uint8_t)(core->produced - first),
                                          accesses[i].is_store, accesses[i].operand};
        struct block_access *before = links;
        for (uint64_t at = first; at < core->produced; at++) {
            const struct stream_uop *uop = stream_at(core, at);
            if (uop->insn != insn->insn || !(uop->flags & (U_LOAD | U_STORE)) ||
                access_of(uop, accesses, insn->memory_count) != i)
                continue;
            *links = none;
            links++->uop = (uint8_t)(at - first);
        }
        if (links == before)
            *links++ = none;
    }
    return links;
}

static const struct memory_access *accesses_of(const struct core_input *batch,
                                               const struct dynamic_insn *insn) {
    return batch->accesses + (insn->memory_count ? insn->memory - batch->first_access : 0);
}

/* A block of so many, all else 0. */
static struct block *new_block(uint32_t insn_count, uint32_t uop_count, uint32_t link_count) {
    const uint32_t larger = insn_count > uop_count ? insn_count : uop_count;
    const uint32_t groups = (larger + BLOCK_GROUP - 1) / BLOCK_GROUP;
    const size_t size = sizeof(struct block) + groups * sizeof(struct block_group);
    struct block *block = calloc(1, size + link_count * sizeof *block->links);
    if (block)
        *block = (struct block){.insn_count = (uint16_t)insn_count,
                                .uop_count = (uint16_t)uop_count,
                                .link_count = (uint16_t)link_count,
                                .group_count = (uint16_t)groups,
                                .links = (struct block_access *)((char *)block + size)};
    return block;
}

static void keep_insns(struct block *block, const struct dynamic_insn *insns) {
    for (uint32_t i = 0; i < block->insn_count; i++) {
        struct block_group *group = &block->groups[i / BLOCK_GROUP];
        const uint32_t taken = i + 1u == block->insn_count ? (uint32_t)DYN_TAKEN << 16 : 0;
        struct dynamic_insn insn = insns[i];
        insn.memory -= insns->memory;
        memcpy(&group->insns[i % BLOCK_GROUP], &insn, sizeof insn);
        group->same[i % BLOCK_GROUP] = (insn_words){~0u, ~0u, ~0u, ~taken};
    }
}

static void keep_uops(const struct ooo *core, struct block *block, uint64_t first) {
    for (uint32_t k = 0; k < block->uop_count; k++) {
        struct stream_uop *uop = &block->groups[k / BLOCK_GROUP].uops[k % BLOCK_GROUP];
        *uop = *stream_at(core, first + k);
        if (!(uop->flags & U_FUSED) && !uop->access_count)
            uop->address = 0;
    }
}

void keep_block(struct ooo *core, const struct core_input *batch, const struct dynamic_insn *insns,
                uint32_t count, uint64_t first, bool stack_moved) {
    struct block_access links[MOST_LINKS], *end = links;
    uint32_t accesses = 0;
    uint8_t traits = 0;
    for (uint32_t i = 0; i < count; i++) {
        traits |= core->known[insns[i].insn].traits;
        end = link_accesses(core, first, &insns[i], accesses_of(batch, &insns[i]), accesses, end);
        accesses += insns[i].memory_count;
    }
    const uint32_t link_count = (uint32_t)(end - links);
    struct block *block = new_block(count, (uint32_t)(core->produced - first), link_count);
    if (!block)
        return;
    memcpy((struct block_access *)block->links, links, link_count * sizeof *links);
    keep_insns(block, insns);
    keep_uops(core, block, first);
    block->access_count = (uint16_t)accesses;
    block->minds_stack = (traits & KNOWN_STACK) != 0;
    block->stack_before = stack_moved;
    block->stack_after = core->stack_moved;
    block->last_begin = core->last_begin;
    block->last_end = core->last_end;
    core->known[insns->insn].block = block;
}
