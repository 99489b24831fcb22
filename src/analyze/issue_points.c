/* A point that nothing stalls is sampled as a Poisson process of rate executions × M / period. So n
 * samples have a relative variance of 1/n, to which that of M is added. A point's weight is the M
 * that would give its variance by sampling alone: executions × weight / period is its number of
 * samples, less what they are worth less for M being in doubt. */
#include "analyze/frequency.h"

#include <math.h>
#include <stdlib.h>

/* No core model is nearer to a core. */
static const double MODEL_ERROR = 0.01;
/* Standard errors within which ratios are of one cluster. */
static const double SIMILAR = 2;
/* Samples of innocent points, or of all of them, below which nothing is read from them. */
static const double LEAST_INNOCENT_SAMPLES = 4, LEAST_SAMPLES = 25;
/* Of the class's points; a cluster that holds fewer is discarded. */
static const double LEAST_SHARE = 0.25;
/* Cycles per execution, on average; nothing but what is unbounded stalls longer. */
static const double MOST_STALL_CYCLES = 1000;

const char *confidence_name(enum confidence confidence) {
    static const char *const NAMES[] = {"none", "low", "medium", "high"};
    return NAMES[confidence];
}

/* Of a sum that stalls are a part of. */
static const double SUM_DOUBT = 0.5;

struct cluster {
    double rate, weight; /* mean ratio, sum of weights */
    size_t begin, end;   /* among the sorted points */
    size_t count;        /* of points, which may be fewer */
};

static double ratio(const struct issue_point *point) {
    return point->cycles / point->m;
}

static double weight_of(const struct issue_point *point, double period) {
    double variance = point->m_error * point->m_error + MODEL_ERROR * MODEL_ERROR;
    return point->m / (1 + point->cycles / period * variance);
}

static bool is_similar(const struct cluster *cluster, const struct issue_point *point,
                       double period) {
    double weight = weight_of(point, period), sum = cluster->weight + weight;
    double mean = (cluster->rate * cluster->weight + ratio(point) * weight) / sum;
    double variance = mean * period * (1 / weight + 1 / cluster->weight);
    return fabs(ratio(point) - cluster->rate) <= SIMILAR * sqrt(variance);
}

static void join(struct cluster *cluster, const struct issue_point *point, double period) {
    double weight = weight_of(point, period);
    cluster->weight += weight;
    cluster->rate += weight / cluster->weight * (ratio(point) - cluster->rate);
    cluster->count++;
}

static int compare_ratios(const void *a, const void *b) {
    const struct issue_point *x = a, *y = b;
    double difference = ratio(x) - ratio(y);
    if (difference != 0)
        return difference < 0 ? -1 : 1;
    return (x->insn > y->insn) - (x->insn < y->insn);
}

/* Of points from `begin` on, in the order of their ratios, as long as they are similar; suspects
 * are passed over if `innocent`. */
static struct cluster next_cluster(const struct issue_point *points, size_t count, size_t begin,
                                   bool innocent, double period) {
    struct cluster cluster = {.begin = begin, .end = begin};
    for (; cluster.end < count; cluster.end++) {
        const struct issue_point *point = &points[cluster.end];
        if (innocent && point->suspect)
            continue;
        if (cluster.count && !is_similar(&cluster, point, period))
            break;
        join(&cluster, point, period);
    }
    return cluster;
}

static void choose(struct issue_point *points, const struct cluster *cluster, bool innocent) {
    for (size_t i = cluster->begin; i < cluster->end; i++)
        points[i].chosen = !(innocent && points[i].suspect);
}

/* Of innocent points the cluster that weighs most, and suspects that are similar. `share`: of the
 * innocents' weight. */
static struct cluster choose_innocent(struct issue_point *points, size_t count, double period,
                                      double *share) {
    struct cluster best = {0};
    double weight = 0;
    for (size_t begin = 0; begin < count;) {
        struct cluster cluster = next_cluster(points, count, begin, true, period);
        begin = cluster.end;
        weight += cluster.weight;
        if (cluster.weight > best.weight)
            best = cluster;
    }
    *share = best.weight / weight;
    choose(points, &best, true);
    for (size_t i = 0; i < count; i++)
        if (points[i].suspect && is_similar(&best, &points[i], period)) {
            join(&best, &points[i], period);
            points[i].chosen = true;
        }
    return best;
}

static bool is_anomalous(const struct cluster *cluster, const struct issue_point *points,
                         size_t count) {
    if ((double)cluster->count < LEAST_SHARE * (double)count)
        return true;
    for (size_t i = 0; i < count; i++)
        if (!points[i].unbounded &&
            points[i].cycles > cluster->rate * (points[i].m + MOST_STALL_CYCLES))
            return true;
    return false;
}

/* The first cluster that is not anomalous; if there is none, the one of most points. */
static struct cluster choose_any(struct issue_point *points, size_t count, double period) {
    struct cluster best = {0};
    for (size_t begin = 0; begin < count;) {
        struct cluster cluster = next_cluster(points, count, begin, false, period);
        begin = cluster.end;
        if (!is_anomalous(&cluster, points, count)) {
            best = cluster;
            break;
        }
        if (cluster.count > best.count)
            best = cluster;
    }
    choose(points, &best, false);
    return best;
}

/* What may be wrong besides sampling, as a share of the estimate. */
static double doubt_of_innocents(const struct cluster *cluster, double share) {
    double alone = cluster->count == 1 ? 0.03 : 0;
    return alone + 0.3 * (1 - share);
}
/* That all are stalled, and alike, is the less likely the more they are. */
static double doubt_of_suspects(const struct cluster *cluster) {
    return 0.5 / (double)(cluster->count * cluster->count);
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
    double samples = 0, innocent_samples = 0, cycles = 0, m = 0;
    for (size_t i = 0; i < count; i++) {
        points[i].chosen = false;
        samples += points[i].cycles / period;
        innocent_samples += points[i].suspect ? 0 : points[i].cycles / period;
        cycles += points[i].cycles;
        m += points[i].m;
    }
    if (count == 0)
        return (struct frequency_estimate){0, INFINITY, CONFIDENCE_NONE, ESTIMATE_NONE};
    qsort(points, count, sizeof *points, compare_ratios);
    if (innocent_samples >= LEAST_INNOCENT_SAMPLES) {
        double share;
        struct cluster cluster = choose_innocent(points, count, period, &share);
        return estimate(cluster.rate, cluster.weight, doubt_of_innocents(&cluster, share), period,
                        ESTIMATE_POINTS);
    }
    if (samples < LEAST_SAMPLES)
        return frequency_of_sum(cycles, m, period);
    struct cluster cluster = choose_any(points, count, period);
    return estimate(cluster.rate, cluster.weight, doubt_of_suspects(&cluster), period,
                    ESTIMATE_POINTS);
}
