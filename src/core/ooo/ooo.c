/* Set-up with idealisations applied, the clock, and the hand-over from the input side to the
 * pipeline. */
#include "core/ooo/ooo.h"

#include <stdlib.h>
#include <string.h>

#include "util/power_of_two.h"

enum { UNLIMITED = 255, WINDOW_TIMES = 20 };

/* ---- set-up ---- */

static void widen_window(struct ooo *core) {
    struct machine_core *machine = &core->machine;
    machine->rob = (uint32_t)lesser(machine->rob * WINDOW_TIMES, ORDER_MAX);
    machine->load_queue *= WINDOW_TIMES;
    machine->store_queue = (uint32_t)lesser(machine->store_queue * WINDOW_TIMES, ORDER_MAX);
    machine->int_registers *= WINDOW_TIMES;
    machine->fp_registers *= WINDOW_TIMES;
    machine->outstanding_branches *= WINDOW_TIMES;
    machine->fetch_target_queue *= WINDOW_TIMES;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queues[queue].entries *= WINDOW_TIMES;
}

static void free_bandwidth(struct ooo *core) {
    struct machine_core *machine = &core->machine;
    machine->fetch_width = machine->dispatch_width = machine->commit_width = UNLIMITED;
    machine->store_drain = UNLIMITED;
    machine->taken_branches = UNLIMITED + 1;
    core->taken_bubble = 0;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queues[queue].issue = UINT32_MAX;
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        core->pools[pool].units = UINT32_MAX;
    for (unsigned operation = 0; operation < OP_COUNT; operation++)
        core->classes[operation].interval = 1;
}

static void shorten_operations(struct ooo *core, bool one_cycle) {
    for (unsigned operation = 0; operation < OP_COUNT; operation++) {
        struct machine_class *class = &core->classes[operation];
        if (operation == OP_LOAD || operation == OP_STORE || operation == OP_SYSTEM ||
            operation == OP_CLOCK || operation == OP_NOP)
            continue;
        bool integer = operation == OP_INT_ALU || operation == OP_BRANCH;
        if (one_cycle == (integer && class->latency <= 1))
            class->latency = 0;
    }
}

static void configure(struct ooo *core, const struct machine *machine) {
    core->machine = machine->core;
    core->queue_count = machine->queue_count;
    core->pool_count = machine->pool_count;
    memcpy(core->queues, machine->queues, sizeof core->queues);
    memcpy(core->pools, machine->pools, sizeof core->pools);
    memcpy(core->classes, machine->classes, sizeof core->classes);
    core->l1i_latency = machine->l1i.present ? machine->l1i.latency : 1;
    core->l1d_latency = machine->l1d.latency;
    core->fetch_line_shift = (uint32_t)__builtin_ctz(machine->l1i.present ? machine->l1i.line : 64);
    core->fetch_line_mask = ~UINT64_C(0) << core->fetch_line_shift;
    core->fetch_block_mask = machine->core.fetch_bytes && !(core->ideal & IDEAL_BW)
                                 ? -(uint64_t)machine->core.fetch_bytes
                                 : UINT64_C(1) << 63; /* two blocks */
    core->btb_miss_penalty = machine->branch.btb_miss_penalty;
    core->taken_bubble = machine->branch.taken_bubble;
    if (core->ideal & IDEAL_WIN)
        widen_window(core);
    if (core->ideal & IDEAL_BW)
        free_bandwidth(core);
    if (core->ideal & IDEAL_SHALU)
        shorten_operations(core, true);
    if (core->ideal & IDEAL_LGALU)
        shorten_operations(core, false);
    core->load_latency =
        core->classes[OP_LOAD].latency + (core->ideal & IDEAL_DL1 ? 0 : core->l1d_latency);
    core->branches_available =
        core->machine.outstanding_branches ? core->machine.outstanding_branches : UINT32_MAX;
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        core->pool_units[pool] =
            core->pools[pool].units < UINT16_MAX ? (uint16_t)core->pools[pool].units : UINT16_MAX;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queue_issues[queue] = core->queues[queue].issue < UINT16_MAX
                                        ? (uint16_t)core->queues[queue].issue
                                        : UINT16_MAX;
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        if (core->pool_units[pool] && core->queue_issues[core->pools[pool].queue]) {
            core->queue_pools[core->pools[pool].queue] |= 1u << pool;
            core->open_pools |= 1u << pool;
        }
    for (unsigned operation = 0; operation < OP_COUNT; operation++) {
        uint32_t latency = core->classes[operation].latency, least = core->machine.issue_wakeup;
        core->timing[operation] =
            (struct timing){latency, latency && latency < least ? least : latency};
    }
    for (unsigned operation = 1; operation < OP_COUNT; operation++)
        if (core->classes[operation].interval > 1)
            core->slow_pools |= 1u << core->classes[operation].pool;
    /* µops on their way through the front end, and the buffer behind it. */
    core->fetch_capacity = core->machine.fetch_buffer + 2 * INSN_MAX_UOPS +
                           core->machine.frontend_depth * core->machine.dispatch_width;
}

