/* The core's outside: set-up with idealisations applied, the window of input, and the clock. */
#include "core/ooo/ooo.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
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
    machine->fetch_bytes = 0;
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
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        core->pool_pipelined[pool] = true;
    for (unsigned operation = 1; operation < OP_COUNT; operation++)
        if (core->classes[operation].interval > 1)
            core->pool_pipelined[core->classes[operation].pool] = false;
    /* µops on their way through the front end, and the buffer behind it. */
    core->fetch_capacity = core->machine.fetch_buffer + 2 * INSN_MAX_UOPS +
                           core->machine.frontend_depth * core->machine.dispatch_width;
}

static bool allocate(struct core *core, bool lives) {
    uint32_t ring = power_of_two((uint64_t)core->machine.rob + core->fetch_capacity + 1);
    core->mask = ring - 1;
    core->uops = calloc(ring, sizeof *core->uops);
    core->fresh = calloc(ring, sizeof *core->fresh);
    bool room = core->uops && core->fresh;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        room &= (core->ready[queue].uops = calloc(ring, sizeof(uint64_t))) != NULL;
    if (lives)
        room &= (core->lives = calloc(ring, sizeof *core->lives)) != NULL;
    uint32_t stores = power_of_two(core->machine.store_queue);
    core->store_mask = stores - 1;
    room &= (core->stores = calloc(stores, sizeof *core->stores)) != NULL;
    uint32_t insns = power_of_two((uint64_t)ring + 2 * TRACE_BATCH_INSNS);
    core->insn_mask = insns - 1;
    room &= (core->insns = calloc(insns, sizeof *core->insns)) != NULL;
    uint32_t accesses = power_of_two(4 * (uint64_t)ring + 2 * TRACE_BATCH_ACCESSES);
    core->access_mask = accesses - 1;
    room &= (core->accesses = calloc(accesses, sizeof *core->accesses)) != NULL;
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
    core->fetch_line[0] = core->fetch_line[1] = UNKNOWN;
    calendar_clear(core);
    return core;
}

void core_free(struct core *core) {
    if (!core)
        return;
    memory_free(core->memory);
    branch_free(core->predictor);
    for (uint32_t queue = 0; queue < MACHINE_MAX_QUEUES; queue++)
        free(core->ready[queue].uops);
    free(core->uops);
    free(core->fresh);
    free(core->lives);
    free(core->stores);
    free(core->insns);
    free(core->accesses);
    free(core->prepared);
    free(core);
}

/* ---- static code ---- */

