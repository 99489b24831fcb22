#include "simulate/path_profile.h"

#include <stdlib.h>

#include "attribute/pics.h"
#include "attribute/span.h"
#include "util/order.h"

struct path_profile {
    const struct path_segment *segments; /* by thread and place */
    size_t count;
    struct pics *profile;
};

/* A thread's core. */
struct path_lane {
    struct path_profile *all;
    const struct path_segment *next, *end; /* those that are not over */
};

ORDER(by_thread, struct path_segment,
      ascending(a->thread, b->thread) ?: ascending(a->begin, b->begin))

struct path_profile *path_profile_new(struct path_segment *segments, size_t count) {
    struct path_profile *profile = calloc(1, sizeof *profile);
    if (!profile || !(profile->profile = pics_new())) {
        free(profile);
        return NULL;
    }
    if (count)
        qsort(segments, count, sizeof *segments, by_thread);
    profile->segments = segments;
    profile->count = count;
    return profile;
}

void path_profile_free(struct path_profile *profile) {
    if (!profile)
        return;
    pics_free(profile->profile);
    free(profile);
}

static bool add(struct pics *profile, uint64_t uop, uint64_t units) {
    return pics_add_fast(profile, tap_uop_insn(uop), tap_uop_psv(uop), units);
}

static bool add_group(struct pics *profile, const struct closings *at) {
    const struct span *span = &at->span;
    bool room = true;
    for (uint32_t i = 0; i < at->record.count; i++)
        room &= add(profile, at->record.uops[i],
                    span->share + (i == 0 ? span->next : 0) + (i < span->rest));
    return room;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct path_lane *lane = context;
    struct pics *profile = lane->all->profile;
    bool room = true;
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        while (lane->next < lane->end && lane->next->end < at.cycle)
            lane->next++;
        if (lane->next == lane->end || lane->next->begin >= at.cycle)
            continue;
        if (at.span.last)
            room &= add(profile, at.last_uop, at.span.last);
        if (at.record.kind == TAP_FLUSH)
            room &= add(profile, at.record.uops[0], at.span.next);
        else
            room &= add_group(profile, &at);
    }
    return room || error_set(error, "out of memory for the critical path");
}

static bool attach(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error) {
    struct path_profile *all = context;
    struct path_lane *lane = *state = calloc(1, sizeof *lane);
    if (!lane)
        return error_set(error, "out of memory for the critical path");
    const struct path_segment *segments = all->segments;
    const size_t first = first_where(i, all->count, segments[i].thread >= source.thread);
    const size_t behind = first_where(i, all->count, segments[i].thread > source.thread);
    *lane = (struct path_lane){.all = all, .next = segments + first, .end = segments + behind};
    const struct tap_worker worker = {.name = "path", .consume = consume, .context = lane};
    return tap_add_worker(tap, &worker, error);
}

static void detach(void *context, void *state) {
    (void)context;
    free(state);
}

struct simulation_observer path_profile_observer(struct path_profile *profile) {
    return (struct simulation_observer){.attach = attach, .detach = detach, .context = profile};
}

struct pics_cell *path_profile_cells(const struct path_profile *profile, uint64_t *count) {
    return pics_cells(profile->profile, count);
}
