/* Makes blocks of what explore.c finds: a block begins where a link leads, behind an instruction
 * that ends a block, and where overlapping instructions come together. */
#include "analyze/cfg.h"

#include <stdlib.h>

#include "analyze/explore.h"
#include "analyze/loops.h"
#include "util/array.h"

static const char *const EDGE_KIND_NAMES[] = {
    [EDGE_ENTRY] = "entry",          [EDGE_FALL] = "fall through",     [EDGE_TAKEN] = "taken",
    [EDGE_TABLE] = "jump table",     [EDGE_RETURN] = "return",         [EDGE_TAIL] = "tail call",
    [EDGE_STOP] = "does not return", [EDGE_UNKNOWN] = "unknown entry",
};

const char *cfg_edge_kind_name(enum cfg_edge_kind kind) {
    return (unsigned)kind <= EDGE_UNKNOWN ? EDGE_KIND_NAMES[kind] : "unknown";
}

/* ---- blocks ---- */

/* The instruction that follows one that falls through. It was found. */
static uint32_t next_insn(const struct exploration *found, uint32_t insn) {
    return found->at[code_behind(&found->insns[insn])];
}

static void mark_leaders(struct exploration *found) {
    for (size_t i = 0; i < found->link_count; i++)
        if (found->links[i].to != CFG_NONE)
            found->insns[found->at[found->links[i].to]].leads = true;
    for (uint32_t i = 0; i < found->insn_count; i++) {
        if (!found->insns[i].falls)
            continue;
        struct code_insn *next = &found->insns[next_insn(found, i)];
        next->leads |= found->insns[i].ends || next->fallen_into;
        next->fallen_into = true;
    }
}

static uint32_t count_leaders(const struct exploration *found) {
    return sum_over(uint32_t, i, found->insn_count, found->insns[i].leads);
}

/* Copies the instructions of a block that begins at `insn`. */
static void make_block(struct cfg *cfg, struct exploration *found, uint32_t insn) {
    struct cfg_block *block = &cfg->blocks[cfg->block_count];
    *block = (struct cfg_block){.first_insn = cfg->insn_count};
    for (;; insn = next_insn(found, insn)) {
        struct code_insn *from = &found->insns[insn];
        from->number = cfg->insn_count;
        cfg->insns[cfg->insn_count++] =
            (struct cfg_insn){from->offset, cfg->block_count, from->insn};
        block->insn_count++;
        if (!from->falls || from->ends || found->insns[next_insn(found, insn)].leads)
            break;
    }
    cfg->block_count++;
}

static bool make_blocks(struct cfg *cfg, struct exploration *found) {
    mark_leaders(found);
    cfg->insns = calloc(found->insn_count + (size_t)1, sizeof *cfg->insns);
    cfg->blocks = calloc(count_leaders(found) + (size_t)1, sizeof *cfg->blocks);
    if (!cfg->insns || !cfg->blocks)
        return false;
    for (size_t offset = 0; offset < cfg->code->size; offset++)
        if (found->at[offset] != CFG_NONE && found->insns[found->at[offset]].leads)
            make_block(cfg, found, found->at[offset]);
    cfg->at = found->at;
    found->at = NULL;
    for (size_t offset = 0; offset < cfg->code->size; offset++)
        if (cfg->at[offset] != CFG_NONE)
            cfg->at[offset] = found->insns[cfg->at[offset]].number;
    return true;
}

/* ---- edges ---- */

