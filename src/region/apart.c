#include "region/apart.h"

#include <float.h>
#include <stdlib.h>

#include "region/distance.h"
#include "util/array.h"

enum { NONE = UINT32_MAX };

/* Of the slices behind one in its cluster, the nearest to it; NONE: there is none. */
static uint32_t nearest_behind(const struct projection *slices, const struct region_choice *choice,
                               uint32_t slice) {
    const float *vector = slices->coordinates + (size_t)slice * slices->stride;
    uint32_t nearest = NONE;
    float least = FLT_MAX;
    for (uint32_t i = slice + 1; i < choice->slice_count; i++) {
        const float *other = slices->coordinates + (size_t)i * slices->stride;
        float distance = distance2(vector, other, slices->stride);
        if (choice->labels[i] != choice->labels[slice] || distance >= least)
            continue;
        nearest = i;
        least = distance;
    }
    return nearest;
}

static struct region_point *point_of(const struct region_choice *choice, uint32_t slice) {
    struct region_point *point = choice->points;
    while (point->cluster != choice->labels[slice])
        point++;
    return point;
}

static double instructions_of(const struct projection *slices) {
    return sum_over(double, i, slices->count, (double)slices->instructions[i]);
}

/* Those before it are apart. */
static void set_apart(const struct projection *slices, uint32_t slice, double weight,
                      struct region_choice *choice) {
    const uint32_t heir = nearest_behind(slices, choice, slice);
    if (heir == NONE)
        return; /* it has its cluster for itself */
    struct region_point *old = point_of(choice, slice);
    if (old->slice == slice)
        old->slice = heir;
    old->weight -= weight;
    const uint32_t cluster = choice->point_count++;
    choice->labels[slice] = cluster;
    choice->points[cluster] = (struct region_point){
        .slice = slice, .cluster = cluster, .weight = weight, .whole = cluster};
}

bool region_set_apart(const struct projection *slices, uint32_t count, struct region_choice *choice,
                      struct error *error) {
    struct region_point *points =
        realloc(choice->points, (choice->point_count + count) * sizeof *points);
    if (!points)
        return error_set(error, "out of memory for regions");
    choice->points = points;
    const double all = instructions_of(slices);
    for (uint32_t i = 0; i < count; i++)
        set_apart(slices, i, (double)slices->instructions[i] / all, choice);
    return true;
}
