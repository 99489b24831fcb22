/* What a group of profiles sees of one core. A sampled cycle is found by its number through the
 * buffer's index, once for all profiles, so the work grows with the samples and not with the
 * records; with a period of one cycle, all cycles that look alike are one sample of that weight. */
#include <stdlib.h>

#include "attribute/profile.h"
#include "util/array.h"
#include "util/order.h"

struct profile_lane *profile_lane_new(struct profile_group *group) {
    struct profile_lane *lane = calloc(1, sizeof *lane + group->count * sizeof *lane->named);
    if (!lane)
        return NULL;
    lane->group = group;
    lane->next = group->lanes;
    lane->link = &group->lanes;
    if (lane->next)
        lane->next->link = &lane->next;
    group->lanes = lane;
    sampler_seek(&group->sampler, &lane->cursor, 0);
    return lane;
}

/* ---- taking samples ---- */

/* Makes a sample pending for those profiles. */
static bool wait_for(struct profile_lane *lane, struct pending_sample pending) {
    if (!array_room(lane->pending, lane->pending_capacity, lane->pending_count + 1))
        return false;
    lane->pending[lane->pending_count++] = pending;
    return true;
}

/* The cycles up to and including `end` look like this. Those that are sampled are weighed at
 * once. */
static bool weigh_samples(struct profile_lane *lane, uint64_t end, const struct commit_view *view) {
    struct profile_group *group = lane->group;
    struct pending_sample taken = {.sequence = view->sequence};
    bool room = true;
    taken.value = sampler_take(&group->sampler, &lane->cursor, end, &taken.samples);
    for (uint32_t i = 0; i < group->count; i++) {
        struct profile *profile = &group->profiles[i];
        unsigned n = profile->options.profiler->at_commit(view, lane->uops);
        taken.first = i;
        taken.end = i + 1;
        room &= n ? profile_add(profile, taken.value, taken.samples, lane->uops, n)
                  : wait_for(lane, taken);
    }
    return room;
}

/* Likewise. Those that are sampled go into the log. */
static bool log_samples(struct profile_lane *lane, uint64_t end, const struct commit_view *view) {
    struct profile_group *group = lane->group;
    bool room = true;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct profiler *profiler = group->profiles[i].options.profiler;
        unsigned n = profiler->at_commit(view, lane->uops);
        lane->named[i] =
            n ? cell_sets_find(&group->log.sets, lane->uops, n, profiler->events) : NO_CELL_SET;
        room &= !n || lane->named[i] != NO_CELL_SET;
    }
    while (room && lane->cursor.next <= end) {
        for (uint32_t i = 0; i < group->count; i++)
            if (lane->named[i] == NO_CELL_SET)
                room &= wait_for(
                    lane, (struct pending_sample){view->sequence, group->log.count, 1, i, i + 1});
        room &= group_log(group, lane->cursor.next, lane->named);
        sampler_step(&group->sampler, &lane->cursor);
    }
    return room;
}

static bool sample_commits(struct profile_lane *lane, const struct tap_buffer *buffer,
                           const struct tap_index *index) {
    bool room = true, logs = group_logs(lane->group);
    for (struct views at = views_of(buffer, index); room && views_next(&at, lane->cursor.next);)
        room = logs ? log_samples(lane, at.end, &at.view) : weigh_samples(lane, at.end, &at.view);
    if (index->closing_count)
        lane->seen = index->closing[index->closing_count - 1].cycle;
    return room;
}

/* Makes the samples up to and including cycle `end` wait for µop `sequence`, in all profiles. */
static bool tag_samples(struct profile_lane *lane, uint64_t end, uint64_t sequence) {
    struct profile_group *group = lane->group;
    bool room = true;
    lane->seen = end;
    while (lane->cursor.next <= end && room) {
        struct pending_sample taken = {sequence, group->log.count, 0, 0, group->count};
        if (group_logs(group)) {
            room = group_log(group, lane->cursor.next, NULL);
            sampler_step(&group->sampler, &lane->cursor);
        } else {
            taken.value = sampler_take(&group->sampler, &lane->cursor, end, &taken.samples);
        }
        room &= wait_for(lane, taken);
    }
    return room;
}

static bool tag(struct profile_lane *lane, const struct tap_point *points, uint32_t count) {
    bool room = true;
    for (uint32_t i = 0; room && count && lane->cursor.next <= points[count - 1].cycle; i++) {
        i = points_find(points, i, count, lane->cursor.next);
        room = tag_samples(lane, points[i].cycle, points[i].sequence);
    }
    if (count)
        lane->seen = points[count - 1].cycle;
    return room;
}

/* ---- pending samples ---- */

/* Finds the record in which µop `sequence` commits. False: it is not in this buffer. A squashed µop
 * has the same number when it commits later. */
