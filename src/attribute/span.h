/* The one rule that Oracle and the golden reference share: to whom the cycles go that a commit or
 * flush record closes (paper A, Fig. A.2; time-proportional.md). The cycle of a commit itself goes
 * in equal shares to its µops: 840 units divided by 1 to 8 leave no rest; where more commit
 * together (an idealised width) the first ones get one unit more. */
#ifndef CULPRIT_ATTRIBUTE_SPAN_H
#define CULPRIT_ATTRIBUTE_SPAN_H

#include "attribute/attribute.h"

struct span {
    uint64_t last; /* cycles that go to the last committed µop (Flushed) */
    uint64_t next; /* cycles that go to the record's first µop (Stalled, Drained, Flushed) */
    uint64_t states[STATE_COUNT]; /* cycles by state, the record's own cycle included */
};

/* `cycle` is the record's, `last_commit` that of the commit or flush before it. */
static inline void span_of(const struct tap_record *record, uint64_t cycle, uint64_t last_commit,
                           struct span *span) {
    *span = (struct span){0};
    uint64_t between = cycle - last_commit - 1;
    uint64_t stalled = between - record->empty;
    if (record->kind == TAP_COMMIT)
        span->states[STATE_COMPUTING] = 1;
    else
        stalled++; /* in the cycle of a flush its µop is at the head and does not commit */
    switch (record->flags & TAP_EMPTY_MASK) {
    case TAP_DRAINED:
        span->states[STATE_DRAINED] = record->empty;
        span->next = record->empty;
        break;
    case TAP_FLUSHED_LAST:
        span->states[STATE_FLUSHED] = record->empty;
        span->last = record->empty;
        break;
    default: /* TAP_FLUSHED_NEXT */
        span->states[STATE_FLUSHED] = record->empty;
        span->next = record->empty;
    }
    span->states[STATE_STALLED] = stalled;
    span->next += stalled;
}

#endif
