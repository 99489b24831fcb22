/* Issue, in program order: the head goes in the first cycle in which it has arrived, its operands
 * are there, a unit is free and the cycle has a slot left. What made it wait is recorded as it is
 * found (core/stall_causes.h). */
#include <string.h>

#include "core/inorder/inorder.h"
#include "core/stall_causes.h"

/* What the head waits for, and until when. */
struct wait {
    uint64_t until;
    enum stall_cause cause;
    const struct result *result; /* of STALL_DEPENDENCE: the operand; else NULL */
};

static void wait_for(struct wait *wait, uint64_t until, enum stall_cause cause,
                     const struct result *result) {
    if (until > wait->until)
        *wait = (struct wait){until, cause, result};
}

/* ---- what issue asks for ---- */

static void wait_for_operands(const struct inorder *core, const struct inorder_uop *uop,
                              struct wait *wait) {
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++) {
        const struct result *result = &core->results[uop->source[i]];
        wait_for(wait, result->ready, STALL_DEPENDENCE, result);
    }
    /* Results of one register come in order. */
    uint32_t latency = core->machine.classes[uop->operation].latency;
    for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++) {
        const struct result *result = &core->results[uop->destination[i]];
        if (result->ready > latency)
            wait_for(wait, result->ready - latency, STALL_DEPENDENCE, result);
    }
}

static uint64_t *free_unit(struct inorder *core, uint32_t pool) {
    uint64_t *unit = core->unit_free[pool], *earliest = unit;
    for (uint32_t i = 1; i < core->machine.pools[pool].units; i++)
        if (unit[i] < *earliest)
            earliest = &unit[i];
    return earliest;
}

/* Whether the cycle that the last µop issued in has a slot left for this one. */
static bool slot_left(const struct inorder *core, const struct inorder_uop *uop) {
    if (core->issued == 8 /* that share a cycle exactly */)
        return false;
    if (core->ideal & IDEAL_BW)
        return true;
    if (core->issued == core->width ||
        (core->machine.core.group_issue && uop->packet != core->packet_issued))
        return false;
    if (uop->operation == OP_NOP)
        return true;
    uint32_t pool = core->machine.classes[uop->operation].pool;
    uint32_t queue = core->machine.pools[pool].queue;
    return core->pool_used[pool] < core->machine.pools[pool].units &&
           core->queue_used[queue] < core->machine.queues[queue].issue;
}

static void take_slot(struct inorder *core, const struct inorder_uop *uop, uint64_t cycle) {
    if (uop->operation == OP_NOP)
        return;
    const struct machine_class *class = &core->machine.classes[uop->operation];
    core->pool_used[class->pool]++;
    core->queue_used[core->machine.pools[class->pool].queue]++;
    if (class->interval > 1)
        *free_unit(core, class->pool) = cycle + class->interval;
}

/* The first cycle in which it can issue, but for memory's miss registers. */
static struct wait earliest_issue(struct inorder *core, const struct inorder_uop *uop) {
    uint64_t from = uop->arrives > core->cycle ? uop->arrives : core->cycle;
    struct wait wait = {from, STALL_FETCH, NULL};
    bool bandwidth = !(core->ideal & IDEAL_BW);
    wait_for_operands(core, uop, &wait);
    if (bandwidth && uop->operation != OP_NOP)
        wait_for(&wait, *free_unit(core, core->machine.classes[uop->operation].pool), STALL_UNIT,
                 NULL);
    if (uop->flags & I_SERIAL)
        wait_for(&wait, core->all_done, STALL_SYNCHRONISATION, NULL);
    if (uop->flags & I_WAIT_STORES)
        wait_for(&wait, inorder_stores_done(core), STALL_SYNCHRONISATION, NULL);
    if (uop->flags & I_STORE && uop->size_bytes)
        wait_for(&wait, inorder_store_entry(core, uop->address, wait.until), STALL_WRITE_BUFFER,
                 NULL);
    if (wait.until == core->cycle && !slot_left(core, uop))
        wait = (struct wait){core->cycle + 1, STALL_SLOT, NULL};
    return wait;
}

/* ---- what an issue changes ---- */

static uint32_t latency_of(const struct inorder *core, const struct inorder_uop *uop) {
    uint32_t latency = core->machine.classes[uop->operation].latency;
    bool memory = uop->flags & (I_LOAD | I_STORE);
    bool zero = !memory && uop->operation != OP_BRANCH && uop->operation != OP_SYSTEM &&
                uop->operation != OP_CLOCK &&
                core->ideal & (latency == 1 ? IDEAL_SHALU : IDEAL_LGALU);
    return zero || uop->operation == OP_NOP ? 0 : latency;
}

