/* The equations, µop after µop, and what happens when a load has read too early: the work behind it
 * is computed up to the flush, shown as squashed, and taken back. */
#include "core/ooo/commit_record.h"
#include "core/ooo/dispatch.h"
#include "core/ooo/fetch.h"
#include "core/ooo/loads_stores.h"
#include "core/ooo/memory_renaming.h"
#include "core/ooo/wrong_path.h"

#include <string.h>

#include "util/array.h"

/* What an operand that is not there reads is never written: cycle 0. */
STAGE uint64_t operands_ready(const struct registers *registers,
                              const struct prepared_uop *operands, uint32_t flags,
                              uint64_t soonest) {
    uint64_t ready = later(
        soonest, later(registers->wake[operands->source[0]], registers->wake[operands->source[1]]));
    if (flags & U_MANY)
        for (uint32_t i = 2; i < UOP_MAX_SOURCES; i++)
            ready = later(ready, registers->wake[operands->source[i]]);
    return ready;
}

STAGE void write_result(uint64_t *of, const struct prepared_uop *operands, uint32_t flags,
                        uint64_t value) {
    of[operands->destination[0]] = value;
    of[operands->destination[1]] = value;
    if (flags & U_MANY)
        for (uint32_t i = 2; i < UOP_MAX_DESTINATIONS; i++)
            of[operands->destination[i]] = value;
}

/* The destinations of an eliminated move, or addition, are other names for its source. */
static __attribute__((noinline)) void
rename_move(struct registers *registers, const struct prepared_uop *operands, uint32_t flags) {
    const uint8_t from = operands->source[0];
    write_result(registers->wake, operands, flags, registers->wake[from]);
    write_result(registers->writer, operands, flags, registers->writer[from]);
    write_result(registers->issue, operands, flags, registers->issue[from]);
}

/* So is a load's for what a store took. */
static __attribute__((noinline)) void rename_load(struct registers *registers,
                                                  const struct prepared_uop *operands,
                                                  const struct remembered_store *store) {
    const uint8_t to = operands->destination[0];
    registers->wake[to] = store->wake;
    registers->writer[to] = store->writer;
    registers->issue[to] = store->issue;
}

/* What few machines ask of registers. */
static __attribute__((noinline)) void note_more(struct ooo *core,
                                                const struct prepared_uop *operands, uint32_t flags,
                                                uint64_t at, uint64_t issue) {
    if (!(flags & U_MOVE))
        write_result(core->registers.issue, operands, flags, issue);
    note_change(core, operands, flags, at);
}

STAGE void rename_result(struct ooo *core, const struct prepared_uop *operands, uint32_t flags,
                         uint64_t at, const struct uop_cycles *uop, bool lives) {
    struct registers *registers = &core->registers;
    if (__builtin_expect(core->notes_more, 0))
        note_more(core, operands, flags, at, flags & U_ELIMINATED ? uop->dispatch : uop->issue);
    if (flags & U_RENAMES && flags & U_LOAD && uop->renamed) {
        rename_load(registers, operands, uop->renamed);
        return;
    }
    if (__builtin_expect((flags & U_MOVE) != 0, 0)) {
        rename_move(registers, operands, flags);
        return;
    }
    write_result(registers->wake, operands, flags, uop->wake);
    if (lives)
        write_result(registers->writer, operands, flags, at);
}

/* A µop that waits to be the oldest, and for all stores before it to have left: it may go in the
 * cycle after both. */
static uint64_t ready_at_head(struct ooo *core, const struct standing *now, uint64_t ready) {
    ready = later(ready, now->commit + 1);
    return now->stores ? later(ready, release_of(core, now->stores - 1) + 1) : ready;
}

static inline uint16_t distance_back(uint64_t at, uint64_t writer) {
    return at - writer <= ORDER_MAX ? (uint16_t)(at - writer) : 0;
}

/* Of a life, what program order says: whom the µop depends on. */
static inline void note_producers(const struct registers *registers,
                                  const struct prepared_uop *operands, uint32_t flags, uint64_t at,
                                  struct packed_life *life) {
    memset(life->producer, 0, sizeof life->producer);
    if (flags & U_ELIMINATED)
        return;
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
        life->producer[i] = distance_back(at, registers->writer[operands->source[i]]);
    life->producer[UOP_MAX_SOURCES] = distance_back(at, registers->writer[operands->data]);
}

