/* The clusters that a coverage leaves out are those of the least weight; of equal weight, those
 * that come later in the run. */
#include "region/selection.h"

#include <stdlib.h>

#include "region/full_space.h"
#include "region/representatives.h"
#include "util/array.h"
#include "util/order.h"
#include "util/random.h"

const char *const SELECTION_METHODS[SELECT_METHODS] = {"simpoint", "random", "systematic"};
const char *const SELECTION_SPACES[SELECT_SPACES] = {"projected", "full"};

/* ---- drawing ---- */

/* Knuth's selection sampling (TAOCP 2, 3.4.2, algorithm S): in order, each slice with a chance of
 * those still needed out of those still to come. */
static void draw_random(size_t total, uint32_t count, uint64_t seed, struct region_point *points) {
    uint32_t drawn = 0;
    for (size_t i = 0; i < total && drawn < count; i++)
        if ((double)(total - i) * random_fraction(&seed) < count - drawn)
            points[drawn++].slice = (uint32_t)i;
}

static void draw_systematic(size_t total, uint32_t count, uint64_t seed,
                            struct region_point *points) {
    double step = (double)total / count, at = random_fraction(&seed) * step;
    for (uint32_t i = 0; i < count; i++) {
        size_t slice = (size_t)(at + i * step);
        points[i].slice = (uint32_t)(slice < total ? slice : total - 1);
    }
}

bool selection_draw(const struct projection *slices, enum selection_method method, uint32_t count,
                    uint64_t seed, struct region_point *points, struct error *error) {
    if (count == 0 || count > slices->count)
        return error_set(error, "cannot draw %u of %zu slices", count, slices->count);
    (method == SELECT_RANDOM ? draw_random : draw_systematic)(slices->count, count, seed, points);
    double total = sum_over(double, i, count, (double)slices->instructions[points[i].slice]);
    for (uint32_t i = 0; i < count; i++) {
        points[i].cluster = i;
        points[i].whole = 0; /* all slices are one cluster, of which they are drawn */
        points[i].weight = (double)slices->instructions[points[i].slice] / total;
    }
    return true;
}

/* ---- coverage ---- */

ORDER(heavier, struct region_point,
      descending(a->weight, b->weight) ?: ascending(a->cluster, b->cluster))

static int by_cluster(const void *a, const void *b) {
    uint32_t x = ((const struct region_point *)a)->cluster;
    uint32_t y = ((const struct region_point *)b)->cluster;
    return ascending(x, y);
}

static void cover(struct region_choice *choice, double coverage) {
    qsort(choice->points, choice->point_count, sizeof *choice->points, heavier);
    double covered = 0;
    uint32_t count = 0;
    /* All of them for 1, whatever rounding made of the sum. */
    while (count < choice->point_count && (count == 0 || coverage >= 1 || covered < coverage))
        covered += choice->points[count++].weight;
    choice->point_count = count;
    for (uint32_t i = 0; i < count; i++)
        choice->points[i].weight /= covered;
    qsort(choice->points, count, sizeof *choice->points, by_cluster);
}

/* As many slices as the points of *choice, which they take the place of. */
static bool draw(const struct projection *slices, const struct selection_settings *settings,
                 uint32_t count, struct region_choice *choice, struct error *error) {
    struct region_point *points = calloc((size_t)count + 1, sizeof *points);
    if (!points)
        return error_set(error, "out of memory for %u regions", count);
    *choice = (struct region_choice){
        .points = points, .point_count = count, .slice_count = slices->count};
    return selection_draw(slices, settings->method, count, settings->draw, points, error);
}

/* The points of a choice once more, by distances before projection. */
static bool take_in_full_space(const struct profiled_runs *runs, double early,
                               struct region_choice *choice, struct error *error) {
    double *distances2 = malloc(choice->slice_count * sizeof *distances2);
    bool good = distances2 || error_set(error, "out of memory for %zu slices", choice->slice_count);
    good = good && full_space_distances(runs, choice, distances2, error) &&
           (representatives_take(&runs->points, distances2, early, choice) ||
            error_set(error, "out of memory for %u regions", choice->point_count));
    free(distances2);
    return good;
}

static bool choose_by_clusters(const struct profiled_runs *runs,
                               const struct selection_settings *settings,
                               struct region_choice *choice, struct error *error) {
    const struct region_settings *clusters = &settings->clusters;
    if (!region_choose(&runs->points, clusters, choice, error) ||
        (settings->method == SELECT_SIMPOINT && settings->nearest_in == SPACE_FULL &&
         !take_in_full_space(runs, clusters->early, choice, error)) ||
        !region_split(&runs->points, settings->split, clusters->seed, choice, error))
        return false;
    if (settings->coverage < 1)
        cover(choice, settings->coverage);
    return true;
}

bool selection_choose(const struct profiled_runs *runs, const struct selection_settings *settings,
                      struct region_choice *choice, struct error *error) {
    uint32_t count = settings->count;
    *choice = (struct region_choice){0};
    bool good = true, clusters = settings->method == SELECT_SIMPOINT;
    if (clusters || count == 0) {
        good = choose_by_clusters(runs, settings, choice, error);
        count = choice->point_count;
    }
    if (good && !clusters) {
        region_choice_free(choice);
        good = draw(&runs->points, settings, count, choice, error);
    }
    if (!good)
        region_choice_free(choice);
    return good;
}
