/* The core's door: batches of dynamic instructions are checked, prepared and predecoded; or warm
 * the caches, TLBs and predictors only. */
#include "core/ooo/ooo.h"

#include <string.h>

#include "util/array.h"

/* One branch for all: which instruction accesses memory follows no pattern. */
static bool check_input(const struct code *code, const struct dynamic_insn *insn,
                        uint32_t access_count, uint32_t first_access, struct error *error) {
    uint64_t accesses_end = (uint64_t)(insn->memory - first_access) + insn->memory_count;
    if ((insn->insn >= code->insn_count) |
        ((insn->memory_count != 0) & (accesses_end > access_count)))
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
    static const struct memory_access none;
    if (insn_count == 0)
        return true;
    if (access_count == 0)
        accesses = &none;
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
    struct error late;
    bool good = core_drain(core, error);
    wait_for_pipeline(core);
    return (!core->tap ||
            tap_flush(core->tap, &core->tap_state, &core->buffer, good ? error : &late)) &&
           good;
}

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
