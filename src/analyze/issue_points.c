/* A point that nothing stalls is sampled as a Poisson process of rate executions × M / period. So n
 * samples have a relative variance of 1/n, to which that of M is added. A point's weight is the M
 * that would give its variance by sampling alone.
 *
 * Points are joined to a cluster in the order of their ratios for as long as the squares of their
 * distances from the mean, in standard errors, sum to what chance allows (χ²). Whether the next
 * ratio is far from those before would be the wrong question: of many points of few samples the
 * lowest are so by chance. */
#include "analyze/frequency.h"

#include <math.h>
#include <stdlib.h>

#include "util/order.h"

/* The error of any core model is at least this. */
static const double MODEL_ERROR = 0.005;
/* Points that differ by so many standard errors may do so by chance. */
static const double SIMILAR = 2;
/* With fewer samples of innocent points, or of all points, nothing is concluded from them. */
static const double LEAST_INNOCENT_SAMPLES = 4, LEAST_SAMPLES = 25;
/* With a larger standard error of M, as a share, a point is no better than a suspect. */
static const double MOST_INNOCENT_ERROR = 0.1;
/* A cluster with less than this share of the sum of the points' M is discarded. */
static const double LEAST_SHARE = 0.25;
/* Cycles per execution, on average. Only what is unbounded stalls longer. */
static const double MOST_STALL_CYCLES = 1000;

const char *confidence_name(enum confidence confidence) {
    static const char *const NAMES[] = {"none", "low", "medium", "high"};
    return NAMES[confidence];
}

/* The relative error of a sum that includes stalls. */
static const double SUM_DOUBT = 0.5;

struct points {
    struct issue_point *points; /* sorted by their ratios */
    size_t count;
    double period;
    double typical; /* ratio: half of all M have a lower one. Weights that went by the points' own
                       ratios would favour the low */
    double least;   /* ratio: with fewer executions some instruction would stall absurdly long */
};

struct cluster {
    double rate, weight; /* mean ratio, sum of weights */
    double squares;      /* Σ weight × (ratio − rate)² */
    double m;            /* Σ M */
    size_t begin, end;   /* among the points */
    size_t count;        /* which may be fewer */
};

static bool is_innocent(const struct issue_point *point) {
    return !point->suspect && point->m_error <= MOST_INNOCENT_ERROR;
}

static double ratio(const struct issue_point *point) {
    return point->cycles / point->m;
}

static double weight_of(const struct points *of, const struct issue_point *point) {
    double variance = point->m_error * point->m_error + MODEL_ERROR * MODEL_ERROR;
    return point->m / (1 + of->typical * point->m / of->period * variance);
}

static bool is_similar(const struct points *of, const struct cluster *cluster,
                       const struct issue_point *point) {
    double weight = weight_of(of, point), sum = cluster->weight + weight;
    double mean = (cluster->rate * cluster->weight + ratio(point) * weight) / sum;
    double variance = mean * of->period * (1 / weight + 1 / cluster->weight);
    return fabs(ratio(point) - cluster->rate) <= SIMILAR * sqrt(variance);
}

static void join(const struct points *of, struct cluster *cluster,
                 const struct issue_point *point) {
    double weight = weight_of(of, point), distance = ratio(point) - cluster->rate;
    cluster->weight += weight;
    cluster->rate += weight / cluster->weight * distance;
    cluster->squares += weight * distance * (ratio(point) - cluster->rate);
    cluster->m += point->m;
    cluster->count++;
}

/* χ² of n points has a mean of n − 1 and a variance of 2 (n − 1). */
static bool is_of_chance(const struct points *of, const struct cluster *cluster) {
    double freedom = (double)cluster->count - 1;
    double limit = freedom + SIMILAR * sqrt(2 * freedom);
    return cluster->squares <= limit * cluster->rate * of->period;
}

ORDER(compare_ratios, struct issue_point,
      ascending(ratio(a), ratio(b)) ?: ascending(a->insn, b->insn))

/* The longest sequence of points from `begin` on that may differ by chance, up to the first that
 * may not; with `innocent`, suspects are passed over. */
static struct cluster next_cluster(const struct points *of, size_t begin, bool innocent) {
    struct cluster cluster = {.begin = begin, .end = begin};
    for (; cluster.end < of->count; cluster.end++) {
        if (innocent && !is_innocent(&of->points[cluster.end]))
            continue;
        struct cluster with = cluster;
        join(of, &with, &of->points[cluster.end]);
        if (!is_of_chance(of, &with))
            break;
        cluster = with;
    }
    return cluster;
}

static void choose(const struct points *of, const struct cluster *cluster, bool innocent) {
    for (size_t i = cluster->begin; i < cluster->end; i++)
        of->points[i].chosen = !innocent || is_innocent(&of->points[i]);
}

/* The cluster of innocent points that weighs most, with the suspects that are similar. `share`: of
 * the innocents' weight. None (count 0) if each lets an instruction stall absurdly: then what seems
 * innocent is not, as when an interrupt came late and most samples of a loop are at one
 * instruction. */