/* Issue and execution of a load. */
STAGE void run_load(struct ooo *core, const struct standing *now, uint64_t at,
                    const struct stream_uop *stream, uint32_t flags, struct uop_cycles *uop,
                    struct packed_life *life) {
    struct store_met met = {UNKNOWN, false};
    struct kept_life *kept = life ? &life->kept : NULL;
    if (stream->access_count)
        met = find_store(core, stream, now->stores);
    if (life && met.number != UNKNOWN) {
        life->stores_back = (uint16_t)(now->stores - met.number);
        life->flags |= met.covers ? LIFE_COVERED : 0;
    }
    uop->renamed =
        flags & U_RENAMES ? renames(core, now, stream, flags, uop->dispatch, &met) : NULL;
    if (met.number != UNKNOWN && (now->stores - met.number > core->machine.store_queue ||
                                  !in_queue(core, met.number, uop->dispatch)))
        met.number = UNKNOWN;
    if (met.number != UNKNOWN &&
        (uop->renamed || waits_for_store(core, stream->insn, uop->dispatch))) {
        uint16_t psv = uop->psv;
        uop->ready = wait_for_store(core, &met, uop->ready, &psv);
        uop->psv = psv;
    }
    uop->issue =
        __builtin_expect((flags & U_LONG) != 0, 0)
            ? take_long_load(core, stream, uop->ready)
            : take_own_slot(core, unit_of(core, stream), flags & ~(uint32_t)U_LONG, uop->ready);
    if (kept)
        kept->unit_wait = (uint32_t)(uop->issue - uop->ready);
    if (uop->issue >= core->end_of_time) /* squashed before */
        uop->complete = uop->wake = uop->issue;
    else if (met.number == UNKNOWN)
        execute_load(core, at, stream, uop, kept);
    else
        execute_slow_load(core, at, stream, &met, uop, kept);
}

/* The µop is taken next, in the place of the one before it if it shares that. */
STAGE void share_place(struct ooo *core, uint32_t flags) {
    if (__builtin_expect((flags & U_SHARES) != 0, 0))
        core->origin++;
}

/* Ready, issue, complete. */
STAGE void execute(struct ooo *core, struct standing *now, uint64_t at,
                   const struct stream_uop *stream, uint32_t flags, struct uop_cycles *uop,
                   struct packed_life *life) {
    const struct prepared_uop *operands = stream->operands;
    if (flags & U_ELIMINATED) {
        uop->ready = uop->issue = uop->complete = uop->dispatch;
        if (flags & U_WAIT_HEAD)
            uop->complete = ready_at_head(core, now, uop->dispatch);
        uop->wake = uop->complete;
        return;
    }
    uop->ready = operands_ready(&core->registers, operands, flags,
                                uop->dispatch + core->machine.dispatch_to_issue);
    if (__builtin_expect((flags & U_WAIT_HEAD) != 0, 0))
        uop->ready = ready_at_head(core, now, uop->ready);
    if (flags & (U_LOAD | U_STORE))
        drain_until(core, uop->dispatch);
    if (flags & U_LOAD) {
        run_load(core, now, at, stream, flags, uop, life);
        return;
    }
    const struct unit *unit = unit_of(core, stream);
    uop->issue = take_own_slot(core, unit, flags, uop->ready);
    if (life)
        life->kept.unit_wait = (uint32_t)(uop->issue - uop->ready);
    if (flags & U_STORE) {
        if (flags & U_RENAMES)
            remember_store(core, now, at, stream);
        execute_store(core, now, at, stream, operands->data, uop, life ? &life->kept : NULL);
        return;
    }
    uop->complete = uop->issue + unit->latency;
    uop->wake = uop->issue + unit->wake;
}