static uint32_t prepare_flags(const struct core *core, const struct static_insn *insn,
                              const struct uop *uop, bool first) {
    bool last = uop->flags & UOP_LAST;
    uint32_t flags = last ? U_LAST : 0;
    if (uop->operation == OP_LOAD)
        flags |= U_LOAD;
    if (uop->operation == OP_STORE)
        flags |= U_STORE;
    if (uop->flags & UOP_BRANCH)
        flags |= U_BRANCH;
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

/* Looks up what new static instructions need on this machine. */
static bool prepare(struct core *core, const struct code *code, struct error *error) {
    core->code = code;
    if (core->prepared_insns == code->insn_count)
        return true;
    if (!array_reserve((void **)&core->prepared, &core->prepared_capacity, code->uop_count,
                       sizeof *core->prepared))
        return error_set(error, "out of memory for %u static µops", code->uop_count);
    if (!core->isa_known) {
        uint32_t integer = code->isa == ISA_X86_64 ? 16 : 32, fp = 32;
        const struct machine_core *machine = &core->machine;
        core->int_available =
            machine->int_registers ? machine->int_registers - integer : UINT32_MAX;
        core->fp_available = machine->fp_registers ? machine->fp_registers - fp : UINT32_MAX;
        if ((machine->int_registers && machine->int_registers <= integer) ||
            (machine->fp_registers && machine->fp_registers <= fp))
            return error_set(error,
                             "machine: %u and %u physical registers do not hold the "
                             "architectural state: core.int_registers above %u and "
                             "core.fp_registers above %u are needed",
                             machine->int_registers, machine->fp_registers, integer, fp);
        core->isa_known = true;
    }
    for (uint32_t i = core->prepared_insns; i < code->insn_count; i++) {
        const struct static_insn *insn = &code->insns[i];
        for (uint32_t k = 0; k < insn->uop_count; k++) {
            const struct uop *uop = &code->uops[insn->first_uop + k];
            struct prepared *prepared = &core->prepared[insn->first_uop + k];
            prepared->flags = prepare_flags(core, insn, uop, k == 0);
            prepared->pool = (uint8_t)core->classes[uop->operation].pool;
            prepared->queue = prepared->flags & U_ELIMINATED
                                  ? NO_QUEUE
                                  : (uint8_t)core->pools[prepared->pool].queue;
        }
    }
    core->prepared_insns = code->insn_count;
    return true;
}

/* ---- the clock ---- */

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Nothing happened in this cycle: the next one in which something can. */
static uint64_t next_cycle(struct core *core) {
    uint64_t now = core->cycle, next = calendar_next(core);
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        if (core->ready[queue].count)
            return now + 1; /* waits for a unit */
    if (core->head < core->tail) {
        const struct uop_state *head = uop_at(core, core->head);
        if (head->complete != UNKNOWN && !(head->flags & U_WAIT_HEAD) &&
            head->complete + core->machine.complete_to_commit > now)
            next = earlier(next, head->complete + core->machine.complete_to_commit);
    }
    if (core->tail < core->next) {
        uint64_t arrives = uop_at(core, core->tail)->fetched + core->machine.frontend_depth;
        if (arrives > now)
            next = earlier(next, arrives);
    }
    if (core->fetch_resume > now)
        next = earlier(next, core->fetch_resume);
    if (core->store_head < core->store_drain)
        next = earlier(next, core->stores[core->store_head & core->store_mask].release);
    if (core->store_drain < core->store_tail &&
        core->stores[core->store_drain & core->store_mask].committed && core->drain_resume > now)
        next = earlier(next, core->drain_resume);
    return next;
}

#ifndef NDEBUG
static void check_invariants(const struct core *core) {
    assert(core->head <= core->tail && core->tail <= core->next);
    assert(core->tail - core->head <= core->machine.rob);
    assert(core->next - core->tail <= core->fetch_capacity);
    assert(core->loads_used <= core->machine.load_queue);
    assert(core->store_tail - core->store_head <= core->machine.store_queue);
    assert(core->int_used <= core->int_available && core->fp_used <= core->fp_available);
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        assert(core->queue_used[queue] <= core->queues[queue].entries);
    if (core->tail == core->head) {
        assert(core->loads_used == 0 && core->int_used == 0 && core->fp_used == 0);
        assert(core->branches_used == 0);
    }
}
#endif

/* Steps until the input that fetch may need in one cycle is no longer there, or with `all` until
 * every µop has committed. So batches' boundaries change nothing. */
static bool run(struct core *core, bool all, struct error *error) {
    uint64_t lookahead = all ? 1 : core->machine.fetch_width + 2;
    for (;;) {
        if (core->insn_end - core->fetch_insn < lookahead && (!all || core->head == core->next))
            return true;
        core->cycle++;
        core->progress = false;
        commit_stage(core);
        drain_stage(core);
        calendar_deliver(core);
        issue_stage(core);
        dispatch_stage(core);
        fetch_stage(core);
#ifndef NDEBUG
        check_invariants(core);
#endif
        if (core->failed) {
            *error = core->error;
            return false;
        }
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

/* ---- input ---- */

/* Appends as many instructions as the window has room for; returns how many. */
static uint32_t append(struct core *core, const struct dynamic_insn *insns, uint32_t count,
                       const struct memory_access *accesses, uint32_t first_access) {
    uint32_t i = 0;
    for (; i < count; i++) {
        const struct dynamic_insn *insn = &insns[i];
        if (core->insn_end - core->insn_head > core->insn_mask ||
            core->access_end - core->access_head + insn->memory_count > core->access_mask)
            break;
        struct dynamic_insn *copy = &core->insns[core->insn_end++ & core->insn_mask];
        *copy = *insn;
        copy->memory = (uint32_t)core->access_end;
        for (uint32_t k = 0; k < insn->memory_count; k++)
            core->accesses[core->access_end++ & core->access_mask] =
                accesses[insn->memory - first_access + k];
    }
    return i;
}

static bool check_input(const struct code *code, const struct dynamic_insn *insns, uint32_t count,
                        uint32_t access_count, uint32_t first_access, struct error *error) {
    for (uint32_t i = 0; i < count; i++)
        if (insns[i].insn >= code->insn_count ||
            (insns[i].memory_count &&
             (uint64_t)(insns[i].memory - first_access) + insns[i].memory_count > access_count))
            return error_set(error,
                             "the trace names an instruction or access that it does not have");
    return true;
}

bool core_push(struct core *core, const struct code *code, const struct dynamic_insn *insns,
               uint32_t insn_count, const struct memory_access *accesses, uint32_t access_count,
               uint32_t first_access, struct error *error) {
    if (!check_input(code, insns, insn_count, access_count, first_access, error) ||
        !prepare(core, code, error))
        return false;
    for (;;) {
        uint32_t taken = append(core, insns, insn_count, accesses, first_access);
        insns += taken;
        insn_count -= taken;
        if (!run(core, false, error))
            return false;
        if (insn_count == 0)
            return true;
        if (taken == 0)
            return error_set(error,
                             "an instruction has more memory accesses than the window holds");
    }
}

bool core_drain(struct core *core, struct error *error) {
    return core->code == NULL || run(core, true, error);
}

bool core_finish(struct core *core, struct error *error) {
    if (!core_drain(core, error))
        return false;
    return !core->tap || tap_flush(core->tap, &core->tap_state, error);
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
    if (!core_drain(core, error) ||
        !check_input(code, insns, insn_count, access_count, first_access, error))
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
    core->fetch_line[0] = core->fetch_line[1] = UNKNOWN;
    branch_statistics(core->predictor, &after);
    subtract_branch(&after, &before);
    uint64_t *warmed = (uint64_t *)&core->warmed_branch;
    for (size_t i = 0; i < sizeof after / sizeof *warmed; i++)
        warmed[i] += ((const uint64_t *)&after)[i];
    return true;
}

void core_statistics(const struct core *core, struct core_statistics *statistics) {
    *statistics = core->statistics;
    statistics->cycles = core->last_commit;
    branch_statistics(core->predictor, &statistics->branch);
    subtract_branch(&statistics->branch, &core->warmed_branch);
    memory_statistics(core->memory, &statistics->memory);
}
