/* How often each block and edge was executed, from samples alone (DCPI §6.1.3 to §6.1.5).
 *
 * An issue point (M > 0) that nothing dynamic stalls has samples × period = executions × M. So each
 * issue point proposes cycles / M, too high where it stalls; the smaller proposals of a class that
 * agree are its frequency. What no class shows by itself follows from the flow: what enters a block
 * leaves it.
 *
 * Confidence is the standard error of an estimate (§6.1.5). It comes from the samples (Poisson) and
 * from what else may be wrong, as shares of the estimate:
 * - 0.5 / k² where all k points of the cluster are suspect: that all are stalled, and alike, is the
 *   less likely the more they are;
 * - 0.3 of the innocent points' weight that is not in the cluster, 0.03 where there is but one
 * point;
 * - 0.5 of a sum ΣS / ΣM, which stalls are a part of;
 * - the doubt about M, and 0.005 in any case: no core model is nearer to a core;
 * - along the flow variances add up, and what smoothing moved is added. */
#pragma once

#include "analyze/equivalence.h"
#include "analyze/schedule.h"

enum confidence { CONFIDENCE_NONE, CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };
const char *confidence_name(enum confidence confidence); /* "low" */
/* Low if two standard errors are more than 15 %, high if they are at most 10 %. */
enum confidence frequency_confidence(double error);

enum estimate_source {
    ESTIMATE_NONE,   /* nothing is known: no samples near, no flow */
    ESTIMATE_POINTS, /* issue points of its class */
    ESTIMATE_SUM,    /* few samples: all cycles of the class over all M */
    ESTIMATE_FLOW,   /* propagated along the flow */
    ESTIMATE_EXACT   /* counted */
};

/* An issue point of a class. */
struct issue_point {
    uint32_t insn;
    double cycles, m; /* sums from behind the instruction it depends on (Σ S_k / Σ M_k), else its
                         own */
    double m_error;   /* standard error of `m`, as a share of it: ways that lead here differ, or it
                         waits for something before the block, which a stall may hide */
    double hidden;    /* out of order: how far stalls before it may hide what is in `m`, as a share;
                         if they do so for one point, then most likely for all */
    bool suspect;     /* something dynamic may stall it */
    bool unbounded;   /* it may stall without bound: a system call, a repeated instruction */
    bool chosen;      /* its ratio is one of those averaged */
};

struct frequency_estimate {
    double executions; /* also 0 if nothing is known */
    double error;      /* standard error, as a share of executions; INFINITY: it may be anything */
    enum confidence confidence;
    enum estimate_source source;
};

struct frequency {
    struct frequency_estimate *blocks, *edges; /* of the graph */
    struct issue_point *points;                /* by class */
    uint32_t *point_first;                     /* by class, and one more */
};

/* The heuristic itself, for one class: chooses among its points, and sorts them by their ratios.
 * Cycles are samples × period. No points: ESTIMATE_NONE.
 *
 * A cluster is a run of ratios that differ by no more than sampling and doubt about M explain (χ²
 * within two standard errors of its mean; DCPI lets ratios differ by half). Innocent points of
 * whose M there is little doubt decide where they have samples enough, by the cluster of theirs
 * that weighs most; others join it where they agree. Without such, the first cluster is taken that
 * holds a fair share of the class's M and lets no instruction stall absurdly long.
 *
 * The example of DCPI Fig. 7: ratios 1482, 1493, 1548 and 1586 of 3126, 1636, 1482, 27766, 1493,
 * 174727, 1548, 1586 are chosen, and 1527 is the estimate: with 1636 χ² would be 10.3 of at most
 * 9.7. */
struct frequency_estimate frequency_of_points(struct issue_point *points, size_t count,
                                              double period);

/* ΣS / ΣM, of `m` > 0. */
struct frequency_estimate frequency_of_sum(double cycles, double m, double period);

/* `cycles` by instruction of the graph. `suspect` by instruction: whether something dynamic may
 * stall it (culprits.h); NULL: anything may. False: out of memory. frequency_free() either way. */
bool frequency_estimate(struct frequency *frequency, const struct cfg *cfg,
                        const struct equivalence *equivalence, const struct schedule *schedule,
                        const double *cycles, double period, const bool *suspect,
                        struct error *error);
/* Takes exact counts instead of estimates, to tell the error of culprits from that of frequencies
 * (DCPI §6.3, Fig. 10): executions by instruction of the graph, edges by flow. */
bool frequency_exact(struct frequency *frequency, const struct cfg *cfg, const double *executions,
                     struct error *error);
void frequency_free(struct frequency *frequency);
