/* Control-flow graphs made by hand, of edges and sizes of blocks. Instructions are 4 bytes long,
 * and adds, unless a test says otherwise. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cfg.h"

static inline int cfg_fixture_compare(const void *a, const void *b) {
    const struct cfg_edge *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

static inline void cfg_fixture_blocks(struct cfg *cfg, const uint32_t *sizes) {
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint32_t size = sizes ? sizes[b] : 1;
        cfg->blocks[b].first_insn = cfg->insn_count;
        cfg->blocks[b].insn_count = size;
        cfg->insn_count += size;
    }
    cfg->insns = calloc(cfg->insn_count, sizeof *cfg->insns);
    assert_non_null(cfg->insns);
    for (uint32_t b = 0, i = 0; b < cfg->block_count; b++)
        for (uint32_t end = i + cfg->blocks[b].insn_count; i < end; i++)
            cfg->insns[i] =
                (struct cfg_insn){4 * i, b, {.length = 4, .operation = OP_INT_ALU, .isa = 1}};
}

static inline void cfg_fixture_edges(struct cfg *cfg) {
    for (uint32_t e = 0; e < cfg->edge_count; e++) {
        const struct cfg_edge *edge = &cfg->edges[e];
        if (edge->from == CFG_NONE)
            cfg->outer_count++;
        else
            cfg->blocks[edge->from].out_count++;
        if (edge->to != CFG_NONE)
            cfg->blocks[edge->to].in_count++;
    }
    for (uint32_t b = 0, out = 0, in = 0; b < cfg->block_count; b++) {
        cfg->blocks[b].first_out = out;
        cfg->blocks[b].first_in = in;
        out += cfg->blocks[b].out_count;
        in += cfg->blocks[b].in_count;
        cfg->blocks[b].in_count = 0;
    }
    for (uint32_t e = 0; e < cfg->edge_count; e++) {
        uint32_t to = cfg->edges[e].to;
        if (to != CFG_NONE)
            cfg->in_edges[cfg->blocks[to].first_in + cfg->blocks[to].in_count++] = e;
    }
}

/* Edges in any order; they are sorted by where they come from, then by where they lead. Sizes NULL:
 * of one instruction each. cfg_fixture_free() after. */
static inline void cfg_fixture_make(struct cfg *cfg, uint32_t block_count, const uint32_t *sizes,
                                    const struct cfg_edge *edges, uint32_t edge_count) {
    *cfg = (struct cfg){.block_count = block_count, .edge_count = edge_count};
    cfg->blocks = calloc(block_count + 1, sizeof *cfg->blocks);
    cfg->edges = calloc(edge_count + 1, sizeof *cfg->edges);
    cfg->in_edges = calloc(edge_count + 1, sizeof *cfg->in_edges);
    assert_true(cfg->blocks && cfg->edges && cfg->in_edges);
    if (edge_count)
        memcpy(cfg->edges, edges, edge_count * sizeof *edges);
    qsort(cfg->edges, edge_count, sizeof *cfg->edges, cfg_fixture_compare);
    cfg_fixture_blocks(cfg, sizes);
    cfg_fixture_edges(cfg);
}

static inline void cfg_fixture_free(struct cfg *cfg) {
    free(cfg->blocks);
    free(cfg->edges);
    free(cfg->in_edges);
    free(cfg->insns);
    *cfg = (struct cfg){0};
}

/* The first edge between two blocks. */
static inline uint32_t cfg_fixture_edge(const struct cfg *cfg, uint32_t from, uint32_t to) {
    for (uint32_t e = 0; e < cfg->edge_count; e++)
        if (cfg->edges[e].from == from && cfg->edges[e].to == to)
            return e;
    fail_msg("no edge from %u to %u", from, to);
    return CFG_NONE;
}
