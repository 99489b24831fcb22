/* Follows the likeliest way back from an edge, edge by edge. In a loop it goes round and round, as
 * the loop does. */
#include "analyze/schedule_path.h"

#include <stdlib.h>

#include "util/array.h"

static double block_heat(const struct cfg_block *block, const double *cycles) {
    double sum = sum_over(double, i, block->insn_count, cycles[block->first_insn + i]);
    return block->insn_count ? sum / block->insn_count : 0;
}

/* What makes an edge likely whose other end is `block`, the most important first. */
struct likelihood {
    double heat;
    uint32_t inside, depth, falls;
};

static struct likelihood likelihood_of(const struct ways *ways, const struct cfg *cfg,
                                       uint32_t block, uint8_t kind) {
    if (block == CFG_NONE)
        return (struct likelihood){0};
    return (struct likelihood){ways->heat[block], 1, cfg->blocks[block].loop_depth,
                               kind == EDGE_FALL};
}

static bool likelier(const struct likelihood *a, const struct likelihood *b) {
    if (a->heat != b->heat)
        return a->heat > b->heat;
    if (a->inside != b->inside)
        return a->inside > b->inside;
    if (a->depth != b->depth)
        return a->depth > b->depth;
    return a->falls > b->falls;
}

bool ways_likelier_in(const struct ways *ways, const struct cfg *cfg, uint32_t a, uint32_t b) {
    const struct cfg_edge *one = &cfg->edges[a], *other = &cfg->edges[b];
    struct likelihood of_one = likelihood_of(ways, cfg, one->from, one->kind);
    struct likelihood of_other = likelihood_of(ways, cfg, other->from, other->kind);
    return likelier(&of_one, &of_other);
}

static bool likelier_out(const struct ways *ways, const struct cfg *cfg, uint32_t a, uint32_t b) {
    const struct cfg_edge *one = &cfg->edges[a], *other = &cfg->edges[b];
    struct likelihood of_one = likelihood_of(ways, cfg, one->to, one->kind);
    struct likelihood of_other = likelihood_of(ways, cfg, other->to, other->kind);
    return likelier(&of_one, &of_other);
}

bool ways_find(struct ways *ways, const struct cfg *cfg, const double *cycles,
               struct error *error) {
    size_t count = cfg->block_count;
    *ways = (struct ways){.heat = calloc(count + 1, sizeof *ways->heat),
                          .in = malloc((count + 1) * sizeof *ways->in),
                          .out = malloc((count + 1) * sizeof *ways->out)};
    if (!ways->heat || !ways->in || !ways->out)
        return error_set(error, "out of memory for a schedule");
    for (uint32_t b = 0; b < count && cycles; b++)
        ways->heat[b] = block_heat(&cfg->blocks[b], cycles);
    for (uint32_t b = 0; b < count; b++) {
        const struct cfg_block *block = &cfg->blocks[b];
        ways->in[b] = block->in_count ? cfg->in_edges[block->first_in] : CFG_NONE;
        for (uint32_t k = 1; k < block->in_count; k++) {
            uint32_t edge = cfg->in_edges[block->first_in + k];
            if (ways_likelier_in(ways, cfg, edge, ways->in[b]))
                ways->in[b] = edge;
        }
        ways->out[b] = block->out_count ? block->first_out : CFG_NONE;
        for (uint32_t k = 1; k < block->out_count; k++)
            if (likelier_out(ways, cfg, block->first_out + k, ways->out[b]))
                ways->out[b] = block->first_out + k;
    }
    return true;
}

void ways_free(struct ways *ways) {
    free(ways->heat);
    free(ways->in);
    free(ways->out);
    *ways = (struct ways){0};
}

static bool add_step(struct path *path, uint32_t block, uint32_t edge, bool measured) {
    if (!array_push(path->steps, path->capacity, path->count,
                    (struct path_step){block, edge, measured}))
        return false;
    path->executions += measured;
    return true;
}

bool path_find(struct path *path, const struct cfg *cfg, const struct ways *ways, uint32_t edge,
               uint32_t context, uint32_t window) {
    uint64_t before = 0, wanted = context; /* instructions */
    path->count = path->executions = 0;
    if (!add_step(path, cfg->edges[edge].to, edge, true))
        return false;
    for (uint32_t block = cfg->edges[edge].from; block != CFG_NONE && before < wanted;) {
        uint32_t in = ways->in[block];
        before += cfg->blocks[block].insn_count;
        bool again = in == edge && before <= window;
        if (!add_step(path, block, in, again))
            return false;
        if (again)
            wanted = before + context;
        block = in == CFG_NONE ? CFG_NONE : cfg->edges[in].from;
    }
    path->skipped = before > wanted ? (uint32_t)(before - wanted) : 0;
    return true;
}
