/* What must hold for every control-flow graph, whatever the code; shared by unit tests and
 * fuzzing. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "analyze/cfg.h"

static inline const struct cfg_insn *cfg_last(const struct cfg *cfg,
                                              const struct cfg_block *block) {
    return &cfg->insns[block->first_insn + block->insn_count - 1];
}

#define CFG_CHECK(truth)                                                                           \
    do {                                                                                           \
        if (!(truth))                                                                              \
            return #truth;                                                                         \
    } while (0)

/* Instructions are those at their offsets, each in one block, and blocks end where control may
 * branch. */
static inline const char *cfg_check_insns(const struct cfg *cfg) {
    uint32_t next = 0, starts = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct cfg_block *block = &cfg->blocks[b];
        CFG_CHECK(block->first_insn == next && block->insn_count > 0);
        next += block->insn_count;
        CFG_CHECK(next <= cfg->insn_count);
        CFG_CHECK(b == 0 ? cfg->insns[0].offset == 0
                         : cfg->insns[block->first_insn].offset >
                               cfg->insns[cfg->blocks[b - 1].first_insn].offset);
        for (uint32_t i = block->first_insn; i < next; i++) {
            const struct cfg_insn *at = &cfg->insns[i];
            struct insn insn;
            CFG_CHECK(at->block == b && cfg_insn_at(cfg, at->offset) == i);
            CFG_CHECK(insn_decode(cfg->code->isa, cfg->code->bytes + at->offset,
                                  cfg->code->size - at->offset, &insn));
            CFG_CHECK(!memcmp(&insn, &at->insn, sizeof insn));
            if (i + 1 == next)
                break;
            CFG_CHECK(at[1].offset == at->offset + insn.length);
            CFG_CHECK(insn.branch == BRANCH_NONE || insn.branch == BRANCH_CALL ||
                      insn.branch == BRANCH_INDIRECT_CALL);
            CFG_CHECK(!(insn.flags & INSN_TRAP));
        }
    }
    CFG_CHECK(next == cfg->insn_count);
    uint32_t covered = 0;
    bool overlaps = false;
    for (uint32_t offset = 0; offset < cfg->code->size; offset++) {
        uint32_t i = cfg_insn_at(cfg, offset);
        if (i == CFG_NONE)
            continue;
        CFG_CHECK(i < cfg->insn_count && cfg->insns[i].offset == offset);
        starts++;
        overlaps |= offset < covered;
        covered = offset + cfg->insns[i].insn.length;
    }
    CFG_CHECK(starts == cfg->insn_count && cfg_insn_at(cfg, (uint32_t)cfg->code->size) == CFG_NONE);
    CFG_CHECK(overlaps == !!(cfg->flags & CFG_OVERLAPPING));
    return NULL;
}

static inline const char *cfg_check_edge(const struct cfg *cfg, const struct cfg_edge *edge) {
    bool from_outside = edge->kind == EDGE_ENTRY || edge->kind == EDGE_UNKNOWN;
    bool to_outside =
        edge->kind == EDGE_RETURN || edge->kind == EDGE_TAIL || edge->kind == EDGE_STOP;
    CFG_CHECK(edge->kind <= EDGE_UNKNOWN);
    CFG_CHECK(from_outside == (edge->from == CFG_NONE) && to_outside == (edge->to == CFG_NONE));
    CFG_CHECK(from_outside || edge->from < cfg->block_count);
    CFG_CHECK(to_outside || edge->to < cfg->block_count);
    if (from_outside)
        return NULL;
    const struct cfg_insn *last = cfg_last(cfg, &cfg->blocks[edge->from]);
    unsigned branch = last->insn.branch;
    uint32_t to = to_outside ? CFG_NONE : cfg->insns[cfg->blocks[edge->to].first_insn].offset;
    bool direct = branch == BRANCH_CONDITIONAL || branch == BRANCH_JUMP;
    int64_t target = last->offset + last->insn.target;
    switch (edge->kind) {
    case EDGE_FALL:
        CFG_CHECK(to == last->offset + last->insn.length);
        CFG_CHECK(branch != BRANCH_JUMP && branch != BRANCH_INDIRECT && branch != BRANCH_RETURN);
        break;
    case EDGE_TAKEN:
        CFG_CHECK(direct || branch == BRANCH_INDIRECT);
        CFG_CHECK(!direct || to == target);
        break;
    case EDGE_TABLE:
        CFG_CHECK(branch == BRANCH_INDIRECT);
        break;
    case EDGE_RETURN:
        CFG_CHECK(branch == BRANCH_RETURN || branch == BRANCH_INDIRECT);
        break;
    case EDGE_TAIL:
        CFG_CHECK(direct || branch == BRANCH_INDIRECT);
        CFG_CHECK(!direct || target < 0 || target >= (int64_t)cfg->code->size);
        break;
    default:
        break;
    }
    return NULL;
}

