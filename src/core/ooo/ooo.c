/* The core's outside: set-up with idealisations applied, the window of input, and the clock. */
#include "core/ooo/ooo.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { UNLIMITED = 255, WINDOW_TIMES = 20 };

static uint32_t power_of_two(uint64_t least) {
    uint32_t size = 1;
    while (size < least)
        size *= 2;
    return size;
}

/* ---- set-up ---- */

static void widen_window(struct core *core) {
    struct machine_core *machine = &core->machine;
    machine->rob *= WINDOW_TIMES;
    machine->load_queue *= WINDOW_TIMES;
    machine->store_queue *= WINDOW_TIMES;
    machine->int_registers *= WINDOW_TIMES;
    machine->fp_registers *= WINDOW_TIMES;
    machine->outstanding_branches *= WINDOW_TIMES;
    machine->fetch_target_queue *= WINDOW_TIMES;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queues[queue].entries *= WINDOW_TIMES;
}

static void free_bandwidth(struct core *core) {
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

static void shorten_operations(struct core *core, bool one_cycle) {
    for (unsigned operation = 0; operation < OP_COUNT; operation++) {
        struct machine_class *class = &core->classes[operation];
        if (operation == OP_LOAD || operation == OP_STORE || operation == OP_SYSTEM ||
            operation == OP_NOP)
            continue;
        bool integer = operation == OP_INT_ALU || operation == OP_BRANCH;
        if (one_cycle == (integer && class->latency <= 1))
            class->latency = 0;
    }
}

static void configure(struct core *core, const struct machine *machine) {
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
    core->branches_available =
        core->machine.outstanding_branches ? core->machine.outstanding_branches : UINT32_MAX;
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        core->pool_units[pool] =
            core->pools[pool].units < UINT16_MAX ? (uint16_t)core->pools[pool].units : UINT16_MAX;
    for (unsigned operation = 1; operation < OP_COUNT; operation++)
        if (core->classes[operation].interval > 1)
            core->slow_pools |= 1u << core->classes[operation].pool;
    /* µops on their way through the front end, and the buffer behind it. */
    core->fetch_capacity = core->machine.fetch_buffer + 2 * INSN_MAX_UOPS +
                           core->machine.frontend_depth * core->machine.dispatch_width;
}

static bool allocate(struct core *core, bool lives) {
    uint32_t ring = power_of_two((uint64_t)core->machine.rob + core->fetch_capacity + 1);
    core->mask = ring - 1;
    core->uops = aligned_alloc(64, (ring + 1) * sizeof *core->uops);
    if (core->uops)
        memset(core->uops + ring, 0, sizeof *core->uops);
    core->fresh = calloc(ring, sizeof *core->fresh);
    core->calendar.wheel = calloc((size_t)ring * WHEEL_CYCLES + 1, sizeof(uint32_t));
    bool room = core->uops && core->fresh && core->calendar.wheel;
    room &= (core->ready = calloc(ring + 1, sizeof *core->ready)) != NULL;
    uint32_t packets = power_of_two(core->fetch_capacity + 1);
    core->packet_mask = packets - 1;
    room &= (core->packets = calloc(packets, sizeof *core->packets)) != NULL;
    if (lives)
        room &= (core->lives = calloc(ring, sizeof *core->lives)) != NULL;
    uint32_t stores = power_of_two(core->machine.store_queue);
    core->store_mask = stores - 1;
    room &= (core->stores = calloc(stores, sizeof *core->stores)) != NULL;
    /* What the pipeline may hold or leave when it has run a chunk, and the chunks under way. */
    uint64_t held = (uint64_t)core->machine.rob + 2 * core->fetch_capacity;
    uint32_t stream = power_of_two(held + CHUNKS * (CHUNK_UOPS + INSN_MAX_UOPS));
    core->stream_mask = stream - 1;
    room &= (core->stream = calloc(stream, sizeof *core->stream)) != NULL;
    uint32_t gathers =
        power_of_two(GATHER_MAX * held + CHUNKS * (CHUNK_UOPS + GATHER_MAX * INSN_MAX_UOPS));
    core->gather_mask = gathers - 1;
    room &= (core->gathers = calloc(gathers, sizeof *core->gathers)) != NULL;
    return room;
}

struct core *core_new(const struct machine *machine, const struct core_options *options,
                      struct error *error) {
    struct core *core = calloc(1, sizeof *core);
    if (!core) {
        error_set(error, "out of memory for a core");
        return NULL;
    }
    core->ideal = options->ideal;
    core->executor = options->executor;
    core->tap = options->tap;
    core->life = options->life;
    core->life_context = options->life_context;
    configure(core, machine);
    if (!allocate(core, options->life != NULL)) {
        error_set(error, "out of memory for a core with a window of %u µops", core->machine.rob);
        core_free(core);
        return NULL;
    }
    uint32_t memory_ideal = (core->ideal & IDEAL_IMISS ? MEMORY_IDEAL_FETCH : 0) |
                            (core->ideal & IDEAL_DMISS ? MEMORY_IDEAL_DATA : 0) |
                            (core->ideal & IDEAL_DLONG ? MEMORY_IDEAL_LONG : 0);
    core->memory = memory_new(machine, memory_ideal, error);
    core->predictor = core->memory ? branch_new(&machine->branch, error) : NULL;
    if (!core->predictor) {
        core_free(core);
        return NULL;
    }
    if (core->tap) {
        core->tap_kinds = tap_kinds(core->tap);
        core->buffer = tap_current(core->tap);
        core->buffer->start = core->tap_state;
        core->buffer->used = 0;
    }
    core->last_begin = core->last_end = UNKNOWN;
    core->fused_operands = UINT32_MAX;
    calendar_clear(core);
    return core;
}

static void wait_for_pipeline(const struct core *core) {
    if (core->executor && core->handed_over)
        executor_wait(core->executor, core->chunks[(core->handed_over - 1) % CHUNKS].ticket);
}

void core_free(struct core *core) {
    if (!core)
        return;
    wait_for_pipeline(core);
    memory_free(core->memory);
    branch_free(core->predictor);
    free(core->ready);
    free(core->uops);
    free(core->fresh);
    free(core->calendar.wheel);
    free(core->lives);
    free(core->stores);
    free(core->packets);
    free(core->stream);
    free(core->gathers);
    free(core->waiting_accesses);
    free(core->known);
    for (uint32_t chunk = 0; chunk < PREPARED_CHUNKS; chunk++)
        free(core->prepared[chunk]);
    free(core);
}

/* ---- static code ---- */

static uint32_t prepare_flags(const struct core *core, const struct static_insn *insn,
                              const struct uop *uop, bool first) {
    bool last = uop->flags & UOP_LAST;
    uint32_t flags = (last ? U_LAST : 0) | (first ? U_FIRST : 0);
    if (uop->operation == OP_LOAD)
        flags |= U_LOAD | U_LOAD_ENTRY;
    if (uop->operation == OP_STORE)
        flags |= U_STORE;
    if (uop->flags & UOP_BRANCH)
        flags |= U_BRANCH | U_BRANCH_ENTRY;
    if (first && (insn->address ^ (insn->address + insn->length - 1)) & core->fetch_line_mask)
        flags |= U_CROSSES_LINE;
    if (last && insn->flags & INSN_SYSCALL)
        flags |= U_FLUSH | U_SYSCALL;
    if (last && insn->flags & INSN_FLUSHING)
        flags |= U_FLUSH;
    if (first && insn->flags & INSN_SERIALISING)
        flags |= U_SERIAL;
    if (last && insn->flags & INSN_SERIALISING)
        flags |= U_SERIAL_END;
    if (last && insn->flags & INSN_FENCE_LOAD)
        flags |= U_HOLD_LOADS;
    if (first && insn->flags & INSN_FENCE_STORE)
        flags |= U_WAIT_HEAD;
    if (insn->flags & INSN_PREFETCH)
        flags |= U_PREFETCH;
    if (uop->operation == OP_NOP)
        flags |= U_ELIMINATED;
    if (core->machine.eliminate_moves && insn->uop_count == 1 &&
        (uop->operation == OP_INT_ALU || uop->operation == OP_VEC_ALU)) {
        if (insn->flags & INSN_ZERO)
            flags |= U_ELIMINATED;
        if (insn->flags & INSN_MOVE && uop->source_count == 1 && uop->destination_count == 1)
            flags |= U_ELIMINATED | U_MOVE;
    }
    if (!(flags & U_ELIMINATED))
        for (uint32_t i = 0; i < uop->destination_count; i++)
            flags |= register_is_fp(uop->destination[i]) ? U_FP_REGISTER : U_INT_REGISTER;
    return flags;
}

static struct known_insn know(const struct core *core, const struct static_insn *insn) {
    uint32_t end = insn->first_uop + insn->uop_count - 1u;
    const struct uop *last = &core->code->uops[end];
    uint8_t traits = 0;
    /* A store in the compare's place (add [mem], 1) does not fuse. */
    if (core->machine.fuse_compare_branch && insn->flags & INSN_SETS_FLAGS_FOR_FUSION &&
        last->operation == OP_INT_ALU)
        traits |= KNOWN_COMPARE;
    if (core->machine.fuse_compare_branch && insn->flags & INSN_FUSES_WITH_FLAGS &&
        insn->uop_count == 1)
        traits |= KNOWN_FUSING_BRANCH;
    if (insn->first_uop >> PREPARED_SHIFT != end >> PREPARED_SHIFT)
        traits |= KNOWN_SPLIT;
    return (struct known_insn){.uops = prepared_at(core, insn->first_uop),
                               .first_uop = insn->first_uop,
                               .uop_count = insn->uop_count,
                               .branch = last->flags & UOP_BRANCH ? insn->branch : BRANCH_NONE,
                               .traits = traits};
}

/* The instruction as this machine has it, made when it is first executed. */
static bool prepare(struct core *core, uint32_t insn_number, struct error *error) {
    const struct static_insn *insn = &core->code->insns[insn_number];
    for (uint32_t k = 0; k < insn->uop_count; k++) {
        uint32_t number = insn->first_uop + k, chunk = number >> PREPARED_SHIFT;
        if (chunk >= PREPARED_CHUNKS)
            return error_set(error, "the program has more than %u static µops",
                             PREPARED_CHUNKS << PREPARED_SHIFT);
        if (!core->prepared[chunk] &&
            !(core->prepared[chunk] = calloc(PREPARED_CHUNK, sizeof *core->prepared[chunk])))
            return error_set(error, "out of memory for static µops");
        const struct uop *uop = &core->code->uops[number];
        uint32_t flags = prepare_flags(core, insn, uop, k == 0);
        uint32_t pool = core->classes[uop->operation].pool;
        struct prepared_uop *prepared = prepared_at(core, number);
        *prepared = (struct prepared_uop){
            .is = {.flags = flags,
                   .operation = uop->operation,
                   .pool = (uint8_t)pool,
                   .queue = flags & U_ELIMINATED ? NO_QUEUE : (uint8_t)core->pools[pool].queue},
            .insn_address = insn->address,
            .data = uop->data,
            .source_count = uop->source_count,
            .destination_count = uop->destination_count,
            .uop_index = (uint8_t)k,
            .insn_length = insn->length,
            .memory = uop->memory,
        };
        for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
            prepared->source[i] = i < uop->source_count ? uop->source[i] : RENAME_READ_NONE;
        for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++)
            prepared->destination[i] =
                i < uop->destination_count ? uop->destination[i] : RENAME_WRITE_NONE;
    }
    core->known[insn_number] = know(core, insn);
    return true;
}

