/* Blocks are numbered in the order of a depth-first walk from outside, which has number 0.
 * Dominators are found by the simple form of Lengauer and Tarjan 1979, in n log n. Loops are found
 * from the innermost outwards: an edge to a dominator closes one; its blocks are found backwards
 * from there, and then count as their head for the loops around it. */
#include "analyze/loops.h"

#include <stdlib.h>

enum { OUTSIDE = 0, NONE = UINT32_MAX };

struct walk {
    const struct cfg *cfg;
    uint32_t count;   /* of numbers: blocks and outside */
    uint32_t *number; /* by block */
    /* By number. */
    uint32_t *block;  /* CFG_NONE: outside */
    uint32_t *parent; /* in the walk's tree */
    uint32_t *dominator;
    /* Work space of the steps. */
    uint32_t *semi, *label, *ancestor, *bucket, *bucket_next, *stack;
    uint32_t *cursor;
    uint32_t *memory; /* all of them */
};

static bool walk_allocate(struct walk *walk, const struct cfg *cfg) {
    *walk = (struct walk){.cfg = cfg, .count = cfg->block_count + 1};
    uint32_t **const arrays[] = {&walk->number,      &walk->block,  &walk->parent,
                                 &walk->dominator,   &walk->semi,   &walk->label,
                                 &walk->ancestor,    &walk->bucket, &walk->stack,
                                 &walk->bucket_next, &walk->cursor};
    size_t count = sizeof arrays / sizeof *arrays;
    walk->memory = malloc(count * walk->count * sizeof *walk->memory);
    for (size_t i = 0; i < count && walk->memory; i++)
        *arrays[i] = walk->memory + i * walk->count;
    return walk->memory;
}

/* ---- depth first ---- */

static uint32_t out_count(const struct walk *walk, uint32_t number) {
    const struct cfg *cfg = walk->cfg;
    return number == OUTSIDE ? cfg->outer_count : cfg->blocks[walk->block[number]].out_count;
}

static const struct cfg_edge *out_edge(const struct walk *walk, uint32_t number, uint32_t index) {
    const struct cfg *cfg = walk->cfg;
    uint32_t first = number == OUTSIDE ? cfg->edge_count - cfg->outer_count
                                       : cfg->blocks[walk->block[number]].first_out;
    return &cfg->edges[first + index];
}

static void number_blocks(struct walk *walk) {
    uint32_t reached = 1, depth = 1;
    for (uint32_t block = 0; block < walk->cfg->block_count; block++)
        walk->number[block] = NONE;
    walk->block[OUTSIDE] = CFG_NONE;
    walk->parent[OUTSIDE] = walk->stack[0] = OUTSIDE;
    walk->cursor[OUTSIDE] = 0;
    while (depth > 0) {
        uint32_t from = walk->stack[depth - 1];
        if (walk->cursor[from] == out_count(walk, from)) {
            depth--;
            continue;
        }
        uint32_t to = out_edge(walk, from, walk->cursor[from]++)->to;
        if (to == CFG_NONE || walk->number[to] != NONE)
            continue;
        walk->number[to] = reached;
        walk->block[reached] = to;
        walk->parent[reached] = from;
        walk->cursor[reached] = 0;
        walk->stack[depth++] = reached++;
    }
    walk->count =
        reached; /* all of them: the graph has no block that is not reached from outside */
}

/* The number an edge into a block comes from. */
static uint32_t predecessor(const struct walk *walk, const struct cfg_block *block,
                            uint32_t index) {
    const struct cfg *cfg = walk->cfg;
    uint32_t from = cfg->edges[cfg->in_edges[block->first_in + index]].from;
    return from == CFG_NONE ? OUTSIDE : walk->number[from];
}

/* ---- dominators ---- */

/* The number with the least semidominator on the way up to a root of the forest, whose paths it
 * shortens. */
static uint32_t least_above(struct walk *walk, uint32_t number) {
    uint32_t depth = 0;
    if (walk->ancestor[number] == NONE)
        return number;
    for (uint32_t at = number; walk->ancestor[walk->ancestor[at]] != NONE; at = walk->ancestor[at])
        walk->stack[depth++] = at;
    while (depth > 0) {
        uint32_t at = walk->stack[--depth], above = walk->ancestor[at];
        if (walk->semi[walk->label[above]] < walk->semi[walk->label[at]])
            walk->label[at] = walk->label[above];
        walk->ancestor[at] = walk->ancestor[above];
    }
    return walk->label[number];
}

static void find_dominators(struct walk *walk) {
    for (uint32_t i = 0; i < walk->count; i++) {
        walk->semi[i] = walk->label[i] = i;
        walk->ancestor[i] = walk->bucket[i] = NONE;
    }
    for (uint32_t i = walk->count - 1; i > OUTSIDE; i--) {
        const struct cfg_block *block = &walk->cfg->blocks[walk->block[i]];
        for (uint32_t in = 0; in < block->in_count; in++) {
            uint32_t above = least_above(walk, predecessor(walk, block, in));
            if (walk->semi[above] < walk->semi[i])
                walk->semi[i] = walk->semi[above];
        }
        walk->bucket_next[i] = walk->bucket[walk->semi[i]];
        walk->bucket[walk->semi[i]] = i;
        uint32_t parent = walk->ancestor[i] = walk->parent[i];
        for (uint32_t at = walk->bucket[parent]; at != NONE; at = walk->bucket_next[at]) {
            uint32_t above = least_above(walk, at);
            walk->dominator[at] = walk->semi[above] < walk->semi[at] ? above : parent;
        }
        walk->bucket[parent] = NONE;
    }
    walk->dominator[OUTSIDE] = OUTSIDE;
    for (uint32_t i = 1; i < walk->count; i++)
        if (walk->dominator[i] != walk->semi[i])
            walk->dominator[i] = walk->dominator[walk->dominator[i]];
}

