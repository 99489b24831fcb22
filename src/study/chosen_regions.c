#include "study/chosen_regions.h"

#include <stdlib.h>
#include <string.h>

#include "region/apart.h"
#include "region/split.h"
#include "util/order.h"

/* Clusters are as many as the vectors tell apart, for the less slices of one differ the nearer is
 * the estimate; but few enough that each can have two regions, and heavy ones more. */
static uint32_t most_clusters(uint32_t regions) {
    const uint32_t clusters = regions > 8 ? regions * 3 / 8 : regions / 2;
    return clusters < 1 ? 1 : clusters < 80 ? clusters : 80;
}

/* Of the regions, those that are the beginning of the run: one in so many. */
enum { BEGINNING = 10 };

ORDER(by_slice, struct region_point, ascending(a->slice, b->slice))

bool chosen_regions_find(const struct projection *slices, uint32_t regions,
                         struct region_choice *choice, uint32_t **clusters, struct error *error) {
    struct region_settings settings = REGION_DEFAULTS;
    settings.max_clusters = most_clusters(regions);
    settings.threshold = 1;
    if (!region_choose(slices, &settings, choice, error))
        return false;
    const uint32_t beginning = regions / BEGINNING;
    if (beginning < choice->slice_count && !region_set_apart(slices, beginning, choice, error))
        return false;
    const size_t size = choice->slice_count * sizeof **clusters;
    if (!(*clusters = malloc(size)))
        return error_set(error, "out of memory for the regions");
    memcpy(*clusters, choice->labels, size);
    if (!region_split(slices, regions, settings.seed, choice, error))
        return false;
    qsort(choice->points, choice->point_count, sizeof *choice->points, by_slice);
    return true;
}
