/* Commit, in order, and what commit shows on the tap but for lives (lives.c); flushes happen here.
 */
#include "core/ooo/ooo.h"

#include <string.h>

#include "core/ooo/wakeup.h"

static inline uint64_t tap_word(struct ooo *core, uint64_t sequence) {
    const struct uop_state *uop = uop_at(core, sequence);
    const struct stream_uop *stream = stream_at(core, sequence);
    return tap_uop(stream->insn, uop->psv, stream->is.flags & U_TAP);
}

/* Writes the header; returns the word behind it. */
static inline uint64_t *put_header(struct ooo *core, unsigned kind, unsigned flags, unsigned n,
                                   uint64_t empty) {
    struct tap_buffer *buffer = core->buffer;
    uint64_t *word = buffer->words + buffer->used;
    uint64_t delta = core->cycle - core->tap_state.cycle;
    buffer->records[kind]++;
    core->tap_state.cycle = core->cycle;
    return tap_put_header(word, kind, flags, n, empty, delta);
}

__attribute__((noinline)) void tap_next_buffer(struct ooo *core) {
    core->buffer = tap_exchange(core->tap, &core->tap_state, &core->error);
    if (!core->buffer)
        atomic_store(&core->failed, true);
}

/* The record ends at `end`, and the buffer when it has no room for another. */
static inline void end_record(struct ooo *core, const uint64_t *end) {
    struct tap_buffer *buffer = core->buffer;
    buffer->used = (uint32_t)(end - buffer->words);
    if (buffer->used + TAP_RECORD_WORDS > TAP_BUFFER_WORDS)
        tap_next_buffer(core);
}

void tap_emit(struct ooo *core, unsigned kind, unsigned n) {
    if (!core->buffer)
        return;
    const uint64_t *end = put_header(core, kind, 0, n, 0);
    if (kind == TAP_DISPATCH)
        core->tap_state.dispatched += n;
    else
        core->tap_state.fetched += n;
    end_record(core, end);
}

/* Closes the span since the last commit: n µops from `first` on commit, or the first one flushes.
 */
static void tap_close(struct ooo *core, unsigned kind, uint64_t first, unsigned n, uint64_t empty) {
    if (!core->buffer)
        return;
    uint64_t *word = put_header(core, kind, core->empty_reason, n, empty);
    for (unsigned i = 0; i < n; i++)
        *word++ = tap_word(core, first + i);
    struct tap_state *state = &core->tap_state;
    state->last_commit = core->cycle;
    if (kind == TAP_COMMIT) {
        state->uop = first + n;
        state->last_uop = word[-1];
    } else {
        state->dispatched = state->fetched = first;
    }
    end_record(core, word);
}

static void show(struct ooo *core, unsigned kind, uint64_t first, unsigned n) {
    uint64_t empty =
        core->entered_empty > core->last_commit ? core->entered_empty - core->last_commit : 0;
    tap_close(core, kind, first, n, empty);
    core->last_commit = core->cycle;
}

/* A load at the head read too early: everything from it on is squashed and fetched again. */
static void flush_violation(struct ooo *core) {
    struct uop_state *load = uop_at(core, core->head);
    core->statistics.ordering_violations++;
    show(core, TAP_FLUSH, core->head, 1);
    core->empty_reason = TAP_FLUSHED_NEXT;
    if (core->lives)
        lives_show(core, core->head, core->next, LIFE_FLUSHED);

    for (uint64_t sequence = core->head; sequence < core->next; sequence++)
        core->fetched_insns -= (stream_at(core, sequence)->is.flags & U_FIRST) != 0;
    for (uint64_t sequence = core->head; sequence <= core->next && sequence < core->available;
         sequence++)
        front_end_of(core, sequence)->psv &= PSV_FL_EX | PSV_FL_MB;
    front_end_of(core, core->head)->psv |= load->psv & (PSV_FL_MO | PSV_DR_L1 | PSV_DR_TLB);
    while (core->next_mark && core->marks[(core->next_mark - 1) & core->stream_mask] >= core->head)
        core->next_mark--;
    core->fetch_resume = core->cycle + core->machine.violation_penalty;
    core->fetch_lines = 0;
    core->fetch_delay_cache = core->fetch_delay_tlb = 0;

    core->tail = core->next = core->head;
    core->dispatch_held = DISPATCH_FREE;
    memset(core->unit_free, 0, sizeof core->unit_free);
    free_window(core);
    core->serial_hold = core->load_hold = 0;
    core->packet_oldest = core->packet_head = core->packet_end;
    core->arrived = core->head;
    core->ready_count = 0;
    calendar_clear(core);
    stores_squash(core);
    core->progress = true;
}

