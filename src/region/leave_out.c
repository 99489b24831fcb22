/* Labels are numbers of points here: after region_split() each point has a cluster of its own, of
 * the same number. */
#include "region/leave_out.h"

#include <float.h>

#include "region/distance.h"
#include "util/array.h"

enum { NONE = UINT32_MAX };

static bool is_left(const struct region_choice *choice, const uint32_t *clusters, const bool *lost,
                    uint32_t cluster) {
    return any_where(i, choice->point_count,
                     !lost[i] && clusters[choice->points[i].slice] == cluster);
}

static uint32_t point_of(const struct region_choice *choice, size_t slice) {
    return (uint32_t)index_where(i, choice->point_count,
                                 choice->points[i].cluster == choice->labels[slice]);
}

struct region_loss region_loss_of(const struct projection *slices,
                                  const struct region_choice *choice, const uint32_t *clusters,
                                  const bool *lost) {
    struct region_loss loss = {0};
    for (uint32_t i = 0; i < choice->point_count; i++)
        loss.points += lost[i];
    for (size_t i = 0; i < choice->slice_count && loss.points; i++) {
        uint32_t point = point_of(choice, i);
        if (!lost[point])
            continue;
        loss.instructions += slices->instructions[i];
        if (!is_left(choice, clusters, lost, clusters[i]))
            loss.alone += slices->instructions[i];
    }
    return loss;
}

static uint32_t nearest_in_time(const struct region_choice *choice, const uint32_t *clusters,
                                const bool *lost, size_t slice) {
    uint32_t nearest = NONE;
    size_t least = SIZE_MAX;
    for (uint32_t i = 0; i < choice->point_count; i++) {
        size_t at = choice->points[i].slice, distance = at > slice ? at - slice : slice - at;
        if (lost[i] || clusters[at] != clusters[slice] || distance >= least)
            continue;
        nearest = i;
        least = distance;
    }
    return nearest;
}

static uint32_t nearest_vector(const struct projection *slices, const struct region_choice *choice,
                               const bool *lost, size_t slice) {
    const float *vector = slices->coordinates + slice * slices->stride;
    uint32_t nearest = NONE;
    float least = FLT_MAX;
    for (uint32_t i = 0; i < choice->point_count; i++) {
        const float *other = slices->coordinates + (size_t)choice->points[i].slice * slices->stride;
        float distance = lost[i] ? FLT_MAX : distance2(vector, other, slices->stride);
        if (distance >= least)
            continue;
        nearest = i;
        least = distance;
    }
    return nearest;
}

static void weigh(const struct projection *slices, struct region_choice *choice) {
    double total = 0;
    for (uint32_t i = 0; i < choice->point_count; i++)
        choice->points[i].weight = 0;
    for (size_t i = 0; i < choice->slice_count; i++)
        total += (double)slices->instructions[i];
    for (size_t i = 0; i < choice->slice_count; i++)
        choice->points[point_of(choice, i)].weight += (double)slices->instructions[i] / total;
}

void region_leave_out(const struct projection *slices, const uint32_t *clusters, const bool *lost,
                      struct region_choice *choice) {
    for (size_t i = 0; i < choice->slice_count; i++) {
        if (!lost[point_of(choice, i)])
            continue;
        uint32_t heir = nearest_in_time(choice, clusters, lost, i);
        if (heir == NONE)
            heir = nearest_vector(slices, choice, lost, i);
        choice->labels[i] = choice->points[heir].cluster;
    }
    weigh(slices, choice);
}