/* False: no miss register is free before *cycle, at which it is to be tried again. */
static bool load(struct inorder *core, const struct inorder_uop *uop, struct result *result,
                 uint64_t *cycle) {
    struct memory *memory = core->learned.memory;
    uint64_t access = *cycle + core->machine.classes[OP_LOAD].latency;
    uint32_t hit = core->machine.l1d.latency, saved = core->ideal & IDEAL_DL1 ? hit : 0;
    result->ready = result->hit_ready = access + hit - saved;
    inorder_advance(core, access);
    if (uop->flags & I_PREFETCH) {
        memory_prefetch(memory, access, uop->address, core->head, uop->insn);
        return true;
    }
    struct memory_result answer;
    if (memory_load_hits(memory, access, uop->address, uop->size_bytes, core->head, uop->insn,
                         NULL))
        return true;
    memory_load(memory, access, uop->address, uop->size_bytes, core->head, uop->insn, &answer);
    if (answer.retry) {
        *cycle = answer.retry - core->machine.classes[OP_LOAD].latency;
        return false;
    }
    result->ready = answer.ready - saved;
    result->tlb = answer.tlb_cycles;
    if (answer.events & MEMORY_MISSED_L1)
        stall_causes_count(core->causes, uop->insn, EVENT_DMISS);
    if (answer.events & MEMORY_MISSED_TLB)
        stall_causes_count(core->causes, uop->insn, EVENT_DTLB);
    result->psv = (answer.events & MEMORY_MISSED_L1 ? PSV_ST_L1 : 0) |
                  (answer.events & MEMORY_MISSED_TLB ? PSV_ST_TLB : 0) |
                  (answer.events & MEMORY_MISSED_LLC ? PSV_ST_LLC : 0);
    return true;
}

static void write_results(struct inorder *core, const struct inorder_uop *uop,
                          const struct result *result) {
    for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++)
        core->results[uop->destination[i]] = *result;
    core->results[NOTHING_WRITTEN] = (struct result){0};
    if (result->ready > core->all_done)
        core->all_done = result->ready;
}

/* If fetch waited for this µop, sets the cycle at which it goes on. */
static void redirect(struct inorder *core, const struct inorder_uop *uop, uint64_t cycle) {
    const struct machine_core *machine = &core->machine.core;
    if (uop->flags & I_FLUSH)
        core->fetch_cycle =
            cycle + machine_flush_cycles(machine, uop->flags & I_SYSCALL, uop->flags & I_SERIAL);
    else if (uop->flags & I_MISPREDICTED)
        core->fetch_cycle = cycle + latency_of(core, uop) + machine->redirect;
    else
        return;
    core->line = UNKNOWN;
}

static void count(struct core_statistics *statistics, uint32_t flags) {
    statistics->uops++;
    statistics->instructions += (flags & I_LAST) != 0;
    statistics->loads += (flags & I_LOAD) != 0;
    statistics->stores += (flags & I_STORE) != 0;
    statistics->flushes += (flags & I_FLUSH) != 0;
    statistics->system_calls += (flags & (I_SYSCALL | I_SERIAL)) == I_SYSCALL;
}

/* ---- the cycles that the head owned ---- */

/* Divides the cycles of a wait for an operand: first as long as its producer takes when it hits,
 * then translation, then the line. */
static void record_operand(struct inorder *core, const struct inorder_uop *uop,
                           const struct result *result, uint64_t from, uint64_t until) {
    uint64_t marks[] = {result->hit_ready, result->hit_ready + result->tlb, until};
    static const enum stall_cause causes[] = {STALL_DEPENDENCE, STALL_DTLB, STALL_DMISS};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t end = marks[i] < until ? marks[i] : until;
        if (end <= from)
            continue;
        stall_causes_add(core->causes, uop->insn, causes[i], result->insn, end - from);
        from = end;
    }
}

/* Cycles in which the head had not arrived. They end at its arrival, and the packet's misses are
 * the last of them. */
static void record_front_end(struct inorder *core, const struct inorder_uop *uop, uint64_t from) {
    struct front_delay delay = core->delays[uop->packet % INPUT_UOPS];
    uint64_t left = uop->arrives - from;
    uint64_t cache = delay.cache < left ? delay.cache : left;
    uint64_t tlb = delay.tlb < left - cache ? delay.tlb : left - cache;
    uint64_t rest = left - cache - tlb;
    enum stall_cause other = core->last_flags & I_FLUSH          ? STALL_SYNCHRONISATION
                             : core->last_flags & I_MISPREDICTED ? STALL_MISPREDICT
                                                                 : STALL_FETCH;
    stall_causes_add(core->causes, uop->insn, STALL_IMISS, uop->insn, cache);
    stall_causes_add(core->causes, uop->insn, STALL_ITLB, uop->insn, tlb);
    stall_causes_add(core->causes, uop->insn, other, core->last_insn, rest);
}

