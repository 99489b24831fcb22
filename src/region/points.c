/* Every seed draws its centroids once, for the largest k; a smaller k begins with the first of
 * them. Of each k only the centroids of the best seed are kept; of the k chosen the labels come
 * from one more run, which begins where that one ended. */
#include "region/points.h"

#include <math.h>
#include <stdlib.h>

#include "region/bic.h"

struct search {
    const struct region_settings *settings;
    struct region_choice *choice;
    struct kmeans kmeans;
    size_t centroid_floats; /* of max_clusters centroids */
    float *seeded;          /* [seeds][max_clusters][stride] */
    float *trial;           /* of one seed */
    float *best[REGION_MAX_TRIED];
};

static void search_free(struct search *search) {
    kmeans_free(&search->kmeans);
    free(search->seeded);
    free(search->trial);
    for (uint32_t i = 0; i < REGION_MAX_TRIED; i++)
        free(search->best[i]);
}

/* How many clusters there can be at most; 0: out of memory. */
static uint32_t draw_seeds(struct search *search, struct error *error) {
    const struct region_settings *settings = search->settings;
    const struct projection *slices = search->kmeans.slices;
    uint32_t most = search->kmeans.max_clusters, drawn = most;
    search->centroid_floats = (size_t)most * slices->stride;
    search->trial = malloc(search->centroid_floats * sizeof *search->trial);
    search->seeded = calloc(settings->seeds, search->centroid_floats * sizeof *search->seeded);
    if (!search->trial || !search->seeded) {
        error_set(error, "out of memory for %u centroids", most);
        return 0;
    }
    for (uint32_t i = 0; i < settings->seeds; i++) {
        uint32_t got = kmeans_seed(&search->kmeans, settings->seed + i, most,
                                   search->seeded + i * search->centroid_floats);
        drawn = got < drawn ? got : drawn;
    }
    return drawn;
}

/* k-means from every seed; the best by BIC is kept. */
static bool try_clusters(struct search *search, uint32_t clusters, struct error *error) {
    struct region_choice *choice = search->choice;
    struct kmeans *kmeans = &search->kmeans;
    const struct projection *slices = kmeans->slices;
    size_t bytes = (size_t)clusters * slices->stride * sizeof(float);
    float *best = search->best[choice->tried_count] = malloc(bytes);
    if (!best)
        return error_set(error, "out of memory for %u centroids", clusters);
    double highest = -INFINITY;
    /* One cluster is the same whatever it begins with. */
    uint32_t seeds = clusters == 1 ? 1 : search->settings->seeds;
    for (uint32_t i = 0; i < seeds; i++) {
        memcpy(search->trial, search->seeded + i * search->centroid_floats, bytes);
        kmeans_run(kmeans, clusters, search->trial);
        double score = bic_score(slices->count, slices->dimensions, clusters, kmeans->distortion,
                                 kmeans->shares);
        if (score > highest) {
            highest = score;
            memcpy(best, search->trial, bytes);
        }
    }
    choice->tried[choice->tried_count].clusters = clusters;
    choice->tried[choice->tried_count++].score = highest;
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
static bool search_clusters(struct search *search, uint32_t most, struct error *error) {
    struct region_choice *choice = search->choice;
    uint32_t low = 1, high = most, best;
    if (!try_clusters(search, low, error) || (high > low && !try_clusters(search, high, error)))
        return false;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (!try_clusters(search, middle, error))
            return false;
        double enough = least_score(choice, search->settings->threshold, &best);
        bool up = choice->tried[choice->tried_count - 1].score < enough &&
                  choice->tried[best].clusters > middle;
        *(up ? &low : &high) = middle;
    }
    /* Rounding must not put the limit above the highest. */
    double enough = least_score(choice, search->settings->threshold, &best);
    choice->chosen = best;
    for (uint32_t i = 0; i < choice->tried_count; i++)
        if (choice->tried[i].score >= enough &&
            choice->tried[i].clusters < choice->tried[choice->chosen].clusters)
            choice->chosen = i;
    return true;
}

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
    for (uint32_t i = 0; i < clusters; i++)
        spreads[i] = (struct spread){.nearest = INFINITY};
    for (size_t i = 0; i < kmeans->slices->count; i++) {
        uint32_t label = kmeans->labels[i];
        double square = kmeans_distance2(kmeans, i, centroids, label);
        spreads[label].nearest = fmin(spreads[label].nearest, sqrt(square));
        spreads[label].mean_square += square / (double)kmeans->members[label];
    }
}

static bool choose_points(struct search *search, struct error *error) {
    struct region_choice *choice = search->choice;
    struct kmeans *kmeans = &search->kmeans;
    float *centroids = search->best[choice->chosen];
    uint32_t clusters = choice->tried[choice->chosen].clusters;
    kmeans_run(kmeans, clusters, centroids);
    choice->distortion = kmeans->distortion;

    uint32_t *order = malloc(clusters * sizeof *order);
    struct spread *spreads = malloc(clusters * sizeof *spreads);
    choice->points = calloc(clusters, sizeof *choice->points);
    choice->labels = malloc(kmeans->slices->count * sizeof *choice->labels);
    bool good = order && spreads && choice->points && choice->labels;
    if (!good)
        error_set(error, "out of memory for %u regions", clusters);
    else {
        choice->point_count = order_clusters(kmeans, clusters, order);
        choice->slice_count = kmeans->slices->count;
        measure_spread(kmeans, centroids, clusters, spreads);
        for (size_t i = kmeans->slices->count; i-- > 0;) { /* backwards: the earliest stays */
            uint32_t label = kmeans->labels[i], cluster = choice->labels[i] = order[label];
            double limit =
                spreads[label].nearest + search->settings->early * sqrt(spreads[label].mean_square);
            if (sqrt((double)kmeans_distance2(kmeans, i, centroids, label)) <= limit)
                choice->points[cluster] = (struct region_point){
                    .slice = (uint32_t)i, .cluster = cluster, .weight = kmeans->shares[label]};
        }
    }
    free(order);
    free(spreads);
    return good;
}

bool region_choose(const struct projection *slices, const struct region_settings *settings,
                   struct region_choice *choice, struct error *error) {
    *choice = (struct region_choice){0};
    if (slices->count == 0)
        return error_set(error, "no slices to choose from");
    uint32_t most = settings->max_clusters;
    if (most > slices->count)
        most = (uint32_t)slices->count;
    struct search search = {.settings = settings, .choice = choice};
    bool good = kmeans_init(&search.kmeans, slices, most, error);
    search.kmeans.max_passes = settings->iterations;
    good = good && (most = draw_seeds(&search, error)) > 0 &&
           search_clusters(&search, most, error) && choose_points(&search, error);
    search_free(&search);
    if (!good)
        region_choice_free(choice);
    return good;
}

void region_choice_free(struct region_choice *choice) {
    free(choice->points);
    free(choice->labels);
    *choice = (struct region_choice){0};
}
