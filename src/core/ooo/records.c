/* What the core shows on its tap.
 *
 * µops come in program order, each with its cycles, but the tap shows records in the order of
 * cycles. Commits and flushes alone are in that order. Where somebody wants fetch and dispatch as
 * well, those of younger µops come before: then each kind waits in a queue of its own until nothing
 * before its cycle can come any more, and the queues are merged. */
#include "core/ooo/commit_record.h"

#include <string.h>

/* ---- into the buffer ---- */

static void next_buffer(struct ooo *core) {
    core->buffer = tap_exchange(core->tap, &core->tap_state, &core->error);
    if (!core->buffer)
        atomic_store(&core->failed, true);
}

static void put_lives(struct ooo *core, const struct packed_life *lives, size_t count) {
    while (count && core->buffer) {
        struct tap_buffer *buffer = core->buffer;
        const size_t room = lesser(count, TAP_BUFFER_LIVES - buffer->life_count);
        memcpy(buffer->lives + buffer->life_count, lives, room * sizeof *lives);
        buffer->life_count += (uint32_t)room;
        lives += room;
        count -= room;
        if (buffer->life_count == TAP_BUFFER_LIVES)
            next_buffer(core);
    }
}

static void put_lives_of(struct ooo *core, uint64_t first, uint64_t count) {
    while (count) {
        const uint64_t at = first & core->record_mask;
        const uint64_t run = lesser(count, core->record_mask + 1 - at);
        put_lives(core, core->lives + at, run);
        first += run;
        count -= run;
    }
}

void open_buffer(struct ooo *core) {
    struct tap_buffer *buffer = core->buffer;
    const uint64_t end = buffer ? buffer->used : 0;
    core->open = (struct open_record){.words = buffer ? buffer->words : core->words,
                                      .at = end,
                                      .end = end,
                                      .limit = (buffer ? TAP_BUFFER_WORDS : NOBODYS_WORDS) -
                                               TAP_RECORD_WORDS};
}

/* The record, which ends before `end`, is in the buffer. */
static inline void account(struct ooo *core, const struct waiting_record *record,
                           const uint64_t *end) {
    struct tap_buffer *buffer = core->buffer;
    struct tap_state *state = &core->tap_state;
    buffer->records[record->kind]++;
    buffer->used = (uint32_t)(end - buffer->words);
    state->cycle = record->cycle - core->idle;
    if (record->kind == TAP_DISPATCH) {
        state->dispatched += record->count;
    } else if (record->kind == TAP_FETCH) {
        state->fetched += record->count;
    } else {
        state->last_commit = record->cycle - core->idle;
        if (record->kind == TAP_COMMIT) {
            state->uop = record->first + record->count;
            state->last_uop = end[-1];
        } else {
            state->dispatched = state->fetched = record->first;
        }
    }
    if (buffer->used + TAP_RECORD_WORDS > TAP_BUFFER_WORDS)
        next_buffer(core);
    if (core->lives && record->kind == TAP_COMMIT)
        put_lives_of(core, record->first, record->count);
    if (core->lives && record->kind == TAP_FLUSH) {
        put_lives(core, core->squashed, core->squashed_count);
        core->squashed_count = 0;
    }
    open_buffer(core);
}

static inline uint64_t *put_header(const struct ooo *core, uint64_t *word,
                                   const struct waiting_record *record) {
    return tap_put_header(word, record->kind, record->flags, record->count, record->empty,
                          record->cycle - core->idle - core->tap_state.cycle);
}

static void put_record(struct ooo *core, const struct waiting_record *record) {
    struct tap_buffer *buffer = core->buffer;
    if (!buffer)
        return;
    uint64_t *word = put_header(core, buffer->words + buffer->used, record);
    const unsigned payload = tap_payload(record->kind, record->count);
    if (record->kind == TAP_FLUSH)
        word[0] = record->word;
    else
        for (uint32_t i = 0; i < payload; i++)
            word[i] = core->words[(record->first + i) & core->record_mask];
    account(core, record, word + payload);
}

/* ---- commits, where they are all there is ---- */

/* All that was put since the state of the tap was brought up to date is accounted for as one. */
void end_record(struct ooo *core, uint64_t at) {
    const struct open_record *open = &core->open;
    const uint64_t first = core->tap_state.uop;
    const struct waiting_record all = {.cycle = core->last_close,
                                       .first = first,
                                       .count = (uint32_t)(at - first),
                                       .kind = TAP_COMMIT};
    if (!core->buffer || !open->records) {
        open_buffer(core);
        return;
    }
    core->buffer->records[TAP_COMMIT] += (uint32_t)open->records - 1;
    account(core, &all, open->words + open->end);
}

