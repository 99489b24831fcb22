#include "analyze/spread.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

bool makers_add(struct makers *makers, uint32_t maker) {
    if (makers->count > SPREAD_MAKERS)
        return false;
    for (uint32_t i = 0; i < makers->count; i++)
        if (makers->maker[i] == maker)
            return false;
    makers->maker[makers->count] = makers->count == SPREAD_MAKERS ? SPREAD_SEVERAL : maker;
    makers->count++;
    return true;
}

bool block_jumps_anywhere(const struct cfg *cfg, uint32_t number) {
    const struct cfg_block *block = &cfg->blocks[number];
    if (!(cfg->flags & CFG_MISSING_EDGES) ||
        cfg->insns[block->first_insn + block->insn_count - 1].insn.branch != BRANCH_INDIRECT)
        return false;
    return !any_where(i, block->out_count, cfg->edges[block->first_out + i].kind == EDGE_TABLE);
}

bool spread_new(struct spread *spread, const struct cfg *cfg) {
    *spread = (struct spread){.cfg = cfg};
    spread->stops = calloc(cfg->block_count, sizeof *spread->stops);
    spread->in = calloc(cfg->block_count, sizeof *spread->in);
    spread->queue = calloc(cfg->block_count, sizeof *spread->queue);
    spread->queued = calloc(cfg->block_count, sizeof *spread->queued);
    spread->jumps = calloc(cfg->block_count, sizeof *spread->jumps);
    if (!spread->stops || !spread->in || !spread->queue || !spread->queued || !spread->jumps)
        return false;
    for (uint32_t i = 0; i < cfg->block_count; i++)
        spread->jumps[i] = block_jumps_anywhere(cfg, i);
    return true;
}

void spread_free(struct spread *spread) {
    free(spread->stops);
    free(spread->in);
    free(spread->queue);
    free(spread->queued);
    free(spread->jumps);
}

void spread_begin(struct spread *spread) {
    for (uint32_t i = 0; i < spread->cfg->block_count; i++)
        spread->in[i].count = spread->in[i].passed = 0;
    memset(spread->stops, 0, spread->cfg->block_count * sizeof *spread->stops);
    spread->anywhere.count = 0;
}

void spread_enter(struct spread *spread, uint32_t block, uint32_t maker) {
    if (!makers_add(&spread->in[block], maker) || spread->stops[block] || spread->queued[block])
        return;
    size_t blocks = spread->cfg->block_count;
    spread->queue[(spread->queue_first + spread->queue_count++) % blocks] = block;
    spread->queued[block] = true;
}

void spread_leave(struct spread *spread, uint32_t block, uint32_t maker) {
    const struct cfg *cfg = spread->cfg;
    const struct cfg_block *it = &cfg->blocks[block];
    for (uint32_t i = 0; i < it->out_count; i++) {
        uint32_t to = cfg->edges[it->first_out + i].to;
        if (to != CFG_NONE)
            spread_enter(spread, to, maker);
    }
    if (spread->jumps[block] && makers_add(&spread->anywhere, maker))
        for (uint32_t to = 0; to < cfg->block_count; to++)
            spread_enter(spread, to, maker);
}

void spread_run(struct spread *spread) {
    while (spread->queue_count) {
        uint32_t block = spread->queue[spread->queue_first];
        spread->queue_first = (spread->queue_first + 1) % spread->cfg->block_count;
        spread->queue_count--;
        spread->queued[block] = false;
        struct makers *in = &spread->in[block];
        while (in->passed < in->count)
            spread_leave(spread, block, in->maker[in->passed++]);
    }
}