/* All edges, in any order: of blocks that fall into the next, and of links. */
static uint32_t list_edges(const struct cfg *cfg, const struct exploration *found,
                           struct cfg_edge *edges) {
    uint32_t count = 0;
    for (size_t i = 0; i < found->insn_count; i++) {
        const struct code_insn *insn = &found->insns[i];
        uint32_t from = cfg->insns[insn->number].block;
        uint32_t last = cfg->blocks[from].first_insn + cfg->blocks[from].insn_count - 1;
        if (insn->falls && insn->number == last)
            edges[count++] =
                (struct cfg_edge){from, cfg->insns[cfg->at[code_behind(insn)]].block, EDGE_FALL};
    }
    for (size_t i = 0; i < found->link_count; i++) {
        const struct code_link *link = &found->links[i];
        if (link->from == CFG_NONE && link->to == CFG_NONE)
            continue;
        uint32_t from = link->from, to = link->to;
        if (from != CFG_NONE)
            from = cfg->insns[found->insns[from].number].block;
        if (to != CFG_NONE)
            to = cfg->insns[cfg->at[to]].block;
        edges[count++] = (struct cfg_edge){from, to, link->kind};
    }
    return count;
}

/* Sorts the edges by where they come from, those from outside last, and counts them. */
static void sort_edges(struct cfg *cfg, const struct cfg_edge *edges, uint32_t *cursor) {
    for (uint32_t i = 0; i < cfg->edge_count; i++) {
        if (edges[i].from == CFG_NONE)
            cfg->outer_count++;
        else
            cfg->blocks[edges[i].from].out_count++;
        if (edges[i].to != CFG_NONE)
            cfg->blocks[edges[i].to].in_count++;
    }
    uint32_t out = 0, in = 0;
    for (uint32_t block = 0; block < cfg->block_count; block++) {
        cursor[block] = cfg->blocks[block].first_out = out;
        cfg->blocks[block].first_in = in;
        out += cfg->blocks[block].out_count;
        in += cfg->blocks[block].in_count;
    }
    for (uint32_t i = 0; i < cfg->edge_count; i++)
        cfg->edges[edges[i].from == CFG_NONE ? out++ : cursor[edges[i].from]++] = edges[i];
}

static void list_in_edges(struct cfg *cfg, uint32_t *cursor) {
    for (uint32_t block = 0; block < cfg->block_count; block++)
        cursor[block] = cfg->blocks[block].first_in;
    for (uint32_t i = 0; i < cfg->edge_count; i++)
        if (cfg->edges[i].to != CFG_NONE)
            cfg->in_edges[cursor[cfg->edges[i].to]++] = i;
}

static bool make_edges(struct cfg *cfg, const struct exploration *found) {
    size_t most = cfg->block_count + found->link_count;
    struct cfg_edge *edges = malloc(most * sizeof *edges);
    uint32_t *cursor = malloc(cfg->block_count * sizeof *cursor);
    bool done = false;
    if (edges && cursor) {
        cfg->edge_count = list_edges(cfg, found, edges);
        const size_t room = cfg->edge_count + (size_t)1; /* also of none, malloc() gives some */
        cfg->edges = malloc(room * sizeof *cfg->edges);
        cfg->in_edges = malloc(room * sizeof *cfg->in_edges);
        done = cfg->edges && cfg->in_edges;
    }
    if (done) {
        sort_edges(cfg, edges, cursor);
        list_in_edges(cfg, cursor);
    }
    free(edges);
    free(cursor);
    return done;
}

/* ---- the door ---- */

bool cfg_build(struct cfg *cfg, const struct procedure_code *code, struct error *error) {
    struct exploration found;
    *cfg = (struct cfg){.code = code};
    bool done = explore(&found, code, error);
    if (done) {
        cfg->flags = found.flags;
        cfg->unresolved = found.unresolved;
        done = make_blocks(cfg, &found) && make_edges(cfg, &found) && loops_find(cfg);
        if (!done)
            error_set(error, "out of memory");
    }
    exploration_free(&found);
    return done;
}

void cfg_free(struct cfg *cfg) {
    free(cfg->insns);
    free(cfg->blocks);
    free(cfg->edges);
    free(cfg->in_edges);
    free(cfg->at);
    *cfg = (struct cfg){0};
}

uint32_t cfg_insn_at(const struct cfg *cfg, uint32_t offset) {
    return offset < cfg->code->size ? cfg->at[offset] : CFG_NONE;
}
