/* The profiles of a group of profilers over all cores of a run.
 *
 * Which samples are in the log at the end depends only on how many cycles the cores ran for: the
 * period is the shortest of which fewer than twice the number asked for have passed, and at any
 * time the log holds only samples that this period keeps. */
#include "attribute/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

bool profiles_go_together(const struct profile_options *a, const struct profile_options *b) {
    const struct profiler *of_a = a->profiler, *of_b = b->profiler;
    bool same_stage = of_a->at_commit || of_b->at_commit ? of_a->at_commit && of_b->at_commit
                                                         : of_a->tags == of_b->tags;
    return same_stage && a->sampling.mode == b->sampling.mode &&
           a->sampling.period == b->sampling.period && a->sampling.samples == b->sampling.samples &&
           a->sampling.seed == b->sampling.seed;
}

struct profile_group *profile_group_new(const struct profile_options *options, uint32_t count,
                                        struct error *error) {
    struct profile_group *group = calloc(1, sizeof *group + count * sizeof *group->profiles);
    bool room = group && cell_sets_init(&group->log.sets);
    for (uint32_t i = 0; room && i < count; i++) {
        group->profiles[i].options = options[i];
        room = (group->profiles[i].pics = pics_new()) != NULL;
        group->count++;
    }
    if (!room) {
        profile_group_free(group);
        return error_null(error, "out of memory for the profile of %s", options->profiler->name);
    }
    group->sampler = sampler_start(&options->sampling);
    return group;
}

void profile_group_free(struct profile_group *group) {
    if (!group)
        return;
    for (uint32_t i = 0; i < group->count; i++)
        pics_free(group->profiles[i].pics);
    cell_sets_end(&group->log.sets);
    free(group->log.cycles);
    free(group->log.named);
    free(group->gone);
    free(group);
}

/* How a sample of so many cycles is divided among the n µops that it names: the units of each, and
 * how many, from the first on, get one unit more. */
struct shares {
    uint64_t each, rest;
};
static struct shares shares_of(uint64_t cycles, unsigned n) {
    assert(n > 0);
    return (struct shares){cycles * CYCLE_UNITS / n, cycles * CYCLE_UNITS % n};
}

bool profile_add(struct profile *profile, uint64_t cycles, uint64_t samples, const uint64_t *uops,
                 unsigned n) {
    struct shares shares = shares_of(cycles, n);
    uint32_t events = profile->options.profiler->events;
    bool room = true;
    for (unsigned i = 0; i < n; i++)
        room &= pics_add(profile->pics, tap_uop_insn(uops[i]), tap_uop_psv(uops[i]) & events,
                         shares.each + (i < shares.rest));
    profile->samples += samples;
    return room;
}

bool group_log(struct profile_group *group, uint64_t cycle, const uint32_t *named) {
    struct sample_log *log = &group->log;
    uint32_t width = group->count;
    if (!array_room(log->cycles, log->cycle_capacity, log->count + 1) ||
        !array_room(log->named, log->named_capacity, (log->count + 1) * width))
        return false;
    log->cycles[log->count] = cycle;
    for (uint32_t i = 0; i < width; i++)
        log->named[log->count * width + i] = named ? named[i] : NO_CELL_SET;
    log->count++;
    return true;
}

/* ---- a longer period ---- */

enum { GONE = UINT32_MAX };

/* Drops the rows that the next level does not keep; new_rows[]: where each one is now, or GONE. */
static void thin_log(struct profile_group *group, uint32_t *new_rows) {
    struct sample_log *log = &group->log;
    uint32_t width = group->count, kept = 0;
    for (size_t row = 0; row < log->count; row++) {
        bool keep = sampler_keeps(&group->sampler, log->cycles[row]);
        new_rows[row] = keep ? kept : GONE;
        if (!keep)
            continue;
        log->cycles[kept] = log->cycles[row];
        memmove(&log->named[(size_t)kept * width], &log->named[row * width],
                width * sizeof *log->named);
        kept++;
    }
    log->count = kept;
}

static void thin_pending(struct profile_lane *lane, const uint32_t *new_rows) {
    size_t kept = 0;
    for (size_t i = 0; i < lane->pending_count; i++) {
        struct pending_sample pending = lane->pending[i];
        pending.value = new_rows[pending.value];
        if (pending.value != GONE)
            lane->pending[kept++] = pending;
    }
    lane->pending_count = kept;
}

static bool double_period(struct profile_group *group) {
    uint32_t *new_rows = malloc((group->log.count + 1) * sizeof *new_rows);
    if (!new_rows)
        return false;
    thin_log(group, new_rows);
    for (struct profile_lane *lane = group->lanes; lane; lane = lane->next)
        thin_pending(lane, new_rows);
    free(new_rows);
    group->sampler.level++;

    uint64_t period = sampler_period(&group->sampler);
    group->periods = 0;
    for (struct profile_lane *lane = group->lanes; lane; lane = lane->next) {
        sampler_seek(&group->sampler, &lane->cursor, lane->seen);
        group->periods += lane->cycles / period;
    }
    size_t kept = 0;
    for (size_t i = 0; i < group->gone_count; i++)
        if (group->gone[i] >= period) {
            group->periods += group->gone[i] / period;
            group->gone[kept++] = group->gone[i];
        }
    group->gone_count = kept;
    return true;
}

bool group_advance(struct profile_lane *lane, uint64_t cycles) {
    struct profile_group *group = lane->group;
    uint64_t period = sampler_period(&group->sampler);
    group->periods += (lane->cycles + cycles) / period - lane->cycles / period;
    lane->cycles += cycles;
    bool room = true;
    while (room && group_logs(group) && group->periods >= 2 * group->sampler.options.samples)
        room = double_period(group);
    return room;
}

/* ---- the end ---- */

/* Adds a row of the log to the profile. */
static bool add_row(struct profile *profile, const struct cell_sets *sets, uint32_t named,
                    uint64_t weight) {
    if (named == NO_CELL_SET) {
        profile->lost += weight;
        return true;
    }
    uint64_t uops[COMMIT_GROUP_MAX];
    unsigned n = cell_set_size(sets, named);
    for (unsigned i = 0; i < n; i++)
        uops[i] = cell_set_cell(sets, named, i);
    return profile_add(profile, weight, 1, uops, n);
}

bool profile_group_finish(struct profile_group *group, struct profile_result *results,
                          struct error *error) {
    struct sample_log *log = &group->log;
    bool room = !group->short_of_memory;
    for (size_t row = 0; row < log->count; row++) {
        uint64_t weight = sampler_weight(&group->sampler, log->cycles[row]);
        for (uint32_t i = 0; i < group->count; i++)
            room &= add_row(&group->profiles[i], &log->sets, log->named[row * group->count + i],
                            weight);
    }
    log->count = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct profile *profile = &group->profiles[i];
        uint32_t bytes =
            profiler_sample_bytes(profile->options.profiler, profile->options.commit_width);
        results[i] = (struct profile_result){.period = sampler_period(&group->sampler),
                                             .samples = profile->samples,
                                             .bytes = profile->samples * bytes,
                                             .lost = profile->lost,
                                             .pics = profile->pics};
    }
    return room || error_set(error, "out of memory for the profile of %s",
                             group->profiles[0].options.profiler->name);
}
