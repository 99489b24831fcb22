/* Procedures made up at random, whose executions are known: graph, probabilities of branches, M,
 * stalls, and samples drawn from what cycles follow from all these. */
#pragma once

#include <math.h>

#include "analyze/frequency.h"
#include "cfg_fixture.h"
#include "util/random.h"

enum { RANDOM_MOST_BLOCKS = 40, RANDOM_MOST_EDGES = 400 };

struct random_procedure {
    struct cfg cfg;
    struct schedule schedule;
    double *cycles; /* sampled, by instruction */
    bool *suspect;
    double period;
    double blocks[RANDOM_MOST_BLOCKS], edges[RANDOM_MOST_EDGES]; /* true executions */
};

static inline uint32_t random_below(uint64_t *random, uint32_t limit) {
    return (uint32_t)(random_fraction(random) * limit);
}

static inline double random_poisson(uint64_t *random, double mean) {
    if (mean > 50) { /* normal, by Box and Muller */
        double radius = sqrt(-2 * log(1 - random_fraction(random)));
        double drawn = mean + sqrt(mean) * radius * cos(2 * M_PI * random_fraction(random));
        return fmax(0, floor(drawn + 0.5));
    }
    double count = 0;
    for (double left = exp(-mean), product = random_fraction(random); product > left; count++)
        product *= random_fraction(random);
    return count;
}

/* The edges of a block, whose probabilities go into `chance`: fall through, conditional branch
 * forward or back, return, jump, switch. Control always reaches the last block. */
static inline uint32_t random_out(uint64_t *random, uint32_t b, uint32_t blocks,
                                  struct cfg_edge *edges, double *chance) {
    double kind = random_fraction(random);
    uint32_t left = blocks - 1 - b; /* blocks behind it */
    if (left == 0 || kind < 0.04) {
        edges[0] = (struct cfg_edge){b, CFG_NONE, EDGE_RETURN};
        chance[0] = 1;
        return 1;
    }
    if (kind < 0.34 || left < 2) {
        edges[0] = (struct cfg_edge){b, b + 1, EDGE_FALL};
        chance[0] = 1;
        return 1;
    }
    if (kind < 0.42) {
        edges[0] =
            (struct cfg_edge){b, b + 1 + random_below(random, left < 6 ? left : 6), EDGE_TAKEN};
        chance[0] = 1;
        return 1;
    }
    if (kind < 0.47) {
        uint32_t count = 2 + random_below(random, 4);
        for (uint32_t e = 0; e < count; e++) {
            edges[e] = (struct cfg_edge){b, b + 1 + random_below(random, left), EDGE_TABLE};
            chance[e] = 1.0 / count;
        }
        return count;
    }
    bool back = random_fraction(random) < 0.35;
    uint32_t to = back ? b - random_below(random, b + 1 < 6 ? b + 1 : 6)
                       : b + 2 + random_below(random, left - 1 < 6 ? left - 1 : 6);
    double taken = back ? 0.5 + 0.48 * random_fraction(random) : random_fraction(random);
    edges[0] = (struct cfg_edge){b, b + 1, EDGE_FALL};
    edges[1] = (struct cfg_edge){b, to, EDGE_TAKEN};
    chance[0] = 1 - taken;
    chance[1] = taken;
    return 2;
}

/* Executions per call: v = entries + Pᵀ v, by elimination. `chance` by edge of the graph. */
static inline void random_solve(struct random_procedure *made, const double *chance) {
    static double a[RANDOM_MOST_BLOCKS][RANDOM_MOST_BLOCKS + 1];
    const struct cfg *cfg = &made->cfg;
    uint32_t n = cfg->block_count;
    for (uint32_t b = 0; b < RANDOM_MOST_BLOCKS; b++)
        for (uint32_t column = 0; column <= RANDOM_MOST_BLOCKS; column++)
            a[b][column] = b == column;
    for (uint32_t e = 0; e < cfg->edge_count; e++) {
        const struct cfg_edge *edge = &cfg->edges[e];
        if (edge->from == CFG_NONE)
            a[edge->to][n] += chance[e];
        else if (edge->to != CFG_NONE)
            a[edge->to][edge->from] -= chance[e];
    }
    for (uint32_t k = 0; k < n; k++) /* its diagonal dominates: no pivot is needed */
        for (uint32_t row = 0; row < n; row++) {
            double factor = row == k ? 0 : a[row][k] / a[k][k];
            for (uint32_t column = k; factor != 0 && column <= n; column++)
                a[row][column] -= factor * a[k][column];
        }
    for (uint32_t b = 0; b < n; b++)
        made->blocks[b] = fmax(0, a[b][n] / a[b][b]);
    for (uint32_t e = 0; e < cfg->edge_count; e++) {
        uint32_t from = cfg->edges[e].from;
        made->edges[e] = chance[e] * (from == CFG_NONE ? 1 : made->blocks[from]);
    }
}

