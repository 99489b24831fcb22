/* Finds sampled cycles through the index of a buffer. */
#include "attribute/commit_view.h"

uint32_t points_find(const struct tap_point *points, uint32_t i, uint32_t count, uint64_t cycle) {
    uint32_t step = 1, low = i; /* all points before `low` are too early */
    while (low + step <= count && points[low + step - 1].cycle < cycle) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step <= count ? low + step - 1 : count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (points[middle].cycle < cycle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct views views_of(const struct tap_buffer *buffer, const struct tap_index *index) {
    return (struct views){.buffer = buffer, .index = index};
}

/* The youngest µop that had committed before closing record `i`. */
static uint64_t last_uop_before(const struct views *views, uint32_t i) {
    while (i-- > 0) {
        struct tap_record record;
        tap_read(views->buffer->words + views->index->closing[i].word, &record);
        if (record.kind == TAP_COMMIT)
            return record.uops[record.count - 1];
    }
    return views->buffer->start.last_uop;
}

/* The cycles since closing record i − 1, up to and including i, begin with an empty ROB or without;
 * then the head stalls, and in the last it commits or is squashed. */
bool views_next(struct views *views, uint64_t cycle) {
    uint32_t count = views->index->closing_count;
    const struct tap_point *closings = views->index->closing;
    if (count == 0 || cycle > closings[count - 1].cycle)
        return false;
    uint32_t i = views->closing = points_find(closings, views->closing, count, cycle);
    struct tap_record record;
    tap_read(views->buffer->words + closings[i].word, &record);
    uint64_t closes = closings[i].cycle;
    uint64_t enters = record.empty + (i ? closings[i - 1].cycle : views->buffer->start.last_commit);
    bool empty = cycle <= enters, commits = record.kind == TAP_COMMIT;
    enum tap_empty why = (enum tap_empty)(record.flags & TAP_EMPTY_MASK);
    views->view = (struct commit_view){
        .state = empty && why == TAP_DRAINED  ? STATE_DRAINED
                 : empty                      ? STATE_FLUSHED
                 : commits && cycle == closes ? STATE_COMPUTING
                                              : STATE_STALLED,
        .uops = record.uops,
        .count = record.count,
        .squashes = !commits,
        .sequence = closings[i].sequence,
        .last_uop = last_uop_before(views, i),
        .squashed = empty && why == TAP_FLUSHED_NEXT,
        .enters = enters,
        .closes = closes,
    };
    views->end = empty ? enters : views->view.state == STATE_COMPUTING ? closes : closes - commits;
    return true;
}
