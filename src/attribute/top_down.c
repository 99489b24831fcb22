/* The rule of top_down.h, over lives in the order of the program. */
#include "attribute/top_down.h"

#include <stdlib.h>

#include "attribute/pics.h"
#include "core/core.h"
#include "core/places.h"
#include "memory/memory.h"
#include "tap/life.h"

/* A µop that dispatched, as the oldest it may become. */
struct entry {
    uint64_t issue, complete, end; /* end: committed or squashed */
    uint32_t insn, flags, unit_wait;
    uint16_t walk, dram_wait, psv;
    uint8_t level, operation;
};

struct written {
    uint64_t commit;
    uint32_t insn;
};

/* What came before and told fetch where to go on. */
struct turn {
    enum { TURN_NONE, TURN_MISPREDICTED, TURN_FLUSHED, TURN_CLEARED, TURN_LATE, TURN_TAKEN } kind;
    uint32_t insn;
    uint64_t known; /* cycle in which the way on was known */
    uint64_t insn_number;
};

struct top_down {
    uint64_t width, depth, to_commit, store_queue;
    uint64_t cycle, used;   /* of the last dispatch; slots taken in it */
    uint64_t end;           /* cycle of the last commit or squash */
    uint64_t entered, head; /* µops that dispatched; the oldest of them that may be there */
    uint64_t mask;
    struct entry *entries;       /* the last mask + 1 */
    uint64_t stores, store_mask; /* stores that dispatched */
    struct written *written;
    struct turn turn;
    uint32_t last;            /* instruction that dispatched last */
    uint32_t squashed;        /* that a squash began with */
    uint64_t squashed_stores; /* among the µops of it, so far */
    bool out_of_memory;
    struct pics *profile;
};

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t power_above(uint64_t count) {
    uint64_t power = 1;
    while (power <= count)
        power *= 2;
    return power;
}

const char *top_down_missing(const struct machine *machine, uint32_t ideal) {
    if (machine->core.in_order)
        return "a core in order does not dispatch, so it has no slots";
    return ideal & IDEAL_BW ? "without limits of bandwidth there are no slots" : NULL;
}

/* As large as the core makes its window (core/ooo/configure.c), or larger. */
static uint64_t window(uint32_t entries, uint32_t ideal) {
    enum { MOST = 65535, TIMES = 20 };
    return ideal & IDEAL_WIN ? least((uint64_t)entries * TIMES, MOST) : entries;
}

struct top_down *top_down_new(const struct machine *machine, uint32_t ideal) {
    const struct machine_core *core = &machine->core;
    struct top_down *top = calloc(1, sizeof *top);
    if (!top)
        return NULL;
    top->width = top->used = core->dispatch_width;
    top->depth = core->frontend_depth;
    top->to_commit = core->complete_to_commit;
    top->store_queue = window(core->store_queue, ideal);
    top->mask = power_above(most_of_place(core) * window(core->rob, ideal)) - 1;
    top->store_mask = power_above(top->store_queue) - 1;
    top->entries = calloc(top->mask + 1, sizeof *top->entries);
    top->written = calloc(top->store_mask + 1, sizeof *top->written);
    top->profile = pics_new();
    if (top->entries && top->written && top->profile)
        return top;
    top_down_free(top);
    return NULL;
}

void top_down_free(struct top_down *top) {
    if (!top)
        return;
    free(top->entries);
    free(top->written);
    pics_free(top->profile);
    free(top);
}

struct pics *top_down_profile(struct top_down *top) {
    return top->profile;
}

static void give(struct top_down *top, enum slot_class class, uint32_t insn, uint64_t slots) {
    if (slots && !pics_add_fast(top->profile, insn, class, slots))
        top->out_of_memory = true;
}

/* Empty slots of the cycles [from, until), of which the first may be the last dispatch's. */
static uint64_t slots_of(const struct top_down *top, uint64_t from, uint64_t until) {
    if (from >= until)
        return 0;
    return (until - from) * top->width - (from == top->cycle ? top->used : 0);
}

/* ---- held: what the oldest waits for ---- */

static bool is_division(const struct entry *entry) {
    return entry->operation == OP_INT_DIV || entry->operation == OP_FP_DIV ||
           entry->operation == OP_FP_SQRT;
}

/* While it executes. */
static enum slot_class class_of_latency(const struct entry *entry) {
    static const enum slot_class LEVELS[] = {[LEVEL_L1] = SLOT_L1,
                                             [LEVEL_L2] = SLOT_L2,
                                             [LEVEL_LLC] = SLOT_LLC,
                                             [LEVEL_DRAM] = SLOT_DRAM_LATENCY};
    if (is_division(entry))
        return SLOT_DIVIDER;
    if (!(entry->flags & LIFE_LOAD))
        return SLOT_LATENCY;
    if (entry->flags & LIFE_FORWARDED || entry->psv & PSV_ST_FW)
        return SLOT_FORWARDING;
    return LEVELS[entry->level];
}

