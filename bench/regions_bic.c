/* Whether our clusterings are as good as those of SimPoint 3.2's procedure, written down plainly
 * from its papers (Sherwood et al. 2002; Hamerly et al. 2005): Lloyd's k-means from five
 * beginnings, of k slices drawn at random or each the one farthest from those before it; 100
 * iterations; the best by BIC. Both get the same projected points, and are scored by the same
 * formula, in two forms: that of bic.h, and that of the papers, after Pelleg and Moore, whose
 * variance is divided by n − k.
 *
 *     regions_bic [FILE.bb...] */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region/bic.h"
#include "region/trials.h"
#include "synthetic_slices.h"
#include "util/random.h"

enum { SEEDS = 5, ITERATIONS = 100 };

struct reference {
    const struct projection *points;
    uint32_t clusters, dimensions;
    double *weights, *centroids, *shares;
    uint32_t *labels;
    double distortion;
};

static const float *point_of(const struct reference *reference, size_t i) {
    return reference->points->coordinates + i * reference->points->stride;
}

static double distance2_to(const struct reference *reference, size_t i, const double *centroid) {
    double sum = 0;
    for (uint32_t d = 0; d < reference->dimensions; d++) {
        double difference = point_of(reference, i)[d] - centroid[d];
        sum += difference * difference;
    }
    return sum;
}

static void begin_with(struct reference *reference, uint32_t cluster, size_t i) {
    for (uint32_t d = 0; d < reference->dimensions; d++)
        reference->centroids[cluster * reference->dimensions + d] = point_of(reference, i)[d];
}

/* k different slices, each as likely. */
static void begin_at_random(struct reference *reference, uint64_t seed) {
    size_t n = reference->points->count;
    uint32_t drawn = 0;
    for (size_t i = 0; i < n && drawn < reference->clusters; i++)
        if ((double)(n - i) * random_fraction(&seed) < reference->clusters - drawn)
            begin_with(reference, drawn++, i);
}

/* One at random, then always the slice farthest from the nearest centroid so far. */
static void begin_furthest_first(struct reference *reference, uint64_t seed) {
    size_t n = reference->points->count, next = (size_t)(random_fraction(&seed) * (double)n);
    double *nearest = malloc(n * sizeof *nearest);
    for (size_t i = 0; i < n; i++)
        nearest[i] = DBL_MAX;
    for (uint32_t cluster = 0; cluster < reference->clusters; cluster++) {
        begin_with(reference, cluster, next);
        next = 0;
        for (size_t i = 0; i < n; i++) {
            const double *centroid = reference->centroids + cluster * reference->dimensions;
            nearest[i] = fmin(nearest[i], distance2_to(reference, i, centroid));
            next = nearest[i] > nearest[next] ? i : next;
        }
    }
    free(nearest);
}

static size_t assign(struct reference *reference) {
    size_t moved = 0;
    reference->distortion = 0;
    memset(reference->shares, 0, reference->clusters * sizeof *reference->shares);
    for (size_t i = 0; i < reference->points->count; i++) {
        uint32_t nearest = 0;
        double least = DBL_MAX;
        for (uint32_t c = 0; c < reference->clusters; c++) {
            double d = distance2_to(reference, i, reference->centroids + c * reference->dimensions);
            if (d < least) {
                least = d;
                nearest = c;
            }
        }
        moved += reference->labels[i] != nearest;
        reference->labels[i] = nearest;
        reference->distortion += reference->weights[i] * least;
        reference->shares[nearest] += reference->weights[i] / (double)reference->points->count;
    }
    return moved;
}

static void move(struct reference *reference) {
    uint32_t dimensions = reference->dimensions;
    double n = (double)reference->points->count;
    for (uint32_t c = 0; c < reference->clusters; c++)
        if (reference->shares[c] > 0)
            memset(reference->centroids + c * dimensions, 0, dimensions * sizeof(double));
    for (size_t i = 0; i < reference->points->count; i++) {
        uint32_t c = reference->labels[i];
        for (uint32_t d = 0; d < dimensions; d++)
            reference->centroids[c * dimensions + d] +=
                reference->weights[i] * point_of(reference, i)[d] / (n * reference->shares[c]);
    }
}

static void lloyd(struct reference *reference) {
    memset(reference->labels, 0xff, reference->points->count * sizeof *reference->labels);
    for (int i = 0; i < ITERATIONS && assign(reference) > 0; i++)
        move(reference);
    assign(reference);
}

/* Pelleg and Moore's, as the papers give it: sum over clusters of −R/2 ln 2π − R M/2 ln s² − (R −
 * K)/2
 * + R ln R − R ln n, less half the parameters times ln n; s² = distortion / (n − K). */
