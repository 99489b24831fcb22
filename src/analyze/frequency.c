/* Each class is estimated from its issue points; with few samples from the sums over all its
 * instructions. Both go into the flow with a variance, and confidence comes from what is left of
 * it. */
#include "analyze/frequency.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/flow.h"

static const struct frequency_estimate UNKNOWN = {0, INFINITY, CONFIDENCE_NONE, ESTIMATE_NONE};

/* Below this M an instruction most often issues with the one before it. */
static const double LEAST_M = 0.1;

void frequency_free(struct frequency *frequency) {
    free(frequency->blocks);
    free(frequency->edges);
    free(frequency->points);
    free(frequency->point_first);
    *frequency = (struct frequency){0};
}

static bool frequency_allocate(struct frequency *frequency, const struct cfg *cfg,
                               uint32_t class_count, struct error *error) {
    *frequency = (struct frequency){
        .blocks = calloc(cfg->block_count + (size_t)1, sizeof *frequency->blocks),
        .edges = calloc(cfg->edge_count + (size_t)1, sizeof *frequency->edges),
        .points = calloc(cfg->insn_count + (size_t)1, sizeof *frequency->points),
        .point_first = calloc(class_count + (size_t)1, sizeof *frequency->point_first)};
    if (!frequency->blocks || !frequency->edges || !frequency->points || !frequency->point_first)
        return error_set(error, "out of memory for the frequencies of a procedure");
    return true;
}

/* What the estimates are made from. */
struct evidence {
    const struct cfg *cfg;
    const struct equivalence *equivalence;
    const struct schedule *schedule;
    const double *cycles;
    double period;
    const bool *suspect;
};

/* ---- issue points ---- */

/* An instruction that waits for an earlier one of its block stands at the head the shorter, the
 * longer those in between stall: the sum from there on does not change (DCPI §6.1.3). Stalls in the
 * block may hide what it waits for outside the block; then the whole block up to it is summed. */
struct reach {
    uint32_t begin; /* first instruction of the sum */
    double outside; /* cycles of waiting for what is outside */
};

static struct reach reach_of(const struct evidence *evidence, uint32_t insn, size_t *stall) {
    const struct schedule *schedule = evidence->schedule;
    uint32_t first = evidence->cfg->blocks[evidence->cfg->insns[insn].block].first_insn;
    struct reach reach = {.begin = insn};
    for (; *stall < schedule->stall_count && schedule->stalls[*stall].insn <= insn; ++*stall) {
        const struct static_stall *waits = &schedule->stalls[*stall];
        if (waits->insn < insn)
            continue;
        bool inside = waits->culprit >= first && waits->culprit < insn;
        uint32_t begin = inside ? waits->culprit + 1 : first;
        reach.begin = begin < reach.begin ? begin : reach.begin;
        reach.outside += inside ? 0 : waits->cycles;
    }
    return reach;
}

static struct issue_point point_of(const struct evidence *evidence, uint32_t insn,
                                   struct reach reach) {
    const struct schedule *schedule = evidence->schedule;
    struct issue_point point = {.insn = insn};
    double least = -reach.outside, most = 0, soonest = 0;
    for (uint32_t i = reach.begin; i <= insn; i++) {
        point.cycles += evidence->cycles[i];
        point.m += schedule->cycles[i];
        least += schedule->least[i];
        most += schedule->most[i];
        soonest += schedule->soonest ? schedule->soonest[i] : schedule->cycles[i];
        point.suspect |= !evidence->suspect || evidence->suspect[i];
        point.unbounded |=
            evidence->cfg->insns[i].insn.flags & (INSN_REP | INSN_SYSCALL | INSN_SERIALISING);
    }
    /* As if it were spread evenly from the least to the most. */
    point.hidden = fmax(point.m - soonest, 0) / (sqrt(12) * point.m);
    point.m_error = (most - fmax(least, 0)) / (sqrt(12) * point.m);
    return point;
}

static bool is_issue_point(const struct evidence *evidence, uint32_t insn) {
    return evidence->schedule->cycles[insn] >= LEAST_M;
}

static void list_points(struct frequency *frequency, const struct evidence *evidence) {
    const struct cfg *cfg = evidence->cfg;
    const uint32_t *block_class = evidence->equivalence->block_class;
    uint32_t *first = frequency->point_first, class_count = evidence->equivalence->class_count;
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        first[block_class[cfg->insns[i].block] + 1] += is_issue_point(evidence, i);
    for (uint32_t c = 1; c <= class_count; c++)
        first[c] += first[c - 1];
    size_t stall = 0;
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        struct reach reach = reach_of(evidence, i, &stall);
        if (is_issue_point(evidence, i))
            frequency->points[first[block_class[cfg->insns[i].block]]++] =
                point_of(evidence, i, reach);
    }
    for (uint32_t c = class_count; c > 0; c--) /* filling in has moved each on to its end */
        first[c] = first[c - 1];
    first[0] = 0;
}

/* ---- classes ---- */

/* Cycles and M of all instructions of a class. */
struct class_sum {
    double cycles, m;
};

static void sum_classes(const struct evidence *evidence, struct class_sum *sums) {
    for (uint32_t i = 0; i < evidence->cfg->insn_count; i++) {
        uint32_t block = evidence->cfg->insns[i].block;
        struct class_sum *sum = &sums[evidence->equivalence->block_class[block]];
        sum->cycles += evidence->cycles[i];
        sum->m += evidence->schedule->cycles[i];
    }
}