/* In order, so many a cycle, each a few cycles after its result is there. */
STAGE void commit_stage(struct ooo *core, struct standing *now, uint64_t at, uint32_t flags,
                        struct uop_cycles *uop) {
    const uint64_t place = place_of(core, at), before = core->earlier.commit[place] + 1;
    const uint64_t done = uop->complete + core->machine.complete_to_commit;
    const uint64_t commit = later(later(done, now->commit), before);
    assert(uop->fetch + core->machine.frontend_depth <= uop->dispatch);
    assert(uop->dispatch <= uop->complete && uop->complete < commit && now->commit <= commit);
    uop->commit = now->commit = commit;
    core->commit[place] = commit;
    core->held[HELD_INT][now->held[HELD_INT] & core->mask] = commit;
    now->held[HELD_INT] += (flags & U_INT_REGISTER) != 0;
    if (flags & (U_FP_REGISTER | U_FLAG_REGISTER)) { /* neither is frequent on most machines */
        if (flags & U_FP_REGISTER)
            core->held[HELD_FP][now->held[HELD_FP]++ & core->mask] = commit;
        if (flags & U_FLAG_REGISTER)
            core->held[HELD_FLAG][now->held[HELD_FLAG]++ & core->mask] = commit;
    }
    if (flags & U_LOAD_ENTRY)
        core->held[HELD_LOAD][now->held[HELD_LOAD]++ & core->mask] = commit;
    if (flags & U_STORE)
        commit_store(core, now->stores - 1, commit);
    now->fused += (flags & U_FUSED) != 0;
    if (__builtin_expect((flags & (U_SERIAL_END | U_HOLD_LOADS)) != 0, 0)) {
        now->serial_hold = flags & U_SERIAL_END ? commit : now->serial_hold;
        now->load_hold = flags & U_HOLD_LOADS ? commit : now->load_hold;
        now->order_hold = commit;
    }
}

static inline uint16_t front_psv(uint32_t flags) {
    return flags & U_FLUSH ? PSV_FL_EX : flags & U_MISPREDICTED ? PSV_FL_MB : 0;
}

/* ---- lives ---- */

static inline uint32_t life_flags(uint32_t flags) {
    return (flags & U_LIFE) | (flags & U_FLAG_REGISTER ? LIFE_FLAG_REGISTER : 0);
}

STAGE void begin_life(const struct ooo *core, const struct standing *now, uint64_t at,
                      const struct stream_uop *stream, const struct prepared_uop *operands,
                      struct packed_life *life) {
    *life = (struct packed_life){.uop = at,
                                 .insn_number = now->insns - 1,
                                 .insn = stream->insn,
                                 .uop_index = stream->flags & U_FUSED ? 0 : operands->index,
                                 .operation = unit_of(core, stream)->operation,
                                 .flags = life_flags(stream->flags)};
    note_producers(&core->registers, operands, stream->flags, at, life);
}

/* What the write met of the store whose queue entry this one took. */
static void note_write(struct ooo *core, uint64_t stores, struct kept_life *kept) {
    if (stores <= core->machine.store_queue) {
        kept->write_latency = kept->write_level = 0;
        return;
    }
    const struct store_entry *before = store_at(core, stores - 1 - core->machine.store_queue);
    kept->write_latency = before->write_latency;
    kept->write_level = before->write_level;
    kept->fill = before->fill;
}

STAGE void end_life(struct ooo *core, const struct standing *now, const struct uop_cycles *uop,
                    uint64_t end, struct packed_life *life) {
    life->end = end;
    life->psv = uop->psv;
    life->fetch = (uint32_t)uop->fetch;
    life->fetch_delay_cache = now->delay_cache;
    life->fetch_delay_tlb = now->delay_tlb;
    life->complete = (uint32_t)uop->complete;
    life->flags |= LIFE_DISPATCHED | LIFE_COMPLETED;
    life->kept.dispatch = (uint32_t)uop->dispatch;
    if (!(life->flags & LIFE_ELIMINATED)) {
        life->flags |= LIFE_ISSUED;
        life->kept.ready = (uint32_t)uop->ready;
        life->kept.issue = (uint32_t)uop->issue;
    }
    if (life->kept.store_back)
        life->flags |= LIFE_FORWARDED;
    if (life->flags & LIFE_STORE)
        note_write(core, now->stores, &life->kept);
}

/* ---- squashed work ---- */

static void take_back(struct ooo *core, const struct standing *before,
                      const struct registers *registers, uint64_t cycle) {
    core->now = *before;
    core->registers = *registers;
    core->committed_stores = before->stores;
    find_drain_due(core);
    clear_slots(core, cycle); /* nothing older issues any more */
}