/* The µop at the head waited for that; it may go once the older stores have drained. */
static void release_at_head(struct ooo *core, struct uop_state *uop) {
    if (core->store_head < core->store_tail &&
        core->stores[core->store_head & core->store_mask].uop < core->head)
        return;
    uop->is.flags &= ~(uint32_t)U_WAIT_HEAD;
    core->progress = true;
    if (--uop->is.pending > 0)
        return;
    if (uop->is.queue == NO_QUEUE)
        finish(core, uop, core->cycle, core->cycle);
    else
        schedule(core, uop, uop->when > core->cycle ? uop->when : core->cycle);
}

/* What a commit group frees and counts, summed up without a branch: kinds of µops follow no
 * pattern. Four counts of 16 bits each; a group is at most 255 µops. */
struct group {
    uint64_t freed;   /* as resources_of */
    uint64_t counted; /* loads, stores, instructions */
};

/* By the low four flags: U_LAST 1, U_LOAD 2, U_STORE 4, U_FUSED 8. */
#define COUNTED(i)                                                                                 \
    ((uint64_t)((i) >> 1 & 1) | (uint64_t)((i) >> 2 & 1) << 16 |                                   \
     (uint64_t)(((i)&1) + ((i) >> 3 & 1)) << 32)
static const uint64_t counted_by_flags[16] = {COUNTED(0),  COUNTED(1),  COUNTED(2),  COUNTED(3),
                                              COUNTED(4),  COUNTED(5),  COUNTED(6),  COUNTED(7),
                                              COUNTED(8),  COUNTED(9),  COUNTED(10), COUNTED(11),
                                              COUNTED(12), COUNTED(13), COUNTED(14), COUNTED(15)};

static inline void retire(struct group *group, uint32_t flags) {
    group->freed += resources_of(flags);
    group->counted += counted_by_flags[flags & 15];
}

static void retire_group(struct ooo *core, const struct group *group) {
    core->int_free += group->freed & 0xffff;
    core->fp_free += group->freed >> 16 & 0xffff;
    core->loads_free += group->freed >> 32 & 0xffff; /* branches left when they had executed */
    core->statistics.loads += group->counted & 0xffff;
    core->statistics.stores += group->counted >> 16 & 0xffff;
    core->statistics.instructions += group->counted >> 32;
}

/* What waits at the head for being the oldest. */
static __attribute__((noinline)) void act_at_head(struct ooo *core, struct uop_state *uop) {
    if (uop->is.flags & U_VIOLATED)
        flush_violation(core);
    else
        release_at_head(core, uop);
}

void commit_stage(struct ooo *core) {
    uint64_t first = core->head, now = core->cycle;
    uint64_t latest = now - core->machine.complete_to_commit; /* completion that may commit */
    struct uop_state *oldest = uop_at(core, first);
    if (latest > now)
        return;
    if (oldest->is.flags & (U_VIOLATED | U_WAIT_HEAD)) {
        act_at_head(core, oldest);
        return;
    }
    if (oldest->complete > latest) /* or UNKNOWN */
        return;
    uint64_t head = first, end = lesser(core->tail, first + core->machine.commit_width);
    const struct uop_state *uop = oldest;
    struct group group = {0};
    uint32_t last_flags;
    do {
        last_flags = uop->is.flags;
        retire(&group, last_flags);
        uop = uop_at(core, ++head);
    } while (head < end && uop->complete <= latest &&
             !(uop->is.flags & (U_VIOLATED | U_WAIT_HEAD)));
    core->head = head;
    retire_group(core, &group);
    unsigned n = (unsigned)(core->head - first);
    core->progress = true;
    core->statistics.uops += n;
    show(core, TAP_COMMIT, first, n);
    core->empty_reason = last_flags & (U_MISPREDICTED | U_FLUSH) ? TAP_FLUSHED_LAST : TAP_DRAINED;
    if (core->lives)
        lives_show(core, first, core->head, 0);
    if (last_flags & U_FLUSH) {
        /* Nothing younger was fetched. */
        assert(core->head == core->next);
        core->statistics.flushes++;
        core->statistics.system_calls += (last_flags & U_SYSCALL) != 0;
        core->fetch_resume = now + (last_flags & U_SYSCALL ? core->machine.syscall_cycles
                                                           : core->machine.flush_penalty);
    }
}
