/* The core's door: batches of dynamic instructions are checked, prepared and predecoded; or warm
 * the caches, TLBs and predictors only. */
#include "core/ooo/ooo.h"

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

/* Checks the input and prepares what it executes for the first time. */
static bool accept(struct ooo *core, const struct code *code, const struct dynamic_insn *insns,
                   uint32_t insn_count, uint32_t access_count, uint32_t first_access,
                   struct error *error) {
    core->code = code;
    if ((!core->isa_known && !set_registers(core, code->isa, error)) ||
        !reserve_known(core, code->insn_count, error))
        return false;
    for (uint32_t i = 0; i < insn_count; i++) {
        if (!core_input_is_there(code, &insns[i], access_count, first_access))
            return core_input_error(error);
        if (!core->known[insns[i].insn].uops && !prepare(core, insns[i].insn, error))
            return false;
    }
    return true;
}

bool ooo_push(struct ooo *core, const struct code *code, const struct dynamic_insn *insns,
              uint32_t insn_count, const struct memory_access *accesses, uint32_t access_count,
              uint32_t first_access, struct error *error) {
    static const struct memory_access none;
    if (insn_count == 0)
        return true;
    if (access_count == 0)
        accesses = &none;
    if (!accept(core, code, insns, insn_count, access_count, first_access, error))
        return false;
    branch_follow(core->predictor, code->insns[insns[0].insn].address);
    if (!take_waiting(core, insns, error))
        return false;
    uint32_t last = insn_count - 1, done = 0;
    while ((done += predecode_run(core, insns + done, last - done, accesses, first_access)) < last)
        if (!hand_over(core, false, error))
            return false;
    return keep_waiting(core, &insns[last], accesses, first_access, error);
}

bool ooo_drain(struct ooo *core, struct error *error) {
    return core->code == NULL || (take_waiting(core, NULL, error) && hand_over(core, true, error));
}

bool ooo_finish(struct ooo *core, struct error *error) {
    struct error late;
    bool good = ooo_drain(core, error);
    wait_for_pipeline(core);
    return (!core->tap ||
            tap_flush(core->tap, &core->tap_state, &core->buffer, good ? error : &late)) &&
           good;
}

bool ooo_warm(struct ooo *core, const struct code *code, const struct dynamic_insn *insns,
              uint32_t insn_count, const struct memory_access *accesses, uint32_t access_count,
              uint32_t first_access, struct error *error) {
    const struct core_learned learned = {core->memory, core->predictor};
    if (!ooo_drain(core, error))
        return false;
    core->last_begin = core->last_end = UNKNOWN;
    return core_warm_learned(&learned, core->fetch_line_shift, code, insns, insn_count, accesses,
                             access_count, first_access, &core->warmed_branch, error);
}

void ooo_statistics(const struct ooo *core, struct core_statistics *statistics) {
    wait_for_pipeline(core);
    *statistics = core->statistics;
    statistics->cycles = core->last_commit;
    branch_statistics(core->predictor, &statistics->branch);
    core_subtract_branches(&statistics->branch, &core->warmed_branch);
    memory_statistics(core->memory, &statistics->memory);
}
