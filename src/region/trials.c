/* Every seed draws its centroids once, for the largest k; a smaller k begins with the first of
 * them, and so does not depend on what the largest is. Of each k only the centroids of the best
 * seed are kept; labels come from one pass with these. */
#include "region/trials.h"

#include <math.h>
#include <stdlib.h>

#include "region/bic.h"

void trials_free(struct trials *trials) {
    for (uint32_t i = 0; i <= trials->most && trials->tried; i++)
        free(trials->tried[i].centroids);
    free(trials->tried);
    free(trials->seeded);
    free(trials->begin);
    kmeans_free(&trials->kmeans);
    *trials = (struct trials){0};
}

/* Sets `most` to how many clusters there can be. */
static bool draw_seeds(struct trials *trials, struct error *error) {
    const struct region_settings *settings = trials->settings;
    size_t floats = (size_t)trials->most * trials->slices->stride;
    uint32_t drawn = trials->most;
    trials->begin = malloc(floats * sizeof *trials->begin);
    trials->seeded = calloc(settings->seeds, floats * sizeof *trials->seeded);
    if (!trials->begin || !trials->seeded)
        return error_set(error, "out of memory for %u centroids", trials->most);
    for (uint32_t i = 0; i < settings->seeds; i++) {
        uint32_t got = kmeans_seed(&trials->kmeans, settings->seed + i, trials->most,
                                   trials->seeded + i * floats);
        drawn = got < drawn ? got : drawn;
    }
    trials->most = drawn;
    return true;
}

bool trials_init(struct trials *trials, const struct projection *slices,
                 const struct region_settings *settings, struct error *error) {
    *trials = (struct trials){.slices = slices, .settings = settings};
    if (slices->count == 0)
        return error_set(error, "no slices to choose from");
    uint32_t most = settings->max_clusters;
    if (most > slices->count)
        most = (uint32_t)slices->count;
    trials->tried = calloc((size_t)most + 1, sizeof *trials->tried);
    if (!trials->tried)
        return error_set(error, "out of memory for %u clusters", most);
    trials->most = most;
    if (!kmeans_init(&trials->kmeans, slices, most, error))
        return false;
    return draw_seeds(trials, error);
}

const struct trial *trials_try(struct trials *trials, uint32_t clusters, struct error *error) {
    struct trial *trial = &trials->tried[clusters];
    struct kmeans *kmeans = &trials->kmeans;
    const struct projection *slices = trials->slices;
    if (trial->centroids)
        return trial;
    size_t bytes = (size_t)clusters * slices->stride * sizeof(float);
    float *best = malloc(bytes);
    if (!best) {
        error_set(error, "out of memory for %u centroids", clusters);
        return NULL;
    }
    trial->centroids = best;
    trial->score = -INFINITY;
    kmeans->max_passes = trials->settings->iterations;
    /* One cluster is the same whatever it begins with. */
    uint32_t seeds = clusters == 1 ? 1 : trials->settings->seeds;
    for (uint32_t i = 0; i < seeds; i++) {
        size_t seeded = (size_t)i * kmeans->max_clusters * slices->stride;
        memcpy(trials->begin, trials->seeded + seeded, bytes);
        kmeans_run(kmeans, clusters, trials->begin);
        double score = bic_score(slices->count, slices->dimensions, clusters, kmeans->distortion,
                                 kmeans->shares);
        if (score > trial->score) {
            trial->score = score;
            memcpy(best, trials->begin, bytes);
        }
    }
    return trial;
}

/* ---- the search ---- */

static bool add_trial(struct trials *trials, uint32_t clusters, struct region_choice *choice,
                      struct error *error) {
    const struct trial *trial = trials_try(trials, clusters, error);
    if (!trial)
        return false;
    choice->tried[choice->tried_count].clusters = clusters;
    choice->tried[choice->tried_count++].score = trial->score;
    return true;
}

/* The lowest score that is good enough, of those seen so far; the index of the highest. */
static double least_score(const struct region_choice *choice, double threshold, uint32_t *best) {
    double lowest = choice->tried[0].score, highest = lowest;
    *best = 0;
    for (uint32_t i = 1; i < choice->tried_count; i++) {
        lowest = fmin(lowest, choice->tried[i].score);
        if (choice->tried[i].score > highest) {
            highest = choice->tried[i].score;
            *best = i;
        }
    }
    return threshold * (highest - lowest) + lowest;
}