/* What became of a squashed µop until the flush. */
static void squash_life(const struct uop_cycles *uop, uint64_t flush, bool dispatched,
                        struct packed_life *life) {
    const uint32_t kept = LIFE_DISPATCHED | LIFE_ISSUED | LIFE_COMPLETED;
    life->flags |= LIFE_FLUSHED;
    if (!dispatched) {
        life->flags &= ~(kept | LIFE_FORWARDED);
        life->kept = (struct kept_life){.dispatch_block = life->kept.dispatch_block};
        life->complete = 0;
        return;
    }
    const bool issued = life->flags & LIFE_ISSUED && uop->issue < flush;
    if (!issued && !(life->flags & LIFE_ELIMINATED)) {
        life->flags &= ~(uint32_t)(LIFE_ISSUED | LIFE_COMPLETED);
        life->complete = 0;
    }
}

static void keep_squashed(struct ooo *core, const struct packed_life *life) {
    if (array_reserve((void **)&core->squashed, &core->squashed_capacity, core->squashed_count + 1,
                      sizeof *core->squashed))
        core->squashed[core->squashed_count++] = *life;
}

/* The µops behind the load at `first` that are fetched before the flush: they take slots and units,
 * and their accesses leave their marks in the caches. */
static void run_squashed(struct ooo *core, uint64_t first, uint64_t flush) {
    struct standing *now = &core->now;
    const bool lives = core->lives != NULL;
    const uint64_t fetched = place_of(core, first) + core->fetch_capacity;
    bool dispatching = true;
    for (uint64_t at = first + 1; at < core->available; at++) {
        const struct stream_uop *stream = stream_at(core, at);
        const struct prepared_uop *operands = stream->operands;
        const uint32_t flags = stream->flags;
        struct uop_cycles uop = {.psv = front_psv(flags)};
        struct packed_life life;
        enum dispatch_block held = DISPATCH_FREE;
        share_place(core, flags);
        if (now->fetch_resume >= flush && !now->packet_room)
            return;
        if (!dispatching && place_of(core, at) > fetched)
            return; /* no room behind fetch */
        if (flags & U_WAIT_HEAD)
            return;
        fetch_stage(core, now, at, stream, flags, &uop);
        if (uop.fetch >= flush)
            return;
        if (core->merge)
            note_fetch(core, at, uop.fetch);
        if (lives)
            begin_life(core, now, at, stream, operands, &life);
        dispatching =
            dispatching && dispatch_stage(core, now, at, stream, flags, flush, &uop, &held);
        if (dispatching) {
            if (core->merge)
                note_dispatch(core, at, uop.dispatch);
            execute(core, now, at, stream, flags, &uop, lives ? &life : NULL);
            rename_result(core, operands, flags, at, &uop, lives);
            uop.commit = flush;
            commit_stage(core, now, at, flags, &uop);
        }
        if (lives) {
            end_life(core, now, &uop, flush, &life);
            life.kept.dispatch_block = (uint8_t)held;
            squash_life(&uop, flush, dispatching, &life);
            keep_squashed(core, &life);
        }
        if (flags & U_ENDS_PACKET) {
            if (flags & (U_FLUSH | U_MISPREDICTED) && !dispatching)
                uop.complete = uop.commit = flush;
            redirect_fetch(core, now, flags, flags & U_TAKEN ? stream->bubble : 0, &uop);
        }
    }
}

/* What flushed a load: a store that it passed, or a core that took its line. */
static inline uint16_t flush_event(const struct uop_cycles *load) {
    return load->passed_store == UNKNOWN ? PSV_ST_CO : PSV_FL_MO;
}

/* The load has read too early, which is found out when it reaches the head: everything from it on
 * is squashed and fetched again. core->now: behind the load's execution. */