void free_window(struct core *core) {
    core->loads_free = core->machine.load_queue;
    core->int_free = core->int_available;
    core->fp_free = core->fp_available;
    core->branches_free = core->branches_available;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queue_free[queue] = core->queues[queue].entries;
    core->queue_free[NO_QUEUE] = 1;
}

/* Registers that renaming may hand out: those beyond the architectural state. */
static bool set_registers(struct core *core, enum isa isa, struct error *error) {
    uint32_t integer = isa == ISA_X86_64 ? 16 : 32, fp = 32;
    const struct machine_core *machine = &core->machine;
    if ((machine->int_registers && machine->int_registers <= integer) ||
        (machine->fp_registers && machine->fp_registers <= fp))
        return error_set(error,
                         "machine: %u and %u physical registers do not hold the architectural "
                         "state: core.int_registers above %u and core.fp_registers above %u are "
                         "needed",
                         machine->int_registers, machine->fp_registers, integer, fp);
    core->int_available = machine->int_registers ? machine->int_registers - integer : UINT32_MAX;
    core->fp_available = machine->fp_registers ? machine->fp_registers - fp : UINT32_MAX;
    core->isa_known = true;
    free_window(core);
    return true;
}

/* ---- the clock ---- */

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Nothing happened in this cycle: the next one in which something can. */
static uint64_t next_cycle(struct core *core) {
    uint64_t now = core->cycle, next = calendar_next(core);
    if (core->ready_count)
        return now + 1; /* waits for a unit */
    if (core->head < core->tail) {
        const struct uop_state *head = uop_at(core, core->head);
        if (head->complete != UNKNOWN && !(head->is.flags & U_WAIT_HEAD) &&
            head->complete + core->machine.complete_to_commit > now)
            next = earlier(next, head->complete + core->machine.complete_to_commit);
    }
    if (core->packet_head != core->packet_end) {
        uint64_t arrives = core->packets[core->packet_head & core->packet_mask].cycle +
                           core->machine.frontend_depth;
        if (arrives > now)
            next = earlier(next, arrives);
    }
    if (core->fetch_resume > now)
        next = earlier(next, core->fetch_resume);
    if (core->store_head < core->store_drain)
        next = earlier(next, core->stores[core->store_head & core->store_mask].release);
    if (core->store_drain < core->store_tail &&
        core->stores[core->store_drain & core->store_mask].uop < core->head &&
        core->drain_resume > now)
        next = earlier(next, core->drain_resume);
    return next;
}

