/* From each instruction that was sampled the ways back are followed, one instruction a step, with
 * the probability of each; where they become too many, the sample may be of anything. */
#include "analyze/late.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At a step, so many instructions. */
enum { WAYS_MOST = 32, DEVIATIONS = 2 };

/* An instruction of the graph, or outside. */
struct way {
    uint32_t insn; /* CFG_NONE: outside, a caller or callee, or not known */
    double weight;
};
struct ways {
    struct way list[WAYS_MOST];
    uint32_t count;
    double given; /* all weights */
};

struct placing {
    struct late *late;
    const struct cfg *cfg;
    const struct skid *skid;
    const double *cycles;
    double *density;   /* by block: samples of an instruction */
    double background; /* what a way has at least */
    struct ways at, next, sources;
    bool lost;       /* ways were too many */
    double anywhere; /* cycles of those */
};

/* ---- ways back ---- */

static void add(struct placing *placing, struct ways *ways, uint32_t insn, double weight) {
    uint32_t i = 0;
    while (i < ways->count && ways->list[i].insn != insn)
        i++;
    if (i == WAYS_MOST) {
        placing->lost = true;
        return;
    }
    if (i == ways->count)
        ways->list[ways->count++] = (struct way){insn, 0};
    ways->list[i].weight += weight;
    ways->given += weight;
}

static bool calls(const struct insn *insn) {
    return insn->branch == BRANCH_CALL || insn->branch == BRANCH_INDIRECT_CALL;
}

static double weight_of_edge(const struct placing *placing, uint32_t edge) {
    const uint32_t from = placing->cfg->edges[edge].from;
    return placing->background + (from == CFG_NONE ? 0 : placing->density[from]);
}

/* The last instruction of a block; what comes behind a call has come from the callee. */
static uint32_t end_of(const struct cfg *cfg, uint32_t from) {
    if (from == CFG_NONE)
        return CFG_NONE;
    const struct cfg_block *block = &cfg->blocks[from];
    const uint32_t last = block->first_insn + block->insn_count - 1;
    return calls(&cfg->insns[last].insn) ? CFG_NONE : last;
}

static void enter_block(struct placing *placing, const struct cfg_block *block, double weight) {
    const struct cfg *cfg = placing->cfg;
    const bool more = cfg->flags & CFG_MISSING_EDGES || !block->in_count;
    double all = more ? placing->background : 0;
    if (block->in_count > WAYS_MOST) {
        placing->lost = true;
        return;
    }
    for (uint32_t i = 0; i < block->in_count; i++)
        all += weight_of_edge(placing, cfg->in_edges[block->first_in + i]);
    for (uint32_t i = 0; i < block->in_count; i++) {
        const uint32_t edge = cfg->in_edges[block->first_in + i];
        add(placing, &placing->next, end_of(cfg, cfg->edges[edge].from),
            weight * weight_of_edge(placing, edge) / all);
    }
    if (more)
        add(placing, &placing->next, CFG_NONE, weight * placing->background / all);
}

static void step_back(struct placing *placing) {
    const struct cfg *cfg = placing->cfg;
    placing->next.count = 0;
    placing->next.given = 0;
    for (uint32_t i = 0; i < placing->at.count; i++) {
        const struct way *way = &placing->at.list[i];
        if (way->insn == CFG_NONE) {
            add(placing, &placing->next, CFG_NONE, way->weight);
            continue;
        }
        const struct cfg_block *block = &cfg->blocks[cfg->insns[way->insn].block];
        if (way->insn == block->first_insn)
            enter_block(placing, block, way->weight);
        else if (calls(&cfg->insns[way->insn - 1].insn))
            add(placing, &placing->next, CFG_NONE, way->weight);
        else
            add(placing, &placing->next, way->insn - 1, way->weight);
    }
    placing->at = placing->next;
}