/* Records the head's cycles: from the one after the last issue until it issues at `cycle`. */
static void record(struct inorder *core, const struct inorder_uop *uop, const struct wait *wait,
                   uint64_t cycle) {
    uint64_t from = core->cycle + 1;
    if (uop->arrives > from) {
        record_front_end(core, uop, from);
        from = uop->arrives;
    }
    if (from < cycle && wait->result)
        record_operand(core, uop, wait->result, from, cycle);
    else if (from < cycle)
        stall_causes_add(core->causes, uop->insn, wait->cause, uop->insn, cycle - from);
    if (cycle > core->cycle)
        stall_causes_add(core->causes, uop->insn, STALL_NONE, uop->insn, 1);
    if (uop->flags & I_MISPREDICTED)
        stall_causes_count(core->causes, uop->insn, EVENT_MISPREDICT);
    if (uop->flags & I_TAKEN)
        stall_causes_count(core->causes, uop->insn, EVENT_TAKEN);
}

/* ---- the tap ---- */

void inorder_show(struct inorder *core) {
    struct tap_buffer *buffer = core->buffer;
    if (!buffer || core->issued == 0)
        return;
    uint64_t *word = buffer->words + buffer->used;
    uint64_t delta = core->cycle - core->tap_state.cycle;
    word = tap_put_header(word, TAP_COMMIT, core->empty_reason, core->issued, core->empty, delta);
    memcpy(word, core->in_cycle, core->issued * sizeof *word);
    word += core->issued;
    buffer->records[TAP_COMMIT]++;
    core->tap_state.cycle = core->tap_state.last_commit = core->cycle;
    core->tap_state.uop += core->issued;
    core->tap_state.last_uop = word[-1];
    buffer->used = (uint32_t)(word - buffer->words);
    if (buffer->used + TAP_RECORD_WORDS > TAP_BUFFER_WORDS &&
        !(core->buffer = tap_exchange(core->tap, &core->tap_state, &core->error)))
        core->failed = true;
    core->issued = 0;
}

/* The µop is the first of a new cycle. */
static void begin_cycle(struct inorder *core, const struct inorder_uop *uop, uint64_t cycle) {
    inorder_show(core);
    uint64_t before = core->cycle;
    core->empty_reason = core->next_empty_reason;
    core->empty = uop->arrives > before + 1 ? uop->arrives - before - 1 : 0;
    core->cycle = cycle;
    core->issued = 0;
    memset(core->queue_used, 0, sizeof core->queue_used);
    memset(core->pool_used, 0, sizeof core->pool_used);
}

/* ---- the loop ---- */

static void issue_head(struct inorder *core) {
    inorder_fetch_head(core);
    struct inorder_uop *uop = uop_at(core, core->head);
    struct wait wait = earliest_issue(core, uop);
    uint64_t cycle = wait.until;
    uint32_t latency = latency_of(core, uop);
    inorder_advance(core, cycle);
    struct result result = {.insn = uop->insn};
    if (uop->flags & I_LOAD && uop->size_bytes) {
        while (!load(core, uop, &result, &cycle))
            wait = (struct wait){cycle, STALL_MISS_REGISTERS, NULL};
    } else {
        result.ready = result.hit_ready = cycle + latency;
    }
    uint32_t psv = uop->psv | (wait.result && cycle > core->cycle + 1 ? wait.result->psv : 0);
    if (uop->flags & I_STORE && uop->size_bytes) {
        if (wait.cause == STALL_WRITE_BUFFER)
            psv |= PSV_DR_SQ;
        inorder_store_enter(core, uop, core->head, cycle + core->machine.classes[OP_STORE].latency);
    }
    if (core->causes)
        record(core, uop, &wait, cycle);
    if (cycle != core->cycle)
        begin_cycle(core, uop, cycle);
    take_slot(core, uop, cycle);
    write_results(core, uop, &result);
    redirect(core, uop, cycle);
    core->in_cycle[core->issued++] = tap_uop(uop->insn, psv, uop->flags & TAP_UOP_FLAGS);
    core->packet_issued = uop->packet;
    core->next_empty_reason =
        uop->flags & (I_MISPREDICTED | I_FLUSH) ? TAP_FLUSHED_LAST : TAP_DRAINED;
    core->last_insn = uop->insn;
    core->last_flags = uop->flags;
    count(&core->statistics, uop->flags);
    core->head++;
    inorder_room(core, cycle + 1);
}

bool inorder_run(struct inorder *core, bool all, struct error *error) {
    uint64_t keep = all ? 0 : core->lookahead;
    while (core->end - core->head > keep && !core->failed)
        issue_head(core);
    if (core->failed)
        *error = core->error;
    return !core->failed;
}