static bool find_commit(const struct tap_buffer *buffer, const struct tap_index *index,
                        uint64_t sequence, struct tap_record *record, uint64_t *first) {
    uint32_t low =
        (uint32_t)first_where(i, index->closing_count, index->closing[i].sequence > sequence);
    if (low == 0)
        return false;
    tap_read(buffer->words + index->closing[low - 1].word, record);
    *first = index->closing[low - 1].sequence;
    return record->kind == TAP_COMMIT && sequence - *first < record->count;
}

/* Writes what a pending sample names for one profile. */
static bool settle(struct profile_group *group, uint32_t i, const struct pending_sample *pending,
                   const uint64_t *uops, unsigned n) {
    struct profile *profile = &group->profiles[i];
    if (!group_logs(group))
        return profile_add(profile, pending->value, pending->samples, uops, n);
    uint32_t named = cell_sets_find(&group->log.sets, uops, n, profile->options.profiler->events);
    group->log.named[pending->value * group->count + i] = named;
    return named != NO_CELL_SET;
}

/* A tagged µop is returned alone; a profiler at commit is asked again. */
static bool resolve(struct profile_lane *lane, const struct pending_sample *pending,
                    const struct tap_record *record, uint64_t first) {
    struct profile_group *group = lane->group;
    const uint64_t *uop = record->uops + (pending->sequence - first);
    struct commit_view view = {
        .state = STATE_COMPUTING, .uops = record->uops, .count = record->count, .sequence = first};
    bool room = true;
    for (uint32_t i = pending->first; i < pending->end; i++) {
        const struct profiler *profiler = group->profiles[i].options.profiler;
        if (profiler->at_commit) {
            unsigned n = profiler->at_commit(&view, lane->uops);
            room &= settle(group, i, pending, lane->uops, n);
        } else {
            room &= settle(group, i, pending, uop, 1);
        }
    }
    return room;
}

static bool resolve_pending(struct profile_lane *lane, const struct tap_buffer *buffer,
                            const struct tap_index *index) {
    size_t kept = 0;
    bool room = true;
    for (size_t i = 0; i < lane->pending_count; i++) {
        struct tap_record record;
        uint64_t first;
        if (find_commit(buffer, index, lane->pending[i].sequence, &record, &first))
            room &= resolve(lane, &lane->pending[i], &record, first);
        else
            lane->pending[kept++] = lane->pending[i];
    }
    lane->pending_count = kept;
    return room;
}

/* Drops pending samples. They name nothing, as their rows of the log say already. */
static void lose_pending(struct profile_lane *lane) {
    struct profile_group *group = lane->group;
    for (size_t k = 0; k < lane->pending_count && !group_logs(group); k++)
        for (uint32_t i = lane->pending[k].first; i < lane->pending[k].end; i++)
            group->profiles[i].lost += lane->pending[k].value;
    lane->pending_count = 0;
}

/* ---- the tap's side ---- */

static const struct profiler *any_profiler(const struct profile_lane *lane) {
    return lane->group->profiles[0].options.profiler;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct profile_lane *lane = context;
    const struct profiler *profiler = any_profiler(lane);
    const struct tap_index *index = tap_index(buffer);
    bool room = index != NULL;
    if (room && buffer->start.last_commit != lane->end) { /* nothing was shown for a while */
        room = tag_samples(lane, lane->end, 0);
        lose_pending(lane);
        lane->seen = buffer->start.last_commit;
        sampler_seek(&lane->group->sampler, &lane->cursor, lane->seen);
    }
    if (room && profiler->at_commit)
        room = sample_commits(lane, buffer, index);
    else if (room && profiler->tags == TAP_DISPATCH)
        room = tag(lane, index->dispatch, index->dispatch_count);
    else if (room)
        room = tag(lane, index->fetch, index->fetch_count);
    room = room && resolve_pending(lane, buffer, index);
    lane->end = index && index->closing_count ? index->closing[index->closing_count - 1].cycle
                                              : buffer->start.last_commit;
    room = room && group_advance(lane, lane->end - buffer->start.last_commit);
    return room || error_set(error, "out of memory for samples");
}

struct tap_worker profile_lane_worker(struct profile_lane *lane) {
    const struct profiler *profiler = any_profiler(lane);
    return (struct tap_worker){.name = lane->group->count > 1 ? "profilers" : profiler->name,
                               .kinds = profiler->at_commit ? 0 : 1u << profiler->tags,
                               .consume = consume,
                               .context = lane};
}

void profile_lane_free(struct profile_lane *lane) {
    if (!lane)
        return;
    struct profile_group *group = lane->group;
    /* Samples after the last µop that could be tagged. */
    bool room = tag_samples(lane, lane->end, 0);
    lose_pending(lane);
    if (lane->cycles >= sampler_period(&group->sampler)) {
        room &= array_room(group->gone, group->gone_capacity, group->gone_count + 1);
        if (room)
            group->gone[group->gone_count++] = lane->cycles;
    }
    group->short_of_memory |= !room;
    *lane->link = lane->next;
    if (lane->next)
        lane->next->link = lane->link;
    free(lane->pending);
    free(lane);
}