static __attribute__((noinline)) void flush_violation(struct ooo *core, uint64_t at,
                                                      const struct uop_cycles *load,
                                                      struct packed_life *life) {
    const struct stream_uop *stream = stream_at(core, at);
    const struct prepared_uop *operands = stream->operands;
    const uint64_t flush = later(core->now.commit + 1, load->lost);
    const struct registers registers = core->registers;
    const uint64_t origin = core->origin;
    struct standing before = core->now;
    struct uop_cycles squashed = *load;
    before.insns -= (stream->flags & U_FIRST) != 0;
    if (core->machine.disambiguation == DISAMBIGUATE_WAIT_TABLE && load->passed_store != UNKNOWN)
        wait_from_now_on(core, stream->insn, store_at(core, load->passed_store)->issue);
    core->statistics.ordering_violations++;
    end_commits(core, at);
    squashed.psv |= flush_event(load);
    if (core->lives) {
        assert(life);
        end_life(core, &core->now, &squashed, flush, life);
        squash_life(&squashed, flush, true, life);
        keep_squashed(core, life);
    }
    rename_result(core, operands, stream->flags, at, load, core->lives != NULL);
    core->now.commit = flush;
    commit_stage(core, &core->now, at, stream->flags, &squashed);
    core->end_of_time = flush;
    core->first_squashed_store = before.stores;
    run_squashed(core, at, flush);
    core->end_of_time = UNKNOWN;
    const uint64_t word = tap_uop(stream->insn, squashed.psv, stream->flags & U_TAP);
    flush_record(core, flush, at, word, since_close(core, load->dispatch));
    take_back(core, &before, &registers, flush);
    core->origin = origin;
    core->now.commit = flush;
    close_packet(core, &core->now);
    resume_fetch(&core->now, flush + core->machine.violation_penalty);
    core->now.next_delay_cache = core->now.next_delay_tlb = 0;
}

/* ---- one µop ---- */

/* The µop joins those that commit in its cycle. */
STAGE void show_commit(struct ooo *core, uint64_t at, const struct stream_uop *stream,
                       uint32_t flags, const struct uop_cycles *uop, bool lives, bool shown) {
    const uint64_t word = tap_uop(stream->insn, uop->psv, flags & U_TAP);
    if (shown)
        note_commit(core, at, word, uop);
    else
        put_commit(core, at, word, uop, lives);
    core->empty_reason = flags & (U_MISPREDICTED | U_FLUSH) ? TAP_FLUSHED_LAST : TAP_DRAINED;
}

/* `shown`: fetch and dispatch are on the tap, too. */
STAGE void take_uop(struct ooo *core, struct standing *now, uint64_t at,
                    const struct stream_uop *stream, uint32_t flags, bool lives, bool shown) {
    const struct prepared_uop *operands = stream->operands;
    struct packed_life *life = lives ? &core->lives[at & core->record_mask] : NULL;
    struct uop_cycles uop;
    uint16_t carried = 0;
    share_place(core, flags);
    for (;;) {
        enum dispatch_block held = DISPATCH_FREE;
        uop.psv = carried | front_psv(flags);
        uop.violated = false;
        uop.renamed = NULL;
        fetch_stage(core, now, at, stream, flags, &uop);
        if (lives)
            begin_life(core, now, at, stream, operands, life);
        const bool entered = dispatch_stage(core, now, at, stream, flags, UNKNOWN, &uop, &held);
        assert(entered); /* sooner or later */
        if (!entered)
            __builtin_unreachable();
        if (lives)
            life->kept.dispatch_block = (uint8_t)held;
        if (shown) {
            note_fetch(core, at, uop.fetch);
            note_dispatch(core, at, uop.dispatch);
        }
        execute(core, now, at, stream, flags, &uop, life);
        if (__builtin_expect(!uop.violated, 1) || (carried && uop.passed_store == UNKNOWN))
            break; /* who reads a lost line again is the oldest, and keeps what it gets */
        const struct uop_cycles load = uop;
        core->now = *now;
        flush_violation(core, at, &load, life);
        *now = core->now;
        carried = flush_event(&load) | (uop.psv & (PSV_DR_L1 | PSV_DR_TLB));
    }
    rename_result(core, operands, flags, at, &uop, lives);
    commit_stage(core, now, at, flags, &uop);
    show_commit(core, at, stream, flags, &uop, lives, shown);
    if (lives)
        end_life(core, now, &uop, uop.commit, life);
    if (flags & U_ENDS_PACKET) {
        core->statistics.flushes += (flags & U_FLUSH) != 0;
        core->statistics.system_calls += (flags & (U_SYSCALL | U_SERIAL_END)) == U_SYSCALL;
        if (flags & U_MISPREDICTED && core->wrong_paths)
            run_wrong_path(core, at, uop.fetch, uop.complete);
        redirect_fetch(core, now, flags, flags & U_TAKEN ? stream->bubble : 0, &uop);
    }
    if (shown)
        show_until(core, now->packet_cycle);
}

