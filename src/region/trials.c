/* Every seed draws its centroids once, for the largest k; a smaller k begins with the first of
 * them, and so does not depend on what the largest is. Of each k only the centroids of the best
 * seed are kept; labels come from one pass with these. */
#include "region/trials.h"

#include <math.h>
#include <stdlib.h>

#include "region/bic.h"
#include "region/representatives.h"
#include "region/swap.h"

enum { MAX_SWAPS = 32, SWAP_SLICES = 1 << 14 };

void trials_free(struct trials *trials) {
    for (uint32_t i = 0; i <= trials->most && trials->tried; i++)
        free(trials->tried[i].centroids);
    free(trials->tried);
    for (uint32_t i = 0; trials->wards && i < trials->settings->seeds; i++)
        ward_free(&trials->wards[i]);
    free(trials->wards);
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
        float *seeded = trials->seeded + i * floats;
        uint32_t got = (i % 4 == 2 ? kmeans_seed_furthest : kmeans_seed)(
            &trials->kmeans, settings->seed + i, trials->most, seeded);
        drawn = got < drawn ? got : drawn;
    }
    trials->most = drawn;
    return true;
}

/* Whether a beginning is by merging. */
static bool merges(const struct trials *trials, uint32_t seed, uint32_t clusters) {
    return seed % 2 == 1 && clusters <= WARD_MOST_CLUSTERS && clusters <= trials->wards[seed].count;
}

static bool make_wards(struct trials *trials, struct error *error) {
    const struct region_settings *settings = trials->settings;
    trials->wards = calloc(settings->seeds, sizeof *trials->wards);
    if (!trials->wards)
        return error_set(error, "out of memory for %u beginnings", settings->seeds);
    for (uint32_t i = 1; i < settings->seeds; i += 2)
        if (!ward_init(&trials->wards[i], trials->slices, settings->seed + i, error))
            return false;
    return true;
}

/* The centroids that a run with this seed begins with. */
static bool begin_run(struct trials *trials, uint32_t seed, uint32_t clusters,
                      struct error *error) {
    size_t stride = trials->slices->stride, first = seed * trials->kmeans.max_clusters * stride;
    if (merges(trials, seed, clusters))
        return ward_centroids(&trials->wards[seed], clusters, trials->begin, error);
    memcpy(trials->begin, trials->seeded + first, clusters * stride * sizeof *trials->begin);
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
    return draw_seeds(trials, error) && make_wards(trials, error);
}

/* The clustering with the centroids in `begin`, if it is the best so far. */
static void keep_better(struct trials *trials, uint32_t clusters, struct trial *trial) {
    const struct projection *slices = trials->slices;
    const struct kmeans *kmeans = &trials->kmeans;
    double score =
        bic_score(slices->count, slices->dimensions, clusters, kmeans->distortion, kmeans->shares);
    if (score <= trial->score)
        return;
    trial->score = score;
    memcpy(trial->centroids, trials->begin, (size_t)clusters * slices->stride * sizeof(float));
}

static void run_once(struct trials *trials, uint32_t clusters, uint32_t iterations,
                     struct trial *trial) {
    trials->kmeans.max_passes = iterations;
    kmeans_run(&trials->kmeans, clusters, trials->begin);
    keep_better(trials, clusters, trial);
}

/* Swaps, as many as cost little beside the runs: the fewer, the more slices there are. */
static bool improve(struct trials *trials, uint32_t clusters, struct trial *trial,
                    struct error *error) {
    double part = (double)SWAP_SLICES / (double)trials->slices->count;
    double attempts = fmin(part * part, MAX_SWAPS);
    if (attempts < 1)
        return true;
    float *scratch = malloc((size_t)clusters * trials->slices->stride * sizeof *scratch);
    if (!scratch)
        return error_set(error, "out of memory for %u centroids", clusters);
    size_t bytes = (size_t)clusters * trials->slices->stride * sizeof *scratch;
    memcpy(trials->begin, trial->centroids, bytes);
    bool good =
        swap_clusters(&trials->kmeans, clusters, (uint32_t)attempts, trials->begin, scratch, error);
    free(scratch);
    if (good)
        keep_better(trials, clusters, trial);
    return good;
}