/* Gives the part of [*from, until) that is before `bound`, and moves *from behind it. */
static void give_before(struct top_down *top, uint64_t *from, uint64_t until, uint64_t bound,
                        enum slot_class class, uint32_t insn) {
    const uint64_t end = least(until, bound);
    if (end <= *from)
        return;
    give(top, class, insn, slots_of(top, *from, end));
    *from = end;
}

static uint64_t less(uint64_t cycle, uint64_t by) {
    return cycle > by ? cycle - by : 0;
}

/* Cycles in which this µop is the oldest, and commits behind them. Its result is looked at as if it
 * were there when it may commit. */
static void give_to_head(struct top_down *top, const struct entry *head, uint64_t from,
                         uint64_t until) {
    const uint64_t shift = top->to_commit;
    const uint64_t done = head->complete + shift;
    const uint64_t unit = less(done, head->unit_wait), dram = less(unit, head->dram_wait);
    const bool alone = head->flags & (LIFE_WAITS_HEAD | LIFE_SERIAL | LIFE_SERIAL_END);
    if (alone)
        give_before(top, &from, until, done, SLOT_SERIALISING, head->insn);
    if (head->walk)
        give_before(top, &from, until, least(head->issue + shift + head->walk, dram), SLOT_DTLB,
                    head->insn);
    give_before(top, &from, until, dram, class_of_latency(head), head->insn);
    give_before(top, &from, until, unit, SLOT_DRAM_BANDWIDTH, head->insn);
    give_before(top, &from, until, done, is_division(head) ? SLOT_DIVIDER : SLOT_PORTS, head->insn);
    give_before(top, &from, until, until, SLOT_COMMIT, head->insn);
}

/* Cycles in which a µop that had come was held by those before it. */
static void give_held(struct top_down *top, const struct packed_life *life, uint64_t from,
                      uint64_t until) {
    if (top->entered - top->head > top->mask + 1)
        top->head = top->entered - top->mask - 1;
    while (from < until) {
        const struct entry *head = &top->entries[top->head & top->mask];
        if (top->head == top->entered) {
            give(top, SLOT_SERIALISING, life->insn, slots_of(top, from, until));
            return;
        }
        if (head->end > from) {
            const uint64_t end = least(head->end, until);
            give_to_head(top, head, from, end);
            from = end;
        }
        top->head += head->end <= from;
    }
}

static void give_back_end(struct top_down *top, const struct packed_life *life, uint64_t from,
                          uint64_t until) {
    if (life->kept.dispatch_block == DISPATCH_STORE_QUEUE && top->stores >= top->store_queue) {
        const struct written *oldest =
            &top->written[(top->stores - top->store_queue) & top->store_mask];
        const uint64_t committed = oldest->commit > from ? least(oldest->commit, until) : from;
        give(top, SLOT_STORE, oldest->insn, slots_of(top, committed, until));
        until = committed;
    }
    if (from < until)
        give_held(top, life, from, until);
}

/* ---- not there: what fetch waited for ---- */

/* The cycles that its own fetch waited for cache and TLB, which are the last. */
static uint64_t give_delays(struct top_down *top, const struct packed_life *life, uint64_t from,
                            uint64_t until) {
    const uint64_t cache = least(life->fetch_delay_cache, until - from);
    give(top, SLOT_ICACHE, life->insn, slots_of(top, until - cache, until));
    until -= cache;
    const uint64_t tlb = least(life->fetch_delay_tlb, until - from);
    give(top, SLOT_ITLB, life->insn, slots_of(top, until - tlb, until));
    return until - tlb;
}

static void give_front_end(struct top_down *top, const struct packed_life *life, uint64_t from,
                           uint64_t until) {
    const struct turn *turn = &top->turn;
    const bool redirected =
        turn->kind == TURN_MISPREDICTED || turn->kind == TURN_FLUSHED || turn->kind == TURN_CLEARED;
    if (from == top->cycle && top->used < top->width && !redirected) {
        give(top, SLOT_FETCH_BANDWIDTH, life->insn, top->width - top->used);
        from++;
    } else if (from == top->cycle && top->used == top->width) {
        from++;
    }
    if (from >= until)
        return;
    const uint64_t known = turn->known + 1 > from ? least(turn->known + 1, until) : from;
    if (turn->kind == TURN_MISPREDICTED)
        give(top, SLOT_RESOLVE, turn->insn, slots_of(top, from, known));
    else if (turn->kind == TURN_FLUSHED)
        give(top, SLOT_SERIALISING, turn->insn, slots_of(top, from, known));
    else if (turn->kind == TURN_CLEARED)
        give(top, SLOT_CLEAR_REFILL, turn->insn, slots_of(top, from, known));
    from = redirected ? known : from;
    until = give_delays(top, life, from, until);
    static const enum slot_class REST[] = {
        [TURN_NONE] = SLOT_FETCH_OTHER,    [TURN_MISPREDICTED] = SLOT_REFILL,
        [TURN_FLUSHED] = SLOT_SERIALISING, [TURN_CLEARED] = SLOT_CLEAR_REFILL,
        [TURN_LATE] = SLOT_RESTEER,        [TURN_TAKEN] = SLOT_BUBBLE};
    give(top, REST[turn->kind], turn->kind == TURN_NONE ? life->insn : turn->insn,
         slots_of(top, from, until));
}

