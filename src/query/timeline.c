/* Slices begin at multiples of their length, and a longer one holds whole shorter ones: where all
 * steps are multiples of the longest, none is torn. */
#include "query/timeline.h"

struct extent {
    int64_t begin, end, longest; /* of slices */
    int64_t first, last;         /* of sessions */
    double timed, all;
};

static bool wants_none(void *context, const struct store_image *image) {
    (void)context, (void)image;
    return false;
}

static bool add_slice(void *context, const struct store_profile *profile) {
    struct extent *extent = context;
    const struct store_slice *slice = &profile->process->slice;
    const double value = profile->session->weight * (double)profile->total;
    extent->all += value;
    const struct store_session *session = profile->session;
    const int64_t ended = session->end ? session->end : session->saved;
    if (!extent->first || session->start < extent->first)
        extent->first = session->start;
    if (ended > extent->last)
        extent->last = ended;
    if (slice->begin <= 0 || slice->end <= slice->begin)
        return true;
    extent->timed += value;
    if (!extent->end || slice->begin < extent->begin)
        extent->begin = slice->begin;
    if (slice->end > extent->end)
        extent->end = slice->end;
    if (slice->end - slice->begin > extent->longest)
        extent->longest = slice->end - slice->begin;
    return true;
}

bool timeline_read(struct timeline *timeline, const struct profile_set *set, const char *event,
                   size_t most, struct error *error) {
    struct extent extent = {0};
    struct store_filter filter = profile_set_filter(set, event);
    filter.wants_values = wants_none;
    if (!store_each_profile(set->store, &filter, add_slice, &extent, error))
        return false;
    if (!extent.end)
        return error_set(error,
                         "%s: its samples are not told apart by time (record and daemon do with "
                         "--slices time=1s)",
                         set->label);
    const int64_t slices = (extent.end - extent.begin + extent.longest - 1) / extent.longest;
    const int64_t columns = most < TIMELINE_STEPS_MAX ? (int64_t)most : TIMELINE_STEPS_MAX;
    timeline->begin = extent.begin;
    timeline->step = (slices + columns - 1) / columns * extent.longest;
    timeline->count = (size_t)((extent.end - extent.begin + timeline->step - 1) / timeline->step);
    timeline->first = extent.first;
    timeline->last = extent.last;
    timeline->untimed = extent.all > 0 ? 1 - extent.timed / extent.all : 0;
    return true;
}

double timeline_seconds(const struct timeline *timeline, size_t step) {
    const int64_t begin = timeline->begin + (int64_t)step * timeline->step;
    const int64_t end = begin + timeline->step;
    const int64_t from = timeline->first > begin ? timeline->first : begin;
    const int64_t to = timeline->last < end ? timeline->last : end;
    return (double)(from < to ? to - from : timeline->step) / 1e9;
}

size_t timeline_step(const struct timeline *timeline, const struct store_slice *slice) {
    const int64_t middle = slice->begin + (slice->end - slice->begin) / 2;
    if (slice->begin <= 0 || slice->end <= slice->begin || middle < timeline->begin)
        return SIZE_MAX;
    const int64_t step = (middle - timeline->begin) / timeline->step;
    return step < (int64_t)timeline->count ? (size_t)step : SIZE_MAX;
}