/* The same of most µops, of which it is known what they have not: the stages are shorter. */
STAGE void take_short(struct ooo *core, struct standing *now, uint64_t at,
                      const struct stream_uop *stream) {
    const uint32_t flags = stream->flags;
    const uint32_t load = U_LOAD | U_LOAD_ENTRY, branch = U_BRANCH | U_BRANCH_ENTRY;
    const uint32_t resolved = branch | U_TAKEN | U_FUSED;
    if (!(flags & ~(uint32_t)U_PLAIN))
        take_uop(core, now, at, stream, flags & U_PLAIN, false, false);
    else if (!(flags & ~(U_PLAIN | load)) && flags & U_LOAD)
        take_uop(core, now, at, stream, (flags & U_PLAIN) | load, false, false);
    else if (!(flags & ~(U_PLAIN | resolved)) && flags & U_BRANCH)
        take_uop(core, now, at, stream, (flags & (U_PLAIN | resolved)) | branch, false, false);
    else if (!(flags & ~(uint32_t)(U_PLAIN | U_STORE)))
        take_uop(core, now, at, stream, (flags & U_PLAIN) | U_STORE, false, false);
    else
        take_uop(core, now, at, stream, flags, false, false);
}

/* One core of several: until when the µop that is next does nothing, as it waits for a store, or is
 * an atomic, that has to know first what other cores ask for; 0: it need not wait. */
static uint64_t waits_for_others(struct ooo *core, const struct standing *now, uint32_t flags) {
    const uint64_t stores = flags & U_WAIT_HEAD ? now->stores
                            : now->stores < core->machine.store_queue
                                ? 0
                                : now->stores - core->machine.store_queue + 1;
    while (core->drained < stores) { /* these are in the cache before it goes on */
        if (core->drain_due >= core->until || drain_must_wait(core))
            return core->drain_due;
        drain_one(core);
    }
    if (!(flags & U_WAIT_HEAD))
        return 0;
    const uint64_t ready = ready_at_head(core, now, 0);
    return ready > core->others ? ready : 0;
}

/* The µops up to `end`; one core of several (`paced`) may stop before. */
STAGE void take_uops(struct ooo *core, uint64_t end, bool lives, bool shown, bool paced) {
    struct standing now = core->now;
    const uint64_t until = core->until;
    uint64_t at = core->next;
    for (; at < end; at++) {
        const struct stream_uop *stream = stream_at(core, at);
        if (paced && now.dispatch >= until)
            break;
        if (paced && stream->flags & (U_STORE | U_WAIT_HEAD) &&
            (core->waits_until = waits_for_others(core, &now, stream->flags)))
            break;
        if (lives || shown)
            take_uop(core, &now, at, stream, stream->flags, lives, shown);
        else
            take_short(core, &now, at, stream);
    }
    core->next = at;
    core->now = now;
}

static void take_plain(struct ooo *core, uint64_t end) {
    take_uops(core, end, false, false, false);
}

static void take_paced(struct ooo *core, uint64_t end) {
    take_uops(core, end, false, false, true);
}

static void take_shown(struct ooo *core, uint64_t end) {
    take_uops(core, end, false, true, core->one_of_several);
}

static void take_with_lives(struct ooo *core, uint64_t end) {
    take_uops(core, end, true, core->merge, core->one_of_several);
}

/* The cycles of µops that none to come asks for go. */
static void slide_window(struct ooo *core) {
    const uint64_t over = core->next - core->window - core->origin;
    memmove(core->dispatch, core->dispatch + over, core->window * sizeof *core->dispatch);
    memmove(core->commit, core->commit + over, core->window * sizeof *core->commit);
    core->origin += over;
}

void run_timing(struct ooo *core, bool all) {
    const uint64_t left = all ? 0 : lesser(core->lookahead, core->available - core->next);
    const uint64_t end = core->available - left;
    while (core->next < end) {
        const uint64_t stop = lesser(end, core->next + WINDOW_STRIDE);
        if (place_of(core, stop) > core->window + WINDOW_STRIDE)
            slide_window(core);
        if (core->lives)
            take_with_lives(core, stop);
        else if (core->merge)
            take_shown(core, stop);
        else if (core->one_of_several)
            take_paced(core, stop);
        else
            take_plain(core, stop);
        if (core->next < stop)
            return; /* it pauses */
    }
    if (!all)
        return;
    end_commits(core, core->next);
    show_until(core, UNKNOWN);
    while (core->drain_due <= core->now.commit)
        drain_one(core);
    close_packet(core, &core->now);
    resume_fetch(&core->now, later(core->now.fetch_resume, core->now.commit + 1));
}