/* calloc, of elements that do not lie across cache lines. */
static void *whole_lines(size_t count, size_t size) {
    void *memory = aligned_alloc(64, count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

static bool allocate(struct ooo *core) {
    uint32_t ring = power_of_two_from((uint64_t)core->machine.rob + core->fetch_capacity + 1);
    core->mask = ring - 1;
    core->uops = whole_lines(ring + 1, sizeof *core->uops);
    core->fresh = calloc(ring, sizeof *core->fresh);
    core->calendar.wheel = calloc((size_t)ring * WHEEL_CYCLES + 1, sizeof(uint32_t));
    bool room = core->uops && core->fresh && core->calendar.wheel;
    core->ready = calloc(READY_ZEROS + ring + 1, sizeof *core->ready);
    room &= core->ready != NULL;
    if (core->ready)
        core->ready += READY_ZEROS;
    core->packet_mask = ring - 1; /* the shortest packet is one µop, and one is not in flight */
    core->packet_limit = core->machine.fetch_target_queue
                             ? (uint32_t)lesser(core->machine.fetch_target_queue, ring - 1)
                             : ring - 1;
    room &= (core->packets = calloc(ring, sizeof *core->packets)) != NULL;
    if (core->tap_kinds & 1 << TAP_LIFE)
        room &= (core->lives = whole_lines(ring, sizeof *core->lives)) != NULL;
    /* Lives tell of the write of the store that had their entry: it is kept until they commit. */
    uint32_t stores = power_of_two_from((core->lives ? 2 : 1) * core->machine.store_queue);
    core->store_mask = stores - 1;
    room &= (core->stores = calloc(stores, sizeof *core->stores)) != NULL;
    core->store_reach = core->machine.store_queue;
    if (core->lives)
        core->store_reach =
            (uint32_t)lesser((uint64_t)core->store_reach * LIFE_STORES_BACK, ORDER_MAX);
    uint32_t ranges = power_of_two_from(core->store_reach);
    core->store_range_mask = ranges - 1;
    room &= (core->store_ranges = calloc(ranges, sizeof *core->store_ranges)) != NULL;
    /* What the pipeline may hold or leave when it has run a chunk, and the chunks under way. */
    uint64_t held = (uint64_t)core->machine.rob + 2 * core->fetch_capacity;
    uint32_t stream = power_of_two_from(held + CHUNKS * (CHUNK_UOPS + INSN_MAX_UOPS));
    core->stream_mask = stream - 1;
    room &= (core->stream = whole_lines(stream, sizeof *core->stream)) != NULL;
    room &= (core->order = whole_lines(stream, sizeof *core->order)) != NULL;
    room &= (core->insn_starts = calloc(stream, sizeof *core->insn_starts)) != NULL;
    room &= (core->marks = calloc(stream, sizeof *core->marks)) != NULL;
    uint32_t gathers =
        power_of_two_from(GATHER_MAX * held + CHUNKS * (CHUNK_UOPS + GATHER_MAX * INSN_MAX_UOPS));
    core->gather_mask = gathers - 1;
    room &= (core->gathers = calloc(gathers, sizeof *core->gathers)) != NULL;
    return room;
}

struct ooo *ooo_new(const struct machine *machine, const struct core_options *options,
                    struct error *error) {
    struct ooo *core = calloc(1, sizeof *core);
    if (!core) {
        error_set(error, "out of memory for a core");
        return NULL;
    }
    core->ideal = options->ideal;
    core->executor = options->executor;
    core->tap = options->tap;
    core->tap_kinds = core->tap ? tap_kinds(core->tap) : 0;
    configure(core, machine);
    if (!allocate(core)) {
        error_set(error, "out of memory for a core with a window of %u µops", core->machine.rob);
        ooo_free(core);
        return NULL;
    }
    struct core_learned learned;
    bool made = core_learned_new(&learned, machine, options, error);
    core->memory = learned.memory;
    core->predictor = learned.predictor;
    if (!made) {
        ooo_free(core);
        return NULL;
    }
    if (core->tap) {
        core->buffer = tap_current(core->tap);
        core->buffer->start = core->tap_state;
        core->buffer->used = 0;
    }
    core->last_begin = core->last_end = UNKNOWN;
    core->packets[0].arrives = UNKNOWN;
    core->fused_operands = UINT32_MAX;
    for (uint32_t reg = 0; reg < RENAME_COUNT; reg++)
        core->writer[reg] = -(uint64_t)ORDER_MAX - 1; /* nobody in flight, ever */
    calendar_clear(core);
    return core;
}

void wait_for_pipeline(const struct ooo *core) {
    if (core->executor && core->handed_over)
        executor_wait(core->executor, core->chunks[(core->handed_over - 1) % CHUNKS].ticket);
}

void ooo_give(struct ooo *core, struct core_learned *learned) {
    wait_for_pipeline(core);
    *learned = (struct core_learned){core->memory, core->predictor};
    memory_restart(learned->memory);
    core->memory = NULL;
    core->predictor = NULL;
}

const struct memory *ooo_memory(const struct ooo *core) {
    wait_for_pipeline(core);
    return core->memory;
}

/* It is trained where instructions are predecoded: by the caller. */
const struct branch_predictor *ooo_predictor(const struct ooo *core) {
    return core->predictor;
}

void ooo_free(struct ooo *core) {
    if (!core)
        return;
    wait_for_pipeline(core);
    memory_free(core->memory);
    branch_free(core->predictor);
    if (core->ready)
        free(core->ready - READY_ZEROS);
    free(core->uops);
    free(core->fresh);
    free(core->calendar.wheel);
    free(core->lives);
    free(core->stores);
    free(core->packets);
    free(core->stream);
    free(core->order);
    free(core->insn_starts);
    free(core->marks);
    free(core->store_ranges);
    free(core->gathers);
    free(core->waiting_accesses);
    free(core->known);
    for (uint32_t chunk = 0; chunk < PREPARED_CHUNKS; chunk++)
        free(core->prepared[chunk]);
    free(core);
}

/* ---- the clock ---- */

/* Nothing happened in this cycle: the next one in which something can. */
static uint64_t next_cycle(struct ooo *core) {
    uint64_t now = core->cycle, next = calendar_next(core);
    if (core->ready_count)
        return now + 1; /* waits for a unit */
    if (core->head < core->tail) {
        const struct uop_state *head = uop_at(core, core->head);
        if (head->complete != UNKNOWN && !(head->is.flags & U_WAIT_HEAD) &&
            head->complete + core->machine.complete_to_commit > now)
            next = lesser(next, head->complete + core->machine.complete_to_commit);
    }
    if (core->packet_head != core->packet_end) {
        uint64_t arrives = core->packets[core->packet_head & core->packet_mask].arrives;
        if (arrives > now)
            next = lesser(next, arrives);
    }
    if (core->fetch_resume > now)
        next = lesser(next, core->fetch_resume);
    if (core->store_head < core->store_drain)
        next = lesser(next, core->stores[core->store_head & core->store_mask].release);
    if (core->store_drain < core->store_tail &&
        core->stores[core->store_drain & core->store_mask].uop < core->head &&
        core->drain_resume > now)
        next = lesser(next, core->drain_resume);
    return next;
}

#ifndef NDEBUG
static void check_invariants(const struct ooo *core) {
    assert(core->head <= core->tail && core->tail <= core->next);
    assert(core->tail - core->head <= core->machine.rob);
    assert(core->next - core->tail <= core->fetch_capacity);
    assert(core->store_tail - core->store_head <= core->machine.store_queue);
    assert(core->loads_free <= core->machine.load_queue);
    assert(core->int_free <= core->int_available && core->fp_free <= core->fp_available);
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        assert(core->queue_free[queue] <= core->queues[queue].entries);
    if (core->tail == core->head) {
        assert(core->loads_free == core->machine.load_queue);
        assert(core->int_free == core->int_available && core->fp_free == core->fp_available);
        assert(core->branches_free == core->branches_available);
    }
}
#endif

/* Steps as long as the stream holds all that one cycle may fetch, so that the boundaries of batches
 * and chunks change nothing; with `all` until every µop has committed. */
static bool run(struct ooo *core, bool all, struct error *error) {
    uint64_t insns = core->machine.fetch_width + 1;
    for (;;) {
        if (all ? core->head == core->available
                : core->available_insns - core->fetched_insns < insns &&
                      core->available - core->next < core->fetch_capacity)
            return true;
        uint64_t now = ++core->cycle;
        core->progress = false;
        if (core->head < core->tail)
            commit_stage(core);
        if (core->store_head < core->store_tail &&
            core->stores[core->store_head & core->store_mask].uop < core->head)
            drain_stage(core);
        calendar_deliver(core);
        if (core->ready_count)
            issue_stage(core);
        if (core->tail < core->next) {
            if (core->tail - core->head < core->machine.rob)
                dispatch_stage(core);
            else if (core->lives)
                dispatch_full(core);
        }
        if (now >= core->fetch_resume)
            fetch_stage(core);
#ifndef NDEBUG
        check_invariants(core);
#endif
        if (atomic_load_explicit(&core->failed, memory_order_relaxed))
            return false; /* a worker of the tap: the error is there */
        if (!core->progress) {
            uint64_t next = next_cycle(core);
            if (next == UNKNOWN)
                return error_set(error,
                                 "internal error: the core stands still at cycle %llu, µop %llu",
                                 (unsigned long long)core->cycle, (unsigned long long)core->head);
            core->cycle = next - 1;
        }
    }
}

/* ---- hand-over ---- */

static void run_chunk(void *context, uint64_t number) {
    struct ooo *core = context;
    const struct chunk *chunk = &core->chunks[number % CHUNKS];
    core->available = chunk->produced;
    core->available_insns = chunk->insns;
    core->available_marks = chunk->marks;
    if (!atomic_load(&core->failed) && !run(core, chunk->all, &core->error))
        atomic_store(&core->failed, true);
}

/* Hands the stream over as far as it is filled. Then the chunk CHUNKS − 1 before has run, so the
 * stream has room for another. */
bool hand_over(struct ooo *core, bool all, struct error *error) {
    struct chunk *chunk = &core->chunks[core->handed_over % CHUNKS];
    order_chunk(core);
    *chunk = (struct chunk){core->produced, core->insns_seen, core->marks_seen, 0, all};
    if (core->executor)
        chunk->ticket = executor_submit(core->executor, run_chunk, core, core->handed_over);
    else
        run_chunk(core, core->handed_over);
    core->handed_over++;
    core->chunk_start = core->produced;
    core->gather_start = core->gather_end;
    if (all)
        wait_for_pipeline(core);
    else if (core->executor && core->handed_over >= CHUNKS)
        executor_wait(core->executor, core->chunks[core->handed_over % CHUNKS].ticket);
    if (!atomic_load(&core->failed))
        return true;
    *error = core->error;
    return false;
}