/* What a sample at the instruction may be of. An instruction that repeats is interrupted within. */
static void find_sources(struct placing *placing, uint32_t insn) {
    const struct skid_window *window = &placing->late->window;
    placing->at.count = placing->sources.count = 0;
    placing->at.given = placing->sources.given = 0;
    placing->lost = false;
    add(placing, &placing->at, insn, 1);
    if (placing->cfg->insns[insn].insn.flags & INSN_REP) {
        placing->sources = placing->at;
        return;
    }
    for (uint32_t distance = 0; distance <= window->most && !placing->lost; distance++) {
        if (distance)
            step_back(placing);
        for (uint32_t i = 0; i < placing->at.count && distance >= window->least; i++)
            add(placing, &placing->sources, placing->at.list[i].insn,
                placing->at.list[i].weight * placing->skid->shares[distance]);
    }
}

/* ---- cycles ---- */

/* A branch that may be one operation with what sets its flags: the two wait together. CFG_NONE: it
 * is not such. */
static uint32_t fused_with(const struct cfg *cfg, uint32_t insn) {
    const struct cfg_insn *it = &cfg->insns[insn];
    if (!(it->insn.flags & INSN_FUSES_WITH_FLAGS) || cfg->blocks[it->block].first_insn == insn)
        return CFG_NONE;
    return cfg->insns[insn - 1].insn.flags & INSN_SETS_FLAGS_FOR_FUSION ? insn - 1 : CFG_NONE;
}

static struct late_cycles *cycles_of(struct late *late, uint32_t insn) {
    return insn == CFG_NONE ? &late->elsewhere : &late->insns[insn];
}

static void place_insns(struct placing *placing, double cycles) {
    const struct ways *sources = &placing->sources;
    for (uint32_t i = 0; i < sources->count; i++) {
        const struct way *way = &sources->list[i];
        struct late_cycles *to = cycles_of(placing->late, way->insn);
        const uint32_t with =
            way->insn == CFG_NONE ? CFG_NONE : fused_with(placing->cfg, way->insn);
        to->likely += cycles * way->weight / sources->given;
        to->most += cycles;
        if (with != CFG_NONE)
            placing->late->insns[with].most += cycles;
        else if (sources->count == 1)
            to->least += cycles;
    }
}

static uint32_t block_of(const struct cfg *cfg, uint32_t insn) {
    return insn == CFG_NONE ? CFG_NONE : cfg->insns[insn].block;
}

static void place_blocks(struct placing *placing, double cycles) {
    const struct ways *sources = &placing->sources;
    uint32_t blocks[WAYS_MOST], count = 0;
    for (uint32_t i = 0; i < sources->count; i++) {
        const uint32_t block = block_of(placing->cfg, sources->list[i].insn);
        uint32_t k = 0;
        while (k < count && blocks[k] != block)
            k++;
        if (k == count)
            blocks[count++] = block;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (blocks[i] == CFG_NONE)
            continue;
        placing->late->blocks[blocks[i]].most += cycles;
        placing->late->blocks[blocks[i]].least += count == 1 ? cycles : 0;
    }
}

/* ---- causes ---- */

static uint32_t causes_of(const struct placing *placing, uint32_t insn) {
    return insn == CFG_NONE ? UINT32_MAX : placing->late->causes[insn];
}

/* Samples that are all of elsewhere are not the procedure's. */
static void sum_causes(struct placing *placing, double cycles) {
    const struct ways *sources = &placing->sources;
    uint32_t any = 0, all = 0;
    for (uint32_t i = 0; i < sources->count; i++) {
        any |= sources->list[i].insn == CFG_NONE ? 0 : causes_of(placing, sources->list[i].insn);
        all |= causes_of(placing, sources->list[i].insn);
    }
    for (unsigned cause = 0; cause < STALL_CAUSES; cause++) {
        struct late_range *range = &placing->late->ranges[cause];
        range->most += any & 1U << cause ? cycles : 0;
        range->least += all == 1U << cause ? cycles : 0;
    }
}