/* Numbers the tree of dominators so that what a block dominates lies in one range: first[i] up to
 * first[i] + size[i]. */
static void order_dominators(struct walk *walk, uint32_t *first, uint32_t *size) {
    uint32_t *next = walk->cursor;
    for (uint32_t i = 0; i < walk->count; i++)
        size[i] = 1;
    for (uint32_t i = walk->count - 1; i > OUTSIDE; i--)
        size[walk->dominator[i]] += size[i];
    first[OUTSIDE] = 0;
    next[OUTSIDE] = 1;
    for (uint32_t i = 1; i < walk->count; i++) {
        uint32_t above = walk->dominator[i];
        first[i] = next[above];
        next[above] += size[i];
        next[i] = first[i] + 1;
    }
}

/* ---- loops ---- */

/* The head of the outermost loop found so far around a block; itself: it is in none. */
static uint32_t outermost(uint32_t *head, uint32_t number) {
    while (head[number] != number) {
        head[number] = head[head[number]];
        number = head[number];
    }
    return number;
}

/* Puts the blocks from which `top` is reached without leaving its loop into it. */
static bool find_loop(struct walk *walk, uint32_t top, const uint32_t *first, const uint32_t *size,
                      uint32_t *head, uint32_t *around) {
    const struct cfg_block *block = &walk->cfg->blocks[walk->block[top]];
    uint32_t depth = 0;
    bool is_loop = false;
    for (uint32_t in = 0; in < block->in_count; in++) {
        uint32_t from = predecessor(walk, block, in);
        if (first[from] - first[top] >= size[top])
            continue; /* not dominated */
        is_loop = true;
        uint32_t at = outermost(head, from);
        if (at == top)
            continue;
        head[at] = around[at] = top;
        walk->stack[depth++] = at;
    }
    while (depth > 0) {
        const struct cfg_block *inner = &walk->cfg->blocks[walk->block[walk->stack[--depth]]];
        for (uint32_t in = 0; in < inner->in_count; in++) {
            uint32_t at = outermost(head, predecessor(walk, inner, in));
            if (at == top)
                continue;
            head[at] = around[at] = top;
            walk->stack[depth++] = at;
        }
    }
    return is_loop;
}

static void find_depths(struct cfg *cfg, struct walk *walk) {
    uint32_t *first = walk->semi, *size = walk->label, *head = walk->ancestor;
    uint32_t *around = walk->bucket, *depth = walk->bucket_next;
    order_dominators(walk, first, size);
    for (uint32_t i = 0; i < walk->count; i++) {
        head[i] = i;
        around[i] = OUTSIDE;
    }
    depth[OUTSIDE] = 0;
    for (uint32_t i = walk->count - 1; i > OUTSIDE; i--)
        depth[i] = find_loop(walk, i, first, size, head, around);
    for (uint32_t i = 1; i < walk->count; i++) {
        struct cfg_block *block = &cfg->blocks[walk->block[i]];
        bool is_head = depth[i];
        block->loop = walk->block[is_head ? i : around[i]];
        block->outer_loop = is_head ? walk->block[around[i]] : CFG_NONE;
        block->loop_depth = depth[i] += depth[around[i]];
    }
}

/* Whether there is a block from which nothing leads outside. */
static bool is_endless(const struct cfg *cfg, uint32_t *stack, uint32_t *leaves) {
    uint32_t depth = 0, found = 0;
    for (uint32_t block = 0; block < cfg->block_count; block++)
        leaves[block] = false;
    for (uint32_t edge = 0; edge < cfg->edge_count; edge++) {
        uint32_t from = cfg->edges[edge].from;
        if (cfg->edges[edge].to == CFG_NONE && !leaves[from]) {
            leaves[from] = true;
            stack[depth++] = from;
        }
    }
    for (; depth > 0; found++) {
        const struct cfg_block *block = &cfg->blocks[stack[--depth]];
        for (uint32_t in = 0; in < block->in_count; in++) {
            uint32_t from = cfg->edges[cfg->in_edges[block->first_in + in]].from;
            if (from == CFG_NONE || leaves[from])
                continue;
            leaves[from] = true;
            stack[depth++] = from;
        }
    }
    return found < cfg->block_count;
}

bool loops_find(struct cfg *cfg) {
    struct walk walk;
    if (!walk_allocate(&walk, cfg))
        return false;
    number_blocks(&walk);
    find_dominators(&walk);
    find_depths(cfg, &walk);
    if (is_endless(cfg, walk.stack, walk.number))
        cfg->flags |= CFG_ENDLESS;
    free(walk.memory);
    return true;
}