/* With no sample, one might have been taken. */
static double variance_of(const struct frequency_estimate *estimate, const struct class_sum *sum,
                          double period) {
    double deviation =
        estimate->executions > 0 ? estimate->executions * estimate->error : period / sum->m;
    return deviation * deviation;
}

static void estimate_classes(struct frequency *frequency, const struct evidence *evidence,
                             const struct class_sum *sums, struct frequency_estimate *estimates,
                             struct flow_value *values) {
    for (uint32_t c = 0; c < evidence->equivalence->class_count; c++) {
        uint32_t first = frequency->point_first[c], end = frequency->point_first[c + 1];
        struct frequency_estimate *estimate = &estimates[c];
        *estimate = frequency_of_points(frequency->points + first, end - first, evidence->period);
        if (estimate->source == ESTIMATE_NONE)
            continue;
        /* Stalls only add: more executions than all cycles allow cannot be right. */
        bool excessive = estimate->confidence == CONFIDENCE_LOW &&
                         estimate->executions * sums[c].m > sums[c].cycles;
        if (estimate->source == ESTIMATE_SUM || excessive)
            *estimate = frequency_of_sum(sums[c].cycles, sums[c].m, evidence->period);
        values[c] = (struct flow_value){
            estimate->executions, variance_of(estimate, &sums[c], evidence->period), FLOW_OWN};
    }
}

/* ---- blocks and edges ---- */

static bool is_unknown(const struct flow_value *value) {
    return value->origin == FLOW_UNKNOWN || value->origin == FLOW_SHARED;
}

/* An estimate counts as the flow's if that weighs more in it than the class's own. */
static struct frequency_estimate result_of(const struct flow_value *value,
                                           const struct frequency_estimate *own,
                                           double own_variance) {
    if (is_unknown(value))
        return UNKNOWN;
    bool flows = value->origin == FLOW_FOLLOWS ||
                 (value->origin == FLOW_BOTH && value->variance < own_variance / 2);
    double error = value->executions > 0 ? sqrt(value->variance) / value->executions : INFINITY;
    return (struct frequency_estimate){value->executions, error, frequency_confidence(error),
                                       flows ? ESTIMATE_FLOW : own->source};
}

static bool spread(struct frequency *frequency, const struct evidence *evidence,
                   struct frequency_estimate *classes, struct flow_value *values,
                   const struct class_sum *sums, struct error *error) {
    const struct equivalence *equivalence = evidence->equivalence;
    if (!flow_propagate(evidence->cfg, equivalence, values, error))
        return false;
    for (uint32_t c = 0; c < equivalence->class_count; c++)
        classes[c] = result_of(&values[c], &classes[c],
                               variance_of(&classes[c], &sums[c], evidence->period));
    for (uint32_t b = 0; b < evidence->cfg->block_count; b++)
        frequency->blocks[b] = classes[equivalence->block_class[b]];
    for (uint32_t e = 0; e < evidence->cfg->edge_count; e++)
        frequency->edges[e] = classes[equivalence->edge_class[e]];
    return true;
}

bool frequency_estimate(struct frequency *frequency, const struct cfg *cfg,
                        const struct equivalence *equivalence, const struct schedule *schedule,
                        const double *cycles, double period, const bool *suspect,
                        struct error *error) {
    struct evidence evidence = {cfg, equivalence, schedule, cycles, period, suspect};
    if (!frequency_allocate(frequency, cfg, equivalence->class_count, error))
        return false;
    size_t count = equivalence->class_count + (size_t)1;
    struct frequency_estimate *classes = calloc(count, sizeof *classes);
    struct flow_value *values = calloc(count, sizeof *values);
    struct class_sum *sums = calloc(count, sizeof *sums);
    bool done = classes && values && sums;
    if (done) {
        list_points(frequency, &evidence);
        sum_classes(&evidence, sums);
        estimate_classes(frequency, &evidence, sums, classes, values);
        done = spread(frequency, &evidence, classes, values, sums, error);
    } else {
        error_set(error, "out of memory for the frequencies of a procedure");
    }
    free(classes);
    free(values);
    free(sums);
    return done;
}

/* ---- exact counts ---- */

bool frequency_exact(struct frequency *frequency, const struct cfg *cfg, const double *executions,
                     struct error *error) {
    *frequency = (struct frequency){0};
    struct equivalence parts;
    struct flow_value *values = NULL;
    bool done = equivalence_find(&parts, cfg, error);
    if (done)
        equivalence_part(&parts, cfg);
    done = done && frequency_allocate(frequency, cfg, parts.class_count, error);
    if (done) {
        values = calloc(parts.class_count + (size_t)1, sizeof *values);
        done = values || error_set(error, "out of memory for the counts of a procedure");
    }
    for (uint32_t b = 0; done && b < cfg->block_count; b++)
        values[b] = (struct flow_value){executions[cfg->blocks[b].first_insn], 0, FLOW_OWN};
    done = done && flow_propagate(cfg, &parts, values, error);
    for (uint32_t b = 0; done && b < cfg->block_count; b++)
        frequency->blocks[b] = (struct frequency_estimate){executions[cfg->blocks[b].first_insn], 0,
                                                           CONFIDENCE_HIGH, ESTIMATE_EXACT};
    for (uint32_t e = 0; done && e < cfg->edge_count; e++) {
        const struct flow_value *value = &values[cfg->block_count + e];
        bool follows = !is_unknown(value) && value->variance == 0;
        frequency->edges[e] = follows ? (struct frequency_estimate){value->executions, 0,
                                                                    CONFIDENCE_HIGH, ESTIMATE_FLOW}
                                      : UNKNOWN;
    }
    free(values);
    equivalence_free(&parts);
    return done;
}
