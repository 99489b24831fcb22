/* What a profile sees of one core. A sampled cycle is found by its number through the buffer's
 * index, so the work grows with the samples and not with the records; with a period of one cycle,
 * all cycles that look alike are one sample of that weight. */
#include <stdlib.h>

#include "attribute/profile.h"
#include "util/array.h"

struct profile_lane *profile_lane_new(struct profile *profile) {
    struct profile_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->profile = profile;
    lane->next = profile->lanes;
    lane->link = &profile->lanes;
    if (lane->next)
        lane->next->link = &lane->next;
    profile->lanes = lane;
    sampler_seek(&profile->sampler, &lane->cursor, 0);
    return lane;
}

/* The samples up to and including cycle `end` name these µops or, when there are none, wait for the
 * µop `sequence` to commit. */
static bool sample(struct profile_lane *lane, uint64_t end, const uint64_t *uops, unsigned n,
                   uint64_t sequence) {
    struct profile *profile = lane->profile;
    bool room = true;
    lane->seen = end;
    while (lane->cursor.next <= end && room) {
        struct pending_sample taken = {sequence, lane->cursor.next, 1};
        if (profile_logs(profile)) {
            sampler_step(&profile->sampler, &lane->cursor);
        } else {
            taken.samples = 0;
            taken.value = sampler_take(&profile->sampler, &lane->cursor, end, &taken.samples);
        }
        if (n)
            room = profile_add(profile, taken.value, taken.samples, uops, n);
        else if ((room = array_reserve((void **)&lane->pending, &lane->pending_capacity,
                                       lane->pending_count + 1, sizeof *lane->pending)))
            lane->pending[lane->pending_count++] = taken;
    }
    return room;
}

static bool sample_commits(struct profile_lane *lane, const struct tap_buffer *buffer,
                           const struct tap_index *index) {
    const struct profiler *profiler = lane->profile->options.profiler;
    bool room = true;
    for (struct views at = views_of(buffer, index); room && views_next(&at, lane->cursor.next);) {
        unsigned n = profiler->at_commit(&at.view, lane->uops);
        room = sample(lane, at.end, lane->uops, n, at.view.sequence);
    }
    if (index->closing_count)
        lane->seen = index->closing[index->closing_count - 1].cycle;
    return room;
}

static bool tag(struct profile_lane *lane, const struct tap_point *points, uint32_t count) {
    bool room = true;
    for (uint32_t i = 0; room && count && lane->cursor.next <= points[count - 1].cycle; i++) {
        i = points_find(points, i, count, lane->cursor.next);
        room = sample(lane, points[i].cycle, NULL, 0, points[i].sequence);
    }
    if (count)
        lane->seen = points[count - 1].cycle;
    return room;
}

/* ---- pending samples ---- */

/* The record in which µop `sequence` commits; false: not in this buffer. A squashed µop and its
 * commit have the same number, and the commit is later. */
static bool find_commit(const struct tap_buffer *buffer, const struct tap_index *index,
                        uint64_t sequence, struct tap_record *record, uint64_t *first) {
    uint32_t low = 0, high = index->closing_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->closing[middle].sequence <= sequence)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    tap_read(buffer->words + index->closing[low - 1].word, record);
    *first = index->closing[low - 1].sequence;
    return record->kind == TAP_COMMIT && sequence - *first < record->count;
}

/* A tagged µop is returned alone; a profiler at commit is asked again. */
static bool resolve(struct profile_lane *lane, const struct pending_sample *pending,
                    const struct tap_record *record, uint64_t first) {
    const struct profiler *profiler = lane->profile->options.profiler;
    const uint64_t *uop = record->uops + (pending->sequence - first);
    if (!profiler->at_commit)
        return profile_add(lane->profile, pending->value, pending->samples, uop, 1);
    struct commit_view view = {
        .state = STATE_COMPUTING, .uops = record->uops, .count = record->count, .sequence = first};
    unsigned n = profiler->at_commit(&view, lane->uops);
    return profile_add(lane->profile, pending->value, pending->samples, lane->uops, n);
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

/* They name nothing: what they stand for is told at the end. */
static bool lose_pending(struct profile_lane *lane) {
    struct profile *profile = lane->profile;
    bool room = true;
    for (size_t i = 0; i < lane->pending_count; i++)
        if (profile_logs(profile))
            room &= profile_add(profile, lane->pending[i].value, 1, NULL, 0);
        else
            profile->lost += lane->pending[i].value;
    lane->pending_count = 0;
    return room;
}

/* ---- the tap's side ---- */

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct profile_lane *lane = context;
    const struct profiler *profiler = lane->profile->options.profiler;
    const struct tap_index *index = tap_index(buffer);
    bool room = index != NULL;
    if (room && buffer->start.last_commit != lane->end) { /* nothing was shown for a while */
        room = sample(lane, lane->end, NULL, 0, 0) && lose_pending(lane);
        lane->seen = buffer->start.last_commit;
        sampler_seek(&lane->profile->sampler, &lane->cursor, lane->seen);
    }
    if (room && profiler->at_commit)
        room = sample_commits(lane, buffer, index);
    else if (room && profiler->tags == TAP_DISPATCH)
        room = tag(lane, index->dispatch, index->dispatch_count);
    else if (room)
        room = tag(lane, index->fetch, index->fetch_count);
    if (room)
        room = resolve_pending(lane, buffer, index);
    if (!room)
        return error_set(error, "out of memory for samples");
    lane->end = index->closing_count ? index->closing[index->closing_count - 1].cycle
                                     : buffer->start.last_commit;
    profile_advance(lane, lane->end - buffer->start.last_commit);
    return true;
}

struct tap_worker profile_lane_worker(struct profile_lane *lane) {
    const struct profiler *profiler = lane->profile->options.profiler;
    return (struct tap_worker){.name = profiler->name,
                               .kinds = profiler->at_commit ? 0 : 1u << profiler->tags,
                               .consume = consume,
                               .context = lane};
}

void profile_lane_free(struct profile_lane *lane) {
    if (!lane)
        return;
    struct profile *profile = lane->profile;
    /* Samples after the last µop that could be tagged. */
    bool room = sample(lane, lane->end, NULL, 0, 0) && lose_pending(lane);
    if (lane->cycles >= sampler_period(&profile->sampler)) {
        room &= array_reserve((void **)&profile->gone, &profile->gone_capacity,
                              profile->gone_count + 1, sizeof *profile->gone);
        if (room)
            profile->gone[profile->gone_count++] = lane->cycles;
    }
    profile->short_of_memory |= !room;
    *lane->link = lane->next;
    if (lane->next)
        lane->next->link = lane->link;
    free(lane->pending);
    free(lane);
}