/* Runs from all beginnings but the last; then the best of them goes on, and the last begins from
 * what they found, merged. */
static bool run_and_merge(struct trials *trials, uint32_t clusters, struct trial *trial,
                          struct error *error) {
    uint32_t stride = trials->slices->stride, seeds = trials->settings->seeds;
    uint32_t all = trials->settings->iterations, some = all - all / 5 * 3;
    struct ward found;
    bool good = ward_begin(&found, stride, error);
    for (uint32_t i = 0; good && i < seeds - 1; i++) {
        good = begin_run(trials, i, clusters, error);
        if (!good)
            break;
        run_once(trials, clusters, some, trial);
        for (uint32_t c = 0; c < clusters; c++)
            if (trials->kmeans.shares[c] > 0)
                ward_add(&found, trials->begin + (size_t)c * stride, trials->kmeans.shares[c]);
    }
    if (good) {
        memcpy(trials->begin, trial->centroids, (size_t)clusters * stride * sizeof(float));
        run_once(trials, clusters, all - some + 1, trial);
        good = ward_end(&found, error) && ward_centroids(&found, clusters, trials->begin, error);
    }
    if (good)
        run_once(trials, clusters, all, trial);
    ward_free(&found);
    return good;
}

static bool run_all(struct trials *trials, uint32_t clusters, struct trial *trial,
                    struct error *error) {
    uint32_t seeds = trials->settings->seeds;
    if (seeds > 2 && (seeds - 1) * clusters <= WARD_SMALL)
        return run_and_merge(trials, clusters, trial, error);
    for (uint32_t i = 0; i < seeds; i++) {
        if (!begin_run(trials, i, clusters, error))
            return false;
        run_once(trials, clusters, trials->settings->iterations, trial);
    }
    return true;
}

const struct trial *trials_try(struct trials *trials, uint32_t clusters, struct error *error) {
    struct trial *trial = &trials->tried[clusters];
    if (trial->centroids)
        return trial;
    trial->centroids = calloc((size_t)clusters * trials->slices->stride, sizeof(float));
    if (!trial->centroids)
        return error_null(error, "out of memory for %u centroids", clusters);
    trial->score = -INFINITY;
    if (clusters > 1)
        return run_all(trials, clusters, trial, error) && improve(trials, clusters, trial, error)
                   ? trial
                   : NULL;
    /* One cluster is the same whatever it begins with. */
    if (!begin_run(trials, 0, clusters, error))
        return NULL;
    run_once(trials, clusters, trials->settings->iterations, trial);
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

/* Labels of *choice, and a point for each cluster, of which only the slice is still open. */
static void label(const struct kmeans *kmeans, uint32_t clusters, uint32_t *order,
                  struct region_choice *choice) {
    choice->slice_count = kmeans->slices->count;
    choice->point_count = order_clusters(kmeans, clusters, order);
    for (size_t i = 0; i < choice->slice_count; i++) {
        uint32_t cluster = choice->labels[i] = order[kmeans->labels[i]];
        choice->points[cluster] = (struct region_point){
            .cluster = cluster, .whole = cluster, .weight = kmeans->shares[kmeans->labels[i]]};
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
    double *distances2 = malloc(kmeans->slices->count * sizeof *distances2);
    choice->points = calloc(clusters, sizeof *choice->points);
    choice->labels = calloc(kmeans->slices->count, sizeof *choice->labels);
    bool good = order && distances2 && choice->points && choice->labels;
    if (good) {
        label(kmeans, clusters, order, choice);
        for (size_t i = 0; i < choice->slice_count; i++)
            distances2[i] = kmeans_distance2(kmeans, i, trial->centroids, kmeans->labels[i]);
        good = representatives_take(kmeans->slices, distances2, trials->settings->early, choice);
    }
    free(order);
    free(distances2);
    return good || error_set(error, "out of memory for %u regions", clusters);
}