/* Too many ways: of anything in the procedure, or elsewhere. */
static void place_anywhere(struct placing *placing) {
    struct late *late = placing->late;
    const struct cfg *cfg = placing->cfg;
    const double cycles = placing->anywhere;
    uint32_t any = 0;
    if (!(cycles > 0))
        return;
    late->elsewhere.most += cycles;
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        late->insns[i].most += cycles;
        late->insns[i].likely += cycles / cfg->insn_count;
        any |= late->causes[i];
    }
    for (uint32_t i = 0; i < cfg->block_count; i++)
        late->blocks[i].most += cycles;
    for (unsigned cause = 0; cause < STALL_CAUSES; cause++)
        late->ranges[cause].most += any & 1U << cause ? cycles : 0;
}

/* Those beyond the window may be of any instruction. */
static void widen_ranges(struct late *late, const struct cfg *cfg, double period) {
    const double beyond = late->total * (1 - late->window.share);
    uint32_t any = 0;
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        any |= late->causes[i];
    for (unsigned cause = 0; cause < STALL_CAUSES; cause++) {
        struct late_range *range = &late->ranges[cause];
        const double most = range->most + (any & 1U << cause ? beyond : 0);
        const double least = fmax(range->least - beyond, 0);
        range->most = fmin(most + DEVIATIONS * sqrt(most * period), late->total);
        range->least = fmax(least - DEVIATIONS * sqrt(least * period), 0);
    }
}

/* ---- the whole ---- */

static void excuse(struct placing *placing, const uint32_t *possible) {
    const struct cfg *cfg = placing->cfg;
    uint32_t *causes = placing->late->causes;
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        causes[i] = possible[i] | 1U << STALL_NONE;
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        if (fused_with(cfg, i) != CFG_NONE)
            causes[i] |= causes[i - 1];
}

static void find_density(struct placing *placing) {
    const struct cfg *cfg = placing->cfg;
    double total = 0;
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        const uint32_t block = cfg->insns[i].block;
        placing->density[block] += placing->cycles[i] / cfg->blocks[block].insn_count;
        total += placing->cycles[i];
    }
    placing->background = total > 0 ? 1e-3 * total / cfg->insn_count : 1;
    placing->late->total = total;
}

static void place_all(struct placing *placing) {
    struct late *late = placing->late;
    const struct cfg *cfg = placing->cfg;
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        if (!(placing->cycles[i] > 0))
            continue;
        find_sources(placing, i);
        if (placing->lost) {
            placing->anywhere += placing->cycles[i];
            continue;
        }
        place_insns(placing, placing->cycles[i]);
        place_blocks(placing, placing->cycles[i]);
        sum_causes(placing, placing->cycles[i]);
    }
    place_anywhere(placing);
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        late->blocks[cfg->insns[i].block].likely += late->insns[i].likely;
}

bool late_place(struct late *late, const struct cfg *cfg, const struct skid *skid,
                const double *cycles, double period, const uint32_t *possible,
                struct error *error) {
    *late = (struct late){.used = true, .window = skid_window(skid)};
    struct placing *placing = malloc(sizeof *placing);
    late->insns = calloc(cfg->insn_count, sizeof *late->insns);
    late->blocks = calloc(cfg->block_count, sizeof *late->blocks);
    late->causes = calloc(cfg->insn_count, sizeof *late->causes);
    double *density = calloc(cfg->block_count, sizeof *density);
    const bool good = placing && late->insns && late->blocks && late->causes && density;
    if (good) {
        *placing = (struct placing){
            .late = late, .cfg = cfg, .skid = skid, .cycles = cycles, .density = density};
        excuse(placing, possible);
        find_density(placing);
        place_all(placing);
        widen_ranges(late, cfg, period);
    }
    free(density);
    free(placing);
    return good || error_set(error, "out of memory for the analysis");
}

void late_free(struct late *late) {
    free(late->insns);
    free(late->blocks);
    free(late->causes);
    *late = (struct late){0};
}
