/* The core's door: batches of dynamic instructions are checked, prepared and predecoded; or warm
 * the caches, TLBs and predictors only. */
#include "core/ooo/loads_stores.h"

#include <string.h>

#include "util/array.h"

/* The instruction that waited for its successor. */
static bool take_waiting(struct ooo *core, const struct dynamic_insn *next, struct error *error) {
    if (!core->is_waiting)
        return true;
    core->is_waiting = false;
    const struct input input = {&core->waiting, core->waiting_accesses};
    while (!predecode_step(core, &input, next))
        if (!hand_over(core, false, error))
            return false;
    return true;
}

static bool keep_waiting(struct ooo *core, const struct dynamic_insn *insn,
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
static bool reserve_known(struct ooo *core, uint32_t count, struct error *error) {
    if (count <= core->known_count)
        return true;
    if (!array_reserve((void **)&core->known, &core->known_capacity, count, sizeof *core->known))
        return error_set(error, "out of memory for static instructions");
    memset(core->known + core->known_count, 0, (count - core->known_count) * sizeof *core->known);
    core->known_count = count;
    return true;
}

bool ooo_push(struct ooo *core, const struct core_input *input, struct error *error) {
    static const struct memory_access none;
    struct core_input batch = *input;
    const uint32_t last = batch.insn_count - 1;
    if (batch.insn_count == 0)
        return true;
    if (batch.access_count == 0)
        batch.accesses = &none;
    core->code = batch.code;
    if ((!core->isa_known && !set_registers(core, batch.code->isa, error)) ||
        !reserve_known(core, batch.code->insn_count, error) ||
        !meet_insn(core, batch.insns->insn, error))
        return false;
    branch_follow(core->predictor, core->code->insns[batch.insns->insn].address);
    if (!take_waiting(core, batch.insns, error))
        return false;
    for (uint32_t at = 0;;) {
        if (!predecode_run(core, &batch, &at, last, error))
            return false;
        if (at == last)
            break;
        if (!hand_over(core, false, error))
            return false;
    }
    if (!core_input_is_there(core->code, &batch.insns[last], batch.access_count,
                             batch.first_access))
        return core_input_error(error);
    return keep_waiting(core, &batch.insns[last], batch.accesses, batch.first_access, error);
}

bool ooo_drain(struct ooo *core, struct error *error) {
    return core->code == NULL || (take_waiting(core, NULL, error) && hand_over(core, true, error));
}

/* ---- one of several ---- */

static bool is_empty(const struct ooo *core) {
    return core->next == core->produced && !core->is_waiting;
}

enum core_state ooo_run(struct ooo *core, uint64_t until, uint64_t others, bool all,
                        struct error *error) {
    if (core->code == NULL)
        return all ? CORE_EMPTY : CORE_STARVED;
    if (all && !take_waiting(core, NULL, error))
        return CORE_FAILED;
    core->until = until;
    core->others = others;
    core->waits_until = 0;
    core->available = core->produced;
    run_timing(core, all);
    core->until = core->others = UNKNOWN;
    if (atomic_load(&core->failed)) {
        *error = core->error;
        return CORE_FAILED;
    }
    const uint64_t left = core->produced - core->next;
    if (left > (all ? 0 : core->lookahead))
        return CORE_PAUSED;
    core->chunk_start = core->produced;
    core->gather_start = core->gather_end;
    return all ? CORE_EMPTY : CORE_STARVED;
}

/* What it wrote on its way out is in the cache it leaves. */
void ooo_move(struct ooo *core, struct memory *memory) {
    assert(is_empty(core) && core->one_of_several);
    while (core->drained < core->now.stores)
        drain_one(core);
    core->memory = memory;
}

void ooo_succeed(struct ooo *core, struct ooo *before) {
    assert(is_empty(core) && core->memory == before->memory);
    ooo_move(before, before->memory);
    branch_free(core->predictor);
    core->predictor = before->predictor;
    before->predictor = NULL;
    memcpy(core->wait_table, before->wait_table, sizeof core->wait_table);
    memcpy(core->predicted, before->predicted, sizeof core->predicted);
}

uint64_t ooo_cycle(const struct ooo *core) {
    return is_empty(core) ? core->now.commit : later(core->now.dispatch, core->waits_until);
}

uint64_t ooo_earliest(const struct ooo *core) {
    return is_empty(core) ? core->now.commit : lesser(core->now.packet_cycle, core->drain_due);
}

void ooo_wait_until(struct ooo *core, uint64_t cycle) {
    struct standing *now = &core->now;
    assert(is_empty(core));
    if (cycle <= now->commit)
        return;
    core->idle += cycle - now->commit;
    now->commit = cycle;
    resume_fetch(now, later(now->fetch_resume, cycle));
    core->last_close = cycle;
}

bool ooo_finish(struct ooo *core, struct error *error) {
    struct error late;
    bool good = ooo_drain(core, error);
    wait_for_pipeline(core);
    if (core->tap)
        good &= tap_flush(core->tap, &core->tap_state, &core->buffer, good ? error : &late);
    open_buffer(core);
    return good;
}

bool ooo_warm(struct ooo *core, const struct core_input *input, struct error *error) {
    const struct core_learned learned = {core->memory, core->predictor};
    if (!ooo_drain(core, error))
        return false;
    core->last_begin = core->last_end = UNKNOWN;
    return core_warm_learned(&learned, core->fetch_line_shift, core->machine.fuse_compare_branch,
                             input, &core->warmed_branch, error);
}

void ooo_statistics(const struct ooo *core, struct core_statistics *statistics) {
    wait_for_pipeline(core);
    *statistics = core->statistics;
    statistics->cycles = core->now.commit - core->idle;
    statistics->instructions = core->now.insns + core->now.fused;
    statistics->uops = core->next;
    statistics->loads = core->now.held[HELD_LOAD];
    statistics->stores = core->now.stores;
    if (core->predictor)
        branch_statistics(core->predictor, &statistics->branch);
    core_subtract_branches(&statistics->branch, &core->warmed_branch);
    memory_statistics(core->memory, &statistics->memory);
}
