/* What a profiler at commit can see of a sampled cycle, and the shape of its rule. */
#pragma once

#include "attribute/attribute.h"

/* Several cycles that look alike are one view: a span between two commits has at most three. µops
 * are tap_uop words, with the signature they have when their span closes. */
struct commit_view {
    enum commit_state state;
    /* The µops that commit in this cycle or, if none does, in the next in which any does; the first
     * is at the head of the ROB, or the next to enter it. If it is squashed instead (TAP_FLUSH),
     * that one alone. */
    const uint64_t *uops;
    unsigned count;
    bool squashes;     /* the first of them is squashed, and has yet to commit */
    uint64_t sequence; /* of the first of them; 0: nothing has committed yet */
    uint64_t last_uop; /* the youngest µop that had committed before this cycle */
    bool squashed;     /* Flushed, because the first of `uops` was squashed: it comes again */
    uint64_t enters;   /* Flushed, Drained: the cycle in which the ROB ceases to be empty */
    uint64_t closes;   /* the cycle of that commit or squash */
};

enum { COMMIT_GROUP_MAX = 255 };

/* The views of a buffer that hold sampled cycles, each found by its cycle through the index:
 *
 *     for (struct views at = views_of(buffer, index); views_next(&at, cursor.next);)
 *         ... at.view, at.end; the cursor goes past at.end ...
 */
struct views {
    const struct tap_buffer *buffer;
    const struct tap_index *index;
    struct commit_view view;
    uint64_t end; /* the last cycle that looks like this */
    /* Private: the closing record of the view, in the index. */
    uint32_t closing;
};
struct views views_of(const struct tap_buffer *buffer, const struct tap_index *index);
/* Goes to the view of `cycle`, which is after the one before. False: this buffer does not tell. */
bool views_next(struct views *views, uint64_t cycle);

/* The first of the points from `i` on that is not before `cycle`; `count`: there is none. Quick
 * when it is near. */
uint32_t points_find(const struct tap_point *points, uint32_t i, uint32_t count, uint64_t cycle);