/* Halves the range until nothing lies within it: towards fewer clusters where these are good
 * enough, else towards the best seen. */
bool trials_search(struct trials *trials, uint32_t max_clusters, double threshold,
                   struct region_choice *choice, struct error *error) {
    uint32_t low = 1, high = max_clusters < trials->most ? max_clusters : trials->most, best;
    choice->tried_count = 0;
    if (!add_trial(trials, low, choice, error) ||
        (high > low && !add_trial(trials, high, choice, error)))
        return false;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (!add_trial(trials, middle, choice, error))
            return false;
        double enough = least_score(choice, threshold, &best);
        bool up = choice->tried[choice->tried_count - 1].score < enough &&
                  choice->tried[best].clusters > middle;
        *(up ? &low : &high) = middle;
    }
    /* Rounding must not put the limit above the highest. */
    double enough = least_score(choice, threshold, &best);
    choice->chosen = best;
    for (uint32_t i = 0; i < choice->tried_count; i++)
        if (choice->tried[i].score >= enough &&
            choice->tried[i].clusters < choice->tried[choice->chosen].clusters)
            choice->chosen = i;
    return true;
}

/* ---- points ---- */

/* Clusters by their first slice: `order` from the cluster of k-means to that, UINT32_MAX of those
 * that are empty. Returns how many. */
static uint32_t order_clusters(const struct kmeans *kmeans, uint32_t clusters, uint32_t *order) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < clusters; i++)
        order[i] = UINT32_MAX;
    for (size_t i = 0; i < kmeans->slices->count; i++)
        if (order[kmeans->labels[i]] == UINT32_MAX)
            order[kmeans->labels[i]] = count++;
    return count;
}

struct spread {
    double nearest;     /* distance of the nearest slice */
    double mean_square; /* of all distances */
};

static void measure_spread(const struct kmeans *kmeans, const float *centroids, uint32_t clusters,
                           struct spread *spreads) {
    for (uint32_t i = 0; i < clusters; i++) {
        spreads[i].nearest = INFINITY;
        spreads[i].mean_square = 0;
    }
    for (size_t i = 0; i < kmeans->slices->count; i++) {
        uint32_t label = kmeans->labels[i];
        double square = kmeans_distance2(kmeans, i, centroids, label);
        spreads[label].nearest = fmin(spreads[label].nearest, sqrt(square));
        spreads[label].mean_square += square / (double)kmeans->members[label];
    }
}

/* Of each cluster the slice nearest to its centroid, or the earliest that is near enough. */
static void find_points(const struct trials *trials, const float *centroids, const uint32_t *order,
                        const struct spread *spreads, struct region_choice *choice) {
    const struct kmeans *kmeans = &trials->kmeans;
    for (size_t i = trials->slices->count; i-- > 0;) { /* backwards: the earliest stays */
        uint32_t label = kmeans->labels[i], cluster = choice->labels[i] = order[label];
        double limit =
            spreads[label].nearest + trials->settings->early * sqrt(spreads[label].mean_square);
        if (sqrt((double)kmeans_distance2(kmeans, i, centroids, label)) <= limit)
            choice->points[cluster] = (struct region_point){
                .slice = (uint32_t)i, .cluster = cluster, .weight = kmeans->shares[label]};
    }
}

bool trials_take(struct trials *trials, uint32_t clusters, struct region_choice *choice,
                 struct error *error) {
    const struct trial *trial = trials_try(trials, clusters, error);
    struct kmeans *kmeans = &trials->kmeans;
    if (!trial)
        return false;
    kmeans->max_passes = 1;
    kmeans_run(kmeans, clusters, trial->centroids);
    choice->distortion = kmeans->distortion;
    uint32_t *order = calloc(clusters, sizeof *order);
    struct spread *spreads = calloc(clusters, sizeof *spreads);
    choice->points = calloc(clusters, sizeof *choice->points);
    choice->labels = calloc(trials->slices->count, sizeof *choice->labels);
    bool good = order && spreads && choice->points && choice->labels;
    if (good) {
        choice->point_count = order_clusters(kmeans, clusters, order);
        choice->slice_count = trials->slices->count;
        measure_spread(kmeans, trial->centroids, clusters, spreads);
        find_points(trials, trial->centroids, order, spreads, choice);
    }
    free(order);
    free(spreads);
    return good || error_set(error, "out of memory for %u regions", clusters);
}