/* ---- one life ---- */

static void note_turn(struct top_down *top, const struct packed_life *life) {
    const uint64_t complete = life_cycle(life, life->complete);
    struct turn turn = {.insn = life->insn, .insn_number = life->insn_number};
    if (life->flags & LIFE_FLUSHES) {
        turn.kind = TURN_FLUSHED;
        turn.known = life->end;
    } else if (life->flags & LIFE_MISPREDICTED) {
        turn.kind = TURN_MISPREDICTED;
        turn.known = complete;
    } else if (life->flags & LIFE_LATE) {
        turn.kind = TURN_LATE;
    } else if (life->flags & LIFE_TAKEN) {
        turn.kind = TURN_TAKEN;
    }
    if (turn.kind != TURN_NONE || life->insn_number != top->turn.insn_number)
        top->turn = turn;
}

static void note_entry(struct top_down *top, const struct packed_life *life) {
    const struct kept_life *kept = &life->kept;
    const bool load = life->flags & LIFE_LOAD, issued = life->flags & LIFE_ISSUED;
    const bool complete = life->flags & LIFE_COMPLETED;
    const uint64_t dispatch = life_cycle(life, kept->dispatch);
    top->entries[top->entered++ & top->mask] =
        (struct entry){.issue = issued ? life_cycle(life, kept->issue) : dispatch,
                       .complete = complete ? life_cycle(life, life->complete) : life->end,
                       .end = life->end,
                       .insn = life->insn,
                       .flags = life->flags,
                       .unit_wait = issued ? kept->unit_wait : 0,
                       .walk = load ? kept->walk_latency : 0,
                       .dram_wait = load ? kept->dram_wait : 0,
                       .psv = life->psv,
                       .level = kept->memory_level <= LEVEL_DRAM ? kept->memory_level : LEVEL_L1,
                       .operation = life->operation};
    if (life->flags & LIFE_STORE) {
        top->written[top->stores++ & top->store_mask] = (struct written){life->end, life->insn};
        top->squashed_stores += (life->flags & LIFE_FLUSHED) != 0;
    }
}

/* The cycles between the dispatch before and this one. */
static void fill_gap(struct top_down *top, const struct packed_life *life, uint64_t dispatch) {
    const uint64_t delivered = life_cycle(life, life->fetch) + top->depth;
    const uint64_t front = delivered > top->cycle ? least(delivered, dispatch) : top->cycle;
    if (front > top->cycle)
        give_front_end(top, life, top->cycle, front);
    if (front < dispatch)
        give_back_end(top, life, front, dispatch);
}

static void take_life(struct top_down *top, const struct packed_life *life) {
    const bool flushed = life->flags & LIFE_FLUSHED;
    if (flushed && top->squashed == UINT32_MAX)
        top->squashed = life->insn;
    if (!flushed && top->squashed != UINT32_MAX) {
        top->turn = (struct turn){.kind = TURN_CLEARED,
                                  .insn = top->squashed,
                                  .known = top->end,
                                  .insn_number = UINT64_MAX};
        top->stores -= top->squashed_stores;
        top->squashed_stores = 0;
        top->squashed = UINT32_MAX;
    }
    top->end = life->end;
    if (!(life->flags & LIFE_DISPATCHED))
        return;
    const uint64_t dispatch = life_cycle(life, life->kept.dispatch);
    if (dispatch > top->cycle) {
        fill_gap(top, life, dispatch);
        top->cycle = dispatch;
        top->used = 0;
    }
    const bool slot = !(life->flags & LIFE_SHARES);
    top->used += slot;
    give(top, flushed ? SLOT_SQUASHED : SLOT_RETIRING, flushed ? top->squashed : life->insn, slot);
    note_entry(top, life);
    note_turn(top, life);
    top->last = life->insn;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct top_down *top = context;
    for (uint32_t i = 0; i < buffer->life_count; i++)
        take_life(top, &buffer->lives[i]);
    return !top->out_of_memory || error_set(error, "out of memory for levels");
}

struct tap_worker top_down_worker(struct top_down *top) {
    top->squashed = UINT32_MAX;
    return (struct tap_worker){
        .name = "levels", .kinds = 1 << TAP_LIFE, .consume = consume, .context = top};
}

void top_down_wait_until(struct top_down *top, uint64_t cycle) {
    if (cycle > top->end)
        top->cycle = top->end = cycle;
}

bool top_down_finish(struct top_down *top) {
    if (top->entered)
        give(top, SLOT_FETCH_OTHER, top->last, slots_of(top, top->cycle, top->end + 1));
    top->cycle = top->end;
    top->used = top->width;
    return !top->out_of_memory;
}