static inline void random_graph(struct random_procedure *made, uint64_t *random) {
    struct cfg_edge edges[RANDOM_MOST_EDGES];
    double chance[RANDOM_MOST_EDGES] = {0}, sorted[RANDOM_MOST_EDGES];
    uint32_t sizes[RANDOM_MOST_BLOCKS], count = 0;
    uint32_t blocks = 1 + random_below(random, RANDOM_MOST_BLOCKS);
    for (uint32_t b = 0; b < blocks; b++) {
        sizes[b] = 1 + random_below(random, 4) * random_below(random, 4);
        count += random_out(random, b, blocks, edges + count, chance + count);
    }
    edges[count] = (struct cfg_edge){CFG_NONE, 0, EDGE_ENTRY};
    chance[count++] = 1;
    for (uint32_t b = 1; b < blocks; b++) {
        bool entered = false;
        for (uint32_t e = 0; e < count; e++)
            entered |= edges[e].to == b && edges[e].from != b;
        if (!entered) {
            edges[count] = (struct cfg_edge){CFG_NONE, b, EDGE_UNKNOWN};
            chance[count++] = 0.05;
        }
    }
    cfg_fixture_make(&made->cfg, blocks, sizes, edges, count);
    bool used[RANDOM_MOST_EDGES] = {0};
    for (uint32_t e = 0; e < count; e++)
        for (uint32_t k = 0; k < count; k++)
            if (!used[k] && edges[k].from == made->cfg.edges[e].from &&
                edges[k].to == made->cfg.edges[e].to) {
                sorted[e] = chance[k];
                used[k] = true;
                break;
            }
    random_solve(made, sorted);
}

/* M as on an in-order core that issues two at a time: 0 for what issues with the instruction before
 * it. Returns the cycles that the core really takes, which differ from the model for 3 of 100
 * instructions. */
static inline double random_m(struct random_procedure *made, uint64_t *random, uint32_t insn) {
    bool is_first = made->cfg.blocks[made->cfg.insns[insn].block].first_insn == insn;
    double kind = random_fraction(random);
    double m = kind < 0.35 && !is_first ? 0 : kind < 0.85 ? 1 : kind < 0.96 ? 2 : 5;
    made->schedule.cycles[insn] = made->schedule.least[insn] = made->schedule.most[insn] = m;
    if (random_fraction(random) < 0.03)
        return fmax(0, m + 2 * random_fraction(random) - 1);
    return m;
}

/* Half of all instructions may stall, and half of these do: 0.02 to 30 cycles per execution. The
 * samples are `samples` in all, but for chance. random_procedure_free() after. */
static inline void random_procedure_make(struct random_procedure *made, uint64_t *random,
                                         double samples) {
    *made = (struct random_procedure){0};
    random_graph(made, random);
    uint32_t count = made->cfg.insn_count;
    made->schedule.cycles = calloc(count, sizeof(double));
    made->schedule.least = calloc(count, sizeof(double));
    made->schedule.most = calloc(count, sizeof(double));
    made->cycles = calloc(count, sizeof(double));
    made->suspect = calloc(count, sizeof(bool));
    assert_true(made->schedule.cycles && made->schedule.least && made->schedule.most &&
                made->cycles && made->suspect);
    double total = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = made->cfg.insns[i].block;
        double cycles = random_m(made, random, i);
        made->suspect[i] = made->cfg.blocks[block].first_insn == i || random_fraction(random) < 0.5;
        if (made->suspect[i] && random_fraction(random) < 0.5)
            cycles += exp(log(0.02) + random_fraction(random) * log(30 / 0.02));
        made->cycles[i] = made->blocks[block] * cycles;
        total += made->cycles[i];
    }
    made->period = total / samples;
    for (uint32_t i = 0; i < count; i++)
        made->cycles[i] = made->period * random_poisson(random, made->cycles[i] / made->period);
}

static inline void random_procedure_free(struct random_procedure *made) {
    cfg_fixture_free(&made->cfg);
    free(made->schedule.cycles);
    free(made->schedule.least);
    free(made->schedule.most);
    free(made->cycles);
    free(made->suspect);
}