#ifndef NDEBUG
static void check_invariants(const struct core *core) {
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
static bool run(struct core *core, bool all, struct error *error) {
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
        if (core->tail < core->next && (core->tail - core->head < core->machine.rob || core->lives))
            dispatch_stage(core);
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
    struct core *core = context;
    const struct chunk *chunk = &core->chunks[number % CHUNKS];
    core->available = chunk->produced;
    core->available_insns = chunk->produced_insns;
    if (!atomic_load(&core->failed) && !run(core, chunk->all, &core->error))
        atomic_store(&core->failed, true);
}

/* Hands the stream over as far as it is filled. Then the chunk CHUNKS − 1 before has run, so the
 * stream has room for another. */
static bool hand_over(struct core *core, bool all, struct error *error) {
    struct chunk *chunk = &core->chunks[core->handed_over % CHUNKS];
    *chunk = (struct chunk){core->produced, core->produced_insns, 0, all};
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

/* ---- input ---- */

static bool check_input(const struct code *code, const struct dynamic_insn *insn,
                        uint32_t access_count, uint32_t first_access, struct error *error) {
    if (insn->insn >= code->insn_count ||
        (insn->memory_count &&
         (uint64_t)(insn->memory - first_access) + insn->memory_count > access_count))
        return error_set(error, "the trace names an instruction or access that it does not have");
    return true;
}

/* The instruction that waited for its successor. */
static bool take_waiting(struct core *core, const struct dynamic_insn *next, struct error *error) {
    if (!core->is_waiting)
        return true;
    core->is_waiting = false;
    const struct input input = {&core->waiting, core->waiting_accesses};
    while (!predecode_step(core, &input, next))
        if (!hand_over(core, false, error))
            return false;
    return true;
}

static bool keep_waiting(struct core *core, const struct dynamic_insn *insn,
                         const struct memory_access *accesses, uint32_t first_access,
                         struct error *error) {
    uint32_t count = insn->memory_count;
    if (!array_reserve((void **)&core->waiting_accesses, &core->waiting_capacity, count,
                       sizeof *core->waiting_accesses))
        return error_set(error, "out of memory for %u memory accesses", count);
    if (count)
        memcpy(core->waiting_accesses, accesses + (insn->memory - first_access),
               count * sizeof *core->waiting_accesses);
    core->waiting = *insn;
    core->is_waiting = true;
    return true;
}

/* Room in the table for all code there is. */
static bool reserve_known(struct core *core, uint32_t count, struct error *error) {
    if (count <= core->known_count)
        return true;
    if (!array_reserve((void **)&core->known, &core->known_capacity, count, sizeof *core->known))
        return error_set(error, "out of memory for static instructions");
    memset(core->known + core->known_count, 0, (count - core->known_count) * sizeof *core->known);
    core->known_count = count;
    return true;
}

/* Checks the input and prepares what it executes for the first time. */
static bool accept(struct core *core, const struct code *code, const struct dynamic_insn *insns,
                   uint32_t insn_count, uint32_t access_count, uint32_t first_access,
                   struct error *error) {
    core->code = code;
    if ((!core->isa_known && !set_registers(core, code->isa, error)) ||
        !reserve_known(core, code->insn_count, error))
        return false;
    for (uint32_t i = 0; i < insn_count; i++)
        if (!check_input(code, &insns[i], access_count, first_access, error) ||
            (!core->known[insns[i].insn].uops && !prepare(core, insns[i].insn, error)))
            return false;
    return true;
}

bool core_push(struct core *core, const struct code *code, const struct dynamic_insn *insns,
               uint32_t insn_count, const struct memory_access *accesses, uint32_t access_count,
               uint32_t first_access, struct error *error) {
    if (insn_count == 0)
        return true;
    if (!accept(core, code, insns, insn_count, access_count, first_access, error) ||
        !take_waiting(core, insns, error))
        return false;
    uint32_t last = insn_count - 1, done = 0;
    while ((done += predecode_run(core, insns + done, last - done, accesses, first_access)) < last)
        if (!hand_over(core, false, error))
            return false;
    return keep_waiting(core, &insns[last], accesses, first_access, error);
}

bool core_drain(struct core *core, struct error *error) {
    return core->code == NULL || (take_waiting(core, NULL, error) && hand_over(core, true, error));
}

bool core_finish(struct core *core, struct error *error) {
    if (!core_drain(core, error))
        return false;
    return !core->tap || tap_flush(core->tap, &core->tap_state, &core->buffer, error);
}

/* ---- warming ---- */

static void subtract_branch(struct branch_statistics *from, const struct branch_statistics *what) {
    uint64_t *a = (uint64_t *)from;
    const uint64_t *b = (const uint64_t *)what;
    for (size_t i = 0; i < sizeof *from / sizeof *a; i++)
        a[i] -= b[i];
}

bool core_warm(struct core *core, const struct code *code, const struct dynamic_insn *insns,
               uint32_t insn_count, const struct memory_access *accesses, uint32_t access_count,
               uint32_t first_access, struct error *error) {
    if (!core_drain(core, error))
        return false;
    for (uint32_t i = 0; i < insn_count; i++)
        if (!check_input(code, &insns[i], access_count, first_access, error))
            return false;
    struct branch_statistics before, after;
    branch_statistics(core->predictor, &before);
    uint64_t line = UNKNOWN;
    for (uint32_t i = 0; i < insn_count; i++) {
        const struct static_insn *insn = &code->insns[insns[i].insn];
        if (insn->address >> core->fetch_line_shift != line) {
            line = insn->address >> core->fetch_line_shift;
            memory_warm_fetch(core->memory, insn->address);
        }
        for (uint32_t k = 0; k < insns[i].memory_count; k++) {
            const struct memory_access *access = &accesses[insns[i].memory - first_access + k];
            memory_warm_load(core->memory, access->address, access->size_bytes, access->is_store);
        }
        if (insn->branch != BRANCH_NONE && i + 1 < insn_count)
            branch_predict(core->predictor, insn->address, insn->branch, insn->length,
                           insns[i].flags & DYN_TAKEN, code->insns[insns[i + 1].insn].address);
    }
    core->last_begin = core->last_end = UNKNOWN;
    branch_statistics(core->predictor, &after);
    subtract_branch(&after, &before);
    uint64_t *warmed = (uint64_t *)&core->warmed_branch;
    for (size_t i = 0; i < sizeof after / sizeof *warmed; i++)
        warmed[i] += ((const uint64_t *)&after)[i];
    return true;
}

void core_statistics(const struct core *core, struct core_statistics *statistics) {
    wait_for_pipeline(core);
    *statistics = core->statistics;
    statistics->cycles = core->last_commit;
    branch_statistics(core->predictor, &statistics->branch);
    subtract_branch(&statistics->branch, &core->warmed_branch);
    memory_statistics(core->memory, &statistics->memory);
}