static double papers_bic(double n, double dimensions, uint32_t clusters, double distortion,
                         const double *shares) {
    double k = clusters, variance = fmax(distortion / (n - k), BIC_LEAST_VARIANCE), sum = 0;
    for (uint32_t c = 0; c < clusters; c++) {
        double members = shares[c] * n;
        sum += -members / 2 * log(2 * M_PI) - members * dimensions / 2 * log(variance) -
               (members - k) / 2 + (members > 0 ? members * log(members) : 0) - members * log(n);
    }
    return sum - ((k - 1) + k * dimensions + 1) / 2 * log(n);
}

struct scores {
    double ours, papers; /* by bic_score(), by papers_bic() */
};

static struct scores best_of_reference(struct reference *reference, uint32_t clusters,
                                       void (*begin)(struct reference *reference, uint64_t seed)) {
    struct scores best = {-INFINITY, -INFINITY};
    size_t n = reference->points->count;
    reference->clusters = clusters;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        begin(reference, seed * 0x9e3779b9);
        lloyd(reference);
        best.ours = fmax(best.ours, bic_score(n, reference->dimensions, clusters,
                                              reference->distortion, reference->shares));
        best.papers = fmax(best.papers, papers_bic((double)n, reference->dimensions, clusters,
                                                   reference->distortion, reference->shares));
    }
    return best;
}

/* The trial's one pass again, for the other formula. */
static struct scores scores_of_trial(struct trials *trials, uint32_t clusters) {
    struct error error;
    const struct trial *trial = trials_try(trials, clusters, &error);
    must(trial != NULL, &error);
    struct kmeans *kmeans = &trials->kmeans;
    kmeans->max_passes = 1;
    kmeans_run(kmeans, clusters, trial->centroids);
    return (struct scores){trial->score,
                           papers_bic((double)trials->slices->count, trials->slices->dimensions,
                                      clusters, kmeans->distortion, kmeans->shares)};
}

static uint32_t compare(const char *name, const struct projection *points) {
    struct error error;
    struct trials trials;
    struct region_choice choice = {0};
    struct region_settings settings = REGION_DEFAULTS;
    must(trials_init(&trials, points, &settings, &error) &&
             trials_search(&trials, settings.max_clusters, settings.threshold, &choice, &error),
         &error);
    struct reference reference = {.points = points, .dimensions = points->dimensions};
    reference.weights = trials.kmeans.weights;
    reference.centroids = calloc(settings.max_clusters * points->dimensions, sizeof(double));
    reference.shares = calloc(settings.max_clusters, sizeof(double));
    reference.labels = calloc(points->count, sizeof(uint32_t));
    uint32_t lower = 0;
    for (uint32_t i = 0; i < choice.tried_count; i++) {
        uint32_t clusters = choice.tried[i].clusters;
        struct scores ours = scores_of_trial(&trials, clusters);
        struct scores furthest = best_of_reference(&reference, clusters, begin_furthest_first);
        struct scores sampled = best_of_reference(&reference, clusters, begin_at_random);
        double ahead = ours.ours - fmax(furthest.ours, sampled.ours);
        double ahead_papers = ours.papers - fmax(furthest.papers, sampled.papers);
        /* Sums of floats are not exact. */
        bool worse = ahead < -1e-6 * fabs(ours.ours) || ahead_papers < -1e-6 * fabs(ours.papers);
        lower += worse;
        printf("%-24s %8zu %4u %14.1f %14.1f %14.1f %11.1f %11.1f%s\n", name, points->count,
               clusters, ours.ours, furthest.ours, sampled.ours, ahead, ahead_papers,
               worse ? "  LOWER" : "");
        fflush(stdout);
    }
    free(reference.centroids);
    free(reference.shares);
    free(reference.labels);
    trials_free(&trials);
    return lower;
}

static uint32_t compare_synthetic(const char *name, uint32_t phases, uint32_t slices) {
    struct error error;
    struct projection points;
    struct bbv_set set = {0};
    projection_init(&points, 15, 1);
    make_mixes();
    for (uint32_t i = 0; i < slices; i++) {
        next_slice(&set, phases);
        must(projection_add(&points, &set, 0, &error), &error);
    }
    uint32_t lower = compare(name, &points);
    bbv_set_free(&set);
    projection_free(&points);
    return lower;
}

int main(int argc, char **argv) {
    uint32_t lower = 0;
    printf("%-24s %8s %4s %14s %14s %14s %11s %11s\n", "program", "slices", "k", "ours", "furthest",
           "sampled", "ahead", "by papers'");
    lower += compare_synthetic("8 phases", 8, 2000);
    lower += compare_synthetic("20 phases", 20, 2000);
    lower += compare_synthetic("60 phases", 60, 2000);
    lower += compare_synthetic("no phases", 0, 2000);
    for (int i = 1; i < argc; i++) {
        struct error error;
        struct projection points;
        projection_init(&points, 15, 1);
        must(projection_read(&points, argv[i], &error), &error);
        const char *slash = strrchr(argv[i], '/');
        lower += compare(slash ? slash + 1 : argv[i], &points);
        projection_free(&points);
    }
    printf("our score is lower: %u times\n", lower);
    return lower > 0;
}
