/* See hybrid.h: configurations with windows go into groups of lanes, each of which reads all
 * events; those without to sliding.h. */
#include "model/hybrid.h"

#include <math.h>
#include <stdlib.h>

#include "model/data_trace.h"
#include "model/hybrid_lanes.h"
#include "model/sliding.h"

struct hybrid {
    struct hybrid_config *configs; /* those with windows first */
    uint32_t *places;              /* of each configuration, among `configs` */
    uint32_t count, windowed, group_count;
    struct hybrid_group *groups;
    struct sliding *sliding; /* NULL: none of them */
};

bool hybrid_check(const struct hybrid_config *config, struct error *error) {
    if (config->rob == 0)
        return error_set(error, "a reorder buffer of 0 holds nothing: at least 1");
    if (config->width == 0)
        return error_set(error, "width 0 issues nothing: at least 1");
    if (config->latency == 0)
        return error_set(error, "memory that answers in 0 cycles costs nothing: at least 1");
    if (config->mshrs > config->rob)
        return error_set(error,
                         "%u MSHRs, but a reorder buffer of %u holds no more than %u misses: at "
                         "most as many (0: unlimited)",
                         config->mshrs, config->rob, config->rob);
    if (!(config->fixed >= 0 && config->fixed <= 1))
        return error_set(error, "fixed compensation: from 0 (oldest) to 1 (youngest)");
    return true;
}

uint32_t hybrid_window_reach(const struct hybrid_config *config) {
    return config->rob;
}

uint32_t hybrid_arrival_reach(const struct hybrid_config *config) {
    const uint64_t reach = (uint64_t)config->width * config->latency;
    return reach < DATA_MAX_REACH ? (uint32_t)reach : DATA_MAX_REACH;
}

static void set_lane(struct hybrid_group *group, uint32_t lane,
                     const struct hybrid_config *config) {
    group->rob[lane] = config->rob;
    group->latency[lane] = (double)config->latency * config->width;
    group->mshrs[lane] = config->mshrs ? config->mshrs : INFINITY;
    group->limited[lane] = config->mshrs ? -1 : 0;
    group->plain[lane] = config->windows == WINDOWS_PLAIN ? -1 : 0;
    group->any_plain |= config->windows == WINDOWS_PLAIN;
    group->mlp[lane] = config->windows == WINDOWS_SWAM_MLP ? -1 : 0;
    group->prefetching[lane] = config->prefetching ? -1 : 0;
    group->pending_hits[lane] = config->pending_hits ? -1 : 0;
    group->part_a[lane] = config->parts & PART_A ? -1 : 0;
    group->part_b[lane] = config->parts & PART_B ? -1 : 0;
    group->part_c[lane] = config->parts & PART_C ? -1 : 0;
    group->last_miss[lane] = -1;
}

/* Moments of so many events are remembered as configurations look back. */
static bool set_group(struct hybrid_group *group, const struct hybrid_config *configs,
                      uint32_t count) {
    uint32_t reach = 0;
    for (uint32_t lane = 0; lane < HYBRID_LANES; lane++) {
        const struct hybrid_config *config = &configs[lane < count ? lane : 0];
        set_lane(group, lane, config);
        const uint32_t window = 2 * hybrid_window_reach(config);
        const uint32_t arrival = config->prefetching ? hybrid_arrival_reach(config) : 0;
        reach = window > reach ? window : reach;
        reach = arrival > reach ? arrival : reach;
    }
    uint64_t size = 64;
    while (size < reach && size <= UINT16_MAX)
        size *= 2;
    group->mask = size - 1;
    group->moments = aligned_alloc(sizeof(lanes), size * sizeof *group->moments);
    return group->moments != NULL;
}

/* The configurations with windows, then those without. */
static void sort_configs(struct hybrid *hybrid, const struct hybrid_config *configs) {
    uint32_t place = 0;
    for (int sliding = 0; sliding < 2; sliding++) {
        for (uint32_t i = 0; i < hybrid->count; i++)
            if ((configs[i].windows == WINDOWS_SLIDING) == sliding) {
                hybrid->configs[place] = configs[i];
                hybrid->places[i] = place++;
            }
        if (!sliding)
            hybrid->windowed = place;
    }
    hybrid->group_count = (hybrid->windowed + HYBRID_LANES - 1) / HYBRID_LANES;
}