static inline const char *cfg_check_edges(const struct cfg *cfg) {
    uint32_t out = 0, in = 0, inner = cfg->edge_count - cfg->outer_count, into = 0;
    bool unknown = false;
    CFG_CHECK(cfg->outer_count > 0 && cfg->outer_count <= cfg->edge_count);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct cfg_block *block = &cfg->blocks[b];
        CFG_CHECK(block->first_out == out && block->out_count > 0);
        CFG_CHECK(block->first_in == in && block->in_count > 0);
        out += block->out_count;
        in += block->in_count;
        CFG_CHECK(out <= inner && in <= cfg->edge_count);
        for (uint32_t i = block->first_out; i < out; i++) {
            CFG_CHECK(cfg->edges[i].from == b);
            for (uint32_t j = block->first_out; j < i && i - block->first_out < 100; j++)
                CFG_CHECK(cfg->edges[i].to == CFG_NONE || cfg->edges[i].to != cfg->edges[j].to ||
                          cfg->edges[i].kind != cfg->edges[j].kind);
        }
        for (uint32_t i = block->first_in; i < in; i++) {
            CFG_CHECK(cfg->in_edges[i] < cfg->edge_count && cfg->edges[cfg->in_edges[i]].to == b);
            CFG_CHECK(i == block->first_in || cfg->in_edges[i] > cfg->in_edges[i - 1]);
        }
        unsigned branch = cfg_last(cfg, block)->insn.branch;
        CFG_CHECK(branch == BRANCH_CONDITIONAL ? block->out_count == 2
                  : branch == BRANCH_INDIRECT  ? block->out_count >= 1
                                               : block->out_count == 1);
    }
    CFG_CHECK(out == inner);
    for (uint32_t i = 0; i < cfg->edge_count; i++) {
        const char *problem = cfg_check_edge(cfg, &cfg->edges[i]);
        if (problem)
            return problem;
        into += cfg->edges[i].to != CFG_NONE;
        unknown |= cfg->edges[i].kind == EDGE_UNKNOWN;
    }
    CFG_CHECK(into == in);
    CFG_CHECK(cfg->edges[inner].kind == EDGE_ENTRY && cfg->edges[inner].to == 0);
    CFG_CHECK(unknown == !!(cfg->flags & CFG_UNREACHED));
    CFG_CHECK(!!cfg->unresolved == !!(cfg->flags & CFG_MISSING_EDGES));
    return NULL;
}

/* The blocks that are reached from outside without `without` (CFG_NONE: with all), or, backwards,
 * that reach it. How many. */