static struct cluster choose_innocent(const struct points *of, double *share) {
    struct cluster best = {0};
    double weight = 0;
    for (size_t begin = 0; begin < of->count;) {
        struct cluster cluster = next_cluster(of, begin, true);
        begin = cluster.end;
        weight += cluster.weight;
        if (cluster.weight > best.weight && cluster.rate >= of->least)
            best = cluster;
    }
    if (best.count == 0)
        return best;
    *share = best.weight / weight;
    choose(of, &best, true);
    for (size_t i = 0; i < of->count; i++)
        if (!is_innocent(&of->points[i]) && is_similar(of, &best, &of->points[i])) {
            join(of, &best, &of->points[i]);
            of->points[i].chosen = true;
        }
    return best;
}

/* The first cluster that lets nothing stall absurdly and has a fair share of all M. If there is
 * none, the heaviest that lets nothing stall absurdly. There is always one: the last, of the
 * highest ratio. */
static struct cluster choose_any(const struct points *of, double all_m) {
    struct cluster best = {0};
    for (size_t begin = 0; begin < of->count;) {
        struct cluster cluster = next_cluster(of, begin, false);
        begin = cluster.end;
        bool last = begin == of->count;
        if (cluster.rate < of->least && !(last && best.count == 0))
            continue;
        if (cluster.m >= LEAST_SHARE * all_m) {
            best = cluster;
            break;
        }
        if (cluster.weight > best.weight)
            best = cluster;
    }
    choose(of, &best, false);
    return best;
}

/* Executions below which an instruction would stall absurdly each time. */
static double least_ratio(const struct issue_point *points, size_t count) {
    double least = 0;
    for (size_t i = 0; i < count; i++)
        if (!points[i].unbounded)
            least = fmax(least, points[i].cycles / (points[i].m + MOST_STALL_CYCLES));
    return least;
}

/* The ratio below which half of all M lie. */
static double typical_ratio(const struct issue_point *sorted, size_t count, double m) {
    double below = 0;
    for (size_t i = 0; i < count; i++)
        if ((below += sorted[i].m) >= m / 2)
            return ratio(&sorted[i]);
    return ratio(&sorted[count - 1]);
}

/* What may be wrong besides sampling, as a share of the estimate, with innocent points. */
static double doubt_of_innocents(const struct cluster *cluster, double share) {
    double alone = cluster->count == 1 ? 0.03 : 0;
    return alone + 0.3 * (1 - share);
}
/* The more points, the less likely that all are stalled, and alike. */
static double doubt_of_suspects(const struct cluster *cluster) {
    return 0.5 / (double)(cluster->count * cluster->count);
}

/* The doubt from stalls that may hide what is in M, over the points chosen. */
static double doubt_of_hiding(const struct points *of) {
    double hidden = 0, m = 0;
    for (size_t i = 0; i < of->count; i++)
        if (of->points[i].chosen) {
            hidden += of->points[i].hidden * of->points[i].m;
            m += of->points[i].m;
        }
    return m > 0 ? hidden / m : 0;
}

enum confidence frequency_confidence(double error) {
    return 2 * error > 0.15   ? CONFIDENCE_LOW
           : 2 * error > 0.10 ? CONFIDENCE_MEDIUM
                              : CONFIDENCE_HIGH;
}

static struct frequency_estimate estimate(double rate, double weight, double doubt, double period,
                                          enum estimate_source source) {
    double samples = rate * weight / period;
    double error =
        samples > 0 ? sqrt((samples + 1) / (samples * samples) + doubt * doubt) : INFINITY;
    return (struct frequency_estimate){rate, error, frequency_confidence(error), source};
}

struct frequency_estimate frequency_of_sum(double cycles, double m, double period) {
    return estimate(cycles / m, m, SUM_DOUBT, period, ESTIMATE_SUM);
}

struct frequency_estimate frequency_of_points(struct issue_point *points, size_t count,
                                              double period) {
    double samples = 0, innocent_samples = 0, cycles = 0, m = 0, doubt = 0;
    for (size_t i = 0; i < count; i++) {
        points[i].chosen = false;
        samples += points[i].cycles / period;
        innocent_samples += is_innocent(&points[i]) ? points[i].cycles / period : 0;
        cycles += points[i].cycles;
        m += points[i].m;
    }
    if (count == 0)
        return (struct frequency_estimate){0, INFINITY, CONFIDENCE_NONE, ESTIMATE_NONE};
    qsort(points, count, sizeof *points, compare_ratios);
    struct points of = {points, count, period, typical_ratio(points, count, m),
                        least_ratio(points, count)};
    if (innocent_samples >= LEAST_INNOCENT_SAMPLES) {
        double share = 0;
        struct cluster cluster = choose_innocent(&of, &share);
        if (cluster.count > 0)
            return estimate(cluster.rate, cluster.weight,
                            doubt_of_innocents(&cluster, share) + doubt_of_hiding(&of), period,
                            ESTIMATE_POINTS);
        doubt = SUM_DOUBT; /* they are stalled, too */
    }
    if (samples < LEAST_SAMPLES)
        return frequency_of_sum(cycles, m, period);
    struct cluster cluster = choose_any(&of, m);
    return estimate(cluster.rate, cluster.weight,
                    doubt + doubt_of_suspects(&cluster) + doubt_of_hiding(&of), period,
                    ESTIMATE_POINTS);
}
