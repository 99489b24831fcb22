/* What Oracle, the golden reference and the profilers share: how to walk the closings of a buffer,
 * and the one rule of who gets the cycles that end with a commit or flush record (paper A Fig.
 * A.3). The cycle of a commit itself goes in equal shares to its µops: 840 units can be divided by
 * 1 to 8 without a remainder; when more commit together (an idealised width), the first ones get
 * one unit more. */
#pragma once

#include "attribute/attribute.h"

struct span {
    uint64_t last;  /* units that go to the last committed µop (Flushed) */
    uint64_t next;  /* units that go to the record's first µop (Stalled, Drained, Flushed) */
    uint64_t share; /* units that go to every µop of the record (Computing); 0 for a flush */
    uint64_t rest;  /* so many of them, from the first on, get one more */
    uint64_t stalled, empty; /* cycles in which no µop committed */
    enum commit_state empty_state;
};

/* `cycle` is the record's, `last_commit` that of the commit or flush before it. In the cycle of a
 * flush its µop is at the head and does not commit: it is stalled. */
static inline struct span span_of(const struct tap_record *record, uint64_t cycle,
                                  uint64_t last_commit) {
    static const uint16_t SHARE[] = {0,
                                     CYCLE_UNITS / 1,
                                     CYCLE_UNITS / 2,
                                     CYCLE_UNITS / 3,
                                     CYCLE_UNITS / 4,
                                     CYCLE_UNITS / 5,
                                     CYCLE_UNITS / 6,
                                     CYCLE_UNITS / 7,
                                     CYCLE_UNITS / 8};
    enum tap_empty why = (enum tap_empty)(record->flags & TAP_EMPTY_MASK);
    unsigned sharers = record->kind == TAP_COMMIT ? record->count : 0;
    uint64_t waited = cycle - last_commit - (record->kind == TAP_COMMIT);
    uint64_t to_last = why == TAP_FLUSHED_LAST ? record->empty : 0;
    struct span span = {.last = to_last * CYCLE_UNITS,
                        .next = (waited - to_last) * CYCLE_UNITS,
                        .stalled = waited - record->empty,
                        .empty = record->empty,
                        .empty_state = why == TAP_DRAINED ? STATE_DRAINED : STATE_FLUSHED};
    if (__builtin_expect(sharers < sizeof SHARE / sizeof *SHARE, 1)) {
        span.share = SHARE[sharers];
    } else {
        span.share = CYCLE_UNITS / sharers;
        span.rest = CYCLE_UNITS % sharers;
    }
    return span;
}

/* The closings of a buffer, its commits and flushes, one after the other:
 *
 *     for (struct closings at = closings_of(buffer); closings_next(&at);)
 *         ... at.record, at.cycle, at.sequence, at.last_uop, at.span ...
 */
struct closings {
    const uint64_t *word, *end;
    struct tap_record record;
    struct span span;
    uint64_t cycle;    /* of the record */
    uint64_t sequence; /* number of its first µop */
    uint64_t last_uop; /* tap_uop word of the last µop that committed before it */
    uint64_t before;   /* cycle of the closing before it */
    /* Private: cycle of the closing before the next record, and what that begins with. */
    uint64_t last_commit, next_sequence, next_last_uop;
};

static inline struct closings closings_of(const struct tap_buffer *buffer) {
    return (struct closings){.word = buffer->words,
                             .end = buffer->words + buffer->used,
                             .cycle = buffer->start.cycle,
                             .last_commit = buffer->start.last_commit,
                             .next_sequence = buffer->start.uop,
                             .next_last_uop = buffer->start.last_uop};
}

/* The states of the cycles that end with the closing, and its µops. */
static inline void count_closing(struct oracle_result *result, const struct closings *at) {
    const uint32_t committed = at->record.kind == TAP_COMMIT;
    result->states[STATE_STALLED] += at->span.stalled;
    result->states[at->span.empty_state] += at->span.empty;
    result->states[STATE_COMPUTING] += committed;
    result->cycles += at->span.stalled + at->span.empty + committed;
    result->uops += committed ? at->record.count : 0;
}

/* Instructions that end with this µop: of a fused compare and branch two. */
static inline uint64_t instructions_ended(uint64_t uop) {
    const uint64_t last = tap_uop_flags(uop) & TAP_UOP_LAST;
    return tap_uop_flags(uop) & TAP_UOP_FUSED ? 2 * last : last;
}

/* The same without the span, for callers that need it for few closings. */
static inline bool closings_read(struct closings *at) {
    do {
        if (at->word >= at->end)
            return false;
        at->word = tap_read(at->word, &at->record);
        at->cycle += at->record.delta;
    } while (at->record.kind > TAP_FLUSH);
    at->before = at->last_commit;
    at->last_commit = at->cycle;
    at->sequence = at->next_sequence;
    at->last_uop = at->next_last_uop;
    if (at->record.kind == TAP_COMMIT) {
        at->next_sequence += at->record.count;
        at->next_last_uop = at->record.uops[at->record.count - 1];
    }
    return true;
}

static inline bool closings_next(struct closings *at) {
    if (!closings_read(at))
        return false;
    at->span = span_of(&at->record, at->cycle, at->before);
    return true;
}