static inline uint32_t cfg_reach(const struct cfg *cfg, uint32_t without, bool backwards,
                                 bool *reached, uint32_t *stack) {
    uint32_t depth = 0, count = 0;
    memset(reached, 0, cfg->block_count * sizeof *reached);
    for (uint32_t i = 0; i < cfg->edge_count; i++) {
        uint32_t from = backwards ? cfg->edges[i].to : cfg->edges[i].from;
        uint32_t to = backwards ? cfg->edges[i].from : cfg->edges[i].to;
        if (from != CFG_NONE || to == without || reached[to])
            continue;
        reached[to] = true;
        stack[depth++] = to;
    }
    for (; depth > 0; count++) {
        const struct cfg_block *block = &cfg->blocks[stack[--depth]];
        for (uint32_t i = 0; i < (backwards ? block->in_count : block->out_count); i++) {
            uint32_t to = backwards ? cfg->edges[cfg->in_edges[block->first_in + i]].from
                                    : cfg->edges[block->first_out + i].to;
            if (to == CFG_NONE || to == without || reached[to])
                continue;
            reached[to] = true;
            stack[depth++] = to;
        }
    }
    return count;
}

/* Loops by their definition: `head` dominates `from` if nothing reaches `from` without it; the loop
 * of the edges back to a head is what reaches one of them without it. */
static inline const char *cfg_check_depths(const struct cfg *cfg, bool *reached, uint32_t *stack,
                                           uint32_t *expected) {
    memset(expected, 0, cfg->block_count * sizeof *expected);
    for (uint32_t head = 0; head < cfg->block_count; head++) {
        const struct cfg_block *block = &cfg->blocks[head];
        uint32_t depth = 0;
        bool is_loop = false;
        cfg_reach(cfg, head, false, reached, stack);
        bool *inside = calloc(cfg->block_count, sizeof *inside);
        if (!inside)
            return "out of memory";
        inside[head] = true;
        for (uint32_t i = 0; i < block->in_count; i++) {
            uint32_t from = cfg->edges[cfg->in_edges[block->first_in + i]].from;
            if (from == CFG_NONE || reached[from])
                continue;
            is_loop = true;
            if (!inside[from])
                stack[depth++] = from;
            inside[from] = true;
        }
        while (depth > 0) {
            const struct cfg_block *inner = &cfg->blocks[stack[--depth]];
            for (uint32_t i = 0; i < inner->in_count; i++) {
                uint32_t from = cfg->edges[cfg->in_edges[inner->first_in + i]].from;
                if (!inside[from])
                    stack[depth++] = from;
                inside[from] = true;
            }
        }
        for (uint32_t b = 0; b < cfg->block_count && is_loop; b++)
            expected[b] += inside[b];
        free(inside);
    }
    for (uint32_t b = 0; b < cfg->block_count; b++)
        CFG_CHECK(cfg->blocks[b].loop_depth == expected[b]);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint32_t depth = 0, loop = cfg->blocks[b].loop;
        for (; loop != CFG_NONE; loop = cfg->blocks[loop].outer_loop) {
            CFG_CHECK(cfg->blocks[loop].loop == loop && depth < cfg->blocks[b].loop_depth);
            depth++;
        }
        CFG_CHECK(depth == cfg->blocks[b].loop_depth);
    }
    return NULL;
}

/* NULL, or what is wrong. Depths of loops are checked in small graphs only. */
static inline const char *cfg_problem(const struct cfg *cfg) {
    enum { SMALL = 200 };
    const char *problem = cfg_check_insns(cfg);
    if (!problem)
        problem = cfg_check_edges(cfg);
    if (problem)
        return problem;
    bool *reached = malloc(cfg->block_count * sizeof *reached);
    uint32_t *stack = malloc(2 * cfg->block_count * sizeof *stack);
    if (!reached || !stack)
        problem = "out of memory";
    else if (cfg_reach(cfg, CFG_NONE, false, reached, stack) != cfg->block_count)
        problem = "a block is not reached from outside";
    else if ((cfg_reach(cfg, CFG_NONE, true, reached, stack) < cfg->block_count) !=
             !!(cfg->flags & CFG_ENDLESS))
        problem = "CFG_ENDLESS is wrong";
    else if (cfg->block_count <= SMALL)
        problem = cfg_check_depths(cfg, reached, stack, stack + cfg->block_count);
    free(reached);
    free(stack);
    return problem;
}