void begin_wide_record(struct ooo *core, uint64_t empty, uint64_t delta) {
    struct open_record *open = &core->open;
    uint64_t *header = open->words + open->end;
    open->at = open->end;
    open->end +=
        (uint64_t)(tap_put_header(header, TAP_COMMIT, core->empty_reason, 0, empty, delta) -
                   header);
    open->header = *header;
    open->records++;
}

/* ---- in the order of cycles ---- */

static void wait_in(const struct ooo *core, struct record_queue *queue,
                    const struct waiting_record *record) {
    queue->items[queue->end++ & core->record_mask] = *record;
}

static const struct waiting_record *first_of(const struct ooo *core,
                                             const struct record_queue *queue) {
    return queue->begin == queue->end ? NULL : &queue->items[queue->begin & core->record_mask];
}

void show_until(struct ooo *core, uint64_t cycle) {
    /* Of one cycle: commit, dispatch, fetch. */
    struct record_queue *queues[] = {&core->closings, &core->dispatches, &core->fetches};
    if (!core->merge)
        return;
    if (cycle == UNKNOWN) {
        note_fetch(core, UNKNOWN, UNKNOWN);
        note_dispatch(core, UNKNOWN, UNKNOWN);
    }
    for (;;) {
        struct record_queue *next = NULL;
        uint64_t earliest = cycle;
        for (unsigned i = 0; i < 3; i++) {
            const struct waiting_record *first = first_of(core, queues[i]);
            if (first && first->cycle < earliest) {
                earliest = first->cycle;
                next = queues[i];
            }
        }
        if (!next)
            return;
        put_record(core, first_of(core, next));
        next->begin++;
    }
}

static void close_record(struct ooo *core, const struct waiting_record *record) {
    core->last_close = record->cycle;
    if (core->merge)
        wait_in(core, &core->closings, record);
    else
        put_record(core, record);
}

static void end_group(struct ooo *core) {
    struct waiting_record *group = &core->group;
    if (group->count)
        close_record(core, group);
    group->count = 0;
}

void note_commit(struct ooo *core, uint64_t at, uint64_t word, const struct uop_cycles *uop) {
    struct waiting_record *group = &core->group;
    if (uop->commit != group->cycle) {
        end_group(core);
        *group = (struct waiting_record){.cycle = uop->commit,
                                         .first = at,
                                         .empty = since_close(core, uop->dispatch),
                                         .kind = TAP_COMMIT,
                                         .flags = core->empty_reason};
    }
    core->words[at & core->record_mask] = word;
    group->count++;
}

void end_commits(struct ooo *core, uint64_t at) {
    if (core->merge)
        end_group(core);
    else
        end_record(core, at);
}

void flush_record(struct ooo *core, uint64_t cycle, uint64_t first, uint64_t word, uint64_t empty) {
    const struct waiting_record record = {.cycle = cycle,
                                          .first = first,
                                          .empty = empty,
                                          .word = word,
                                          .count = 1,
                                          .kind = TAP_FLUSH,
                                          .flags = core->empty_reason};
    core->empty_reason = TAP_FLUSHED_NEXT;
    if (core->merge) { /* the groups begun are of before it */
        note_fetch(core, UNKNOWN, UNKNOWN);
        note_dispatch(core, UNKNOWN, UNKNOWN);
    }
    close_record(core, &record);
}

/* A µop of another cycle than those of the group begins a new one; UNKNOWN: none. */
static void note(struct ooo *core, struct waiting_record *group, struct record_queue *queue,
                 enum tap_kind kind, uint64_t at, uint64_t cycle) {
    if (!(core->tap_kinds & 1u << kind))
        return;
    if (group->count && (group->cycle != cycle || group->count == 255)) {
        wait_in(core, queue, group);
        group->count = 0;
    }
    if (at == UNKNOWN)
        return;
    if (!group->count)
        *group = (struct waiting_record){.cycle = cycle, .first = at, .kind = (uint8_t)kind};
    group->count++;
}

void note_fetch(struct ooo *core, uint64_t at, uint64_t cycle) {
    note(core, &core->fetching, &core->fetches, TAP_FETCH, at, cycle);
}

void note_dispatch(struct ooo *core, uint64_t at, uint64_t cycle) {
    note(core, &core->dispatching, &core->dispatches, TAP_DISPATCH, at, cycle);
}