static bool start_groups(struct hybrid *hybrid) {
    if (hybrid->group_count == 0)
        return true;
    hybrid->groups = aligned_alloc(sizeof(lanes), hybrid->group_count * sizeof *hybrid->groups);
    if (!hybrid->groups)
        return false;
    for (uint32_t i = 0; i < hybrid->group_count; i++)
        hybrid->groups[i] = (struct hybrid_group){0};
    for (uint32_t i = 0, first = 0; i < hybrid->group_count; i++, first += HYBRID_LANES)
        if (!set_group(&hybrid->groups[i], hybrid->configs + first, hybrid->windowed - first))
            return false;
    return true;
}

struct hybrid *hybrid_new(const struct hybrid_config *configs, uint32_t count,
                          struct error *error) {
    struct hybrid *hybrid = calloc(1, sizeof *hybrid);
    bool good = hybrid != NULL;
    if (good) {
        hybrid->count = count;
        hybrid->configs = calloc(count, sizeof *configs);
        hybrid->places = calloc(count, sizeof *hybrid->places);
        good = hybrid->configs && hybrid->places;
    }
    if (good)
        sort_configs(hybrid, configs);
    if (!good || !start_groups(hybrid)) {
        hybrid_free(hybrid);
        return error_null(error, "out of memory for %u configurations", count);
    }
    if (hybrid->windowed == count)
        return hybrid;
    hybrid->sliding =
        sliding_new(hybrid->configs + hybrid->windowed, count - hybrid->windowed, error);
    if (hybrid->sliding)
        return hybrid;
    hybrid_free(hybrid);
    return NULL;
}

void hybrid_free(struct hybrid *hybrid) {
    if (!hybrid)
        return;
    for (uint32_t i = 0; hybrid->groups && i < hybrid->group_count; i++)
        free(hybrid->groups[i].moments);
    free(hybrid->groups);
    sliding_free(hybrid->sliding);
    free(hybrid->places);
    free(hybrid->configs);
    free(hybrid);
}

void hybrid_add(struct hybrid *hybrid, const struct data_event *events, uint32_t count) {
    for (uint32_t i = 0; i < hybrid->group_count; i++)
        hybrid_group_add(&hybrid->groups[i], events, count);
    if (hybrid->sliding)
        sliding_add(hybrid->sliding, events, count);
}

/* Windows end out of reach of what follows. */
void hybrid_break(struct hybrid *hybrid) {
    if (hybrid->sliding)
        sliding_break(hybrid->sliding);
}

/* µops that windows hide. The last one has no next. */
static double hidden(const struct hybrid_group *group, uint32_t lane) {
    const double size =
        group->plain[lane] ? group->end[lane] - group->start[lane] : group->rob[lane];
    return group->hidden[lane] + fmin(size, group->top[lane] - group->begun[lane]);
}

static double compensation(const struct hybrid_config *config, const struct hybrid_result *result,
                           double hidden_uops) {
    const double width = config->width;
    switch (config->compensation) {
    case COMPENSATE_NONE:
        return 0;
    case COMPENSATE_FIXED: /* the youngest has ROB − 1 before it */
        return result->serialized * fmin(config->fixed * config->rob, config->rob - 1.0) / width;
    case COMPENSATE_DISTANCE:
        return result->distance / width * result->misses;
    case COMPENSATE_WINDOW:
        return hidden_uops / width;
    }
    return 0;
}

struct hybrid_result hybrid_result(const struct hybrid *hybrid, uint32_t number) {
    const uint32_t place = hybrid->places[number];
    if (place >= hybrid->windowed)
        return sliding_result(hybrid->sliding, place - hybrid->windowed);
    const struct hybrid_group *group = &hybrid->groups[place / HYBRID_LANES];
    const struct hybrid_config *config = &hybrid->configs[place];
    const uint32_t lane = place % HYBRID_LANES;
    struct hybrid_result result = {.serialized = group->top[lane] / group->latency[lane],
                                   .misses = group->misses[lane],
                                   .tardy = group->tardy[lane],
                                   .windows = group->windows[lane]};
    if (result.misses > 1)
        result.distance = group->distance[lane] / (result.misses - 1);
    result.compensation = compensation(config, &result, hidden(group, lane));
    result.cycles = fmax(result.serialized * config->latency - result.compensation, 0);
    return result;
}

void hybrid_result_add(struct hybrid_result *sum, const struct hybrid_result *more, double times) {
    const double misses = sum->misses + more->misses * times;
    if (misses > 0)
        sum->distance =
            (sum->distance * sum->misses + more->distance * more->misses * times) / misses;
    sum->misses = misses;
    sum->serialized += more->serialized * times;
    sum->tardy += more->tardy * times;
    sum->windows += more->windows * times;
    sum->compensation += more->compensation * times;
    sum->cycles += more->cycles * times;
}
