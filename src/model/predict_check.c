#include "model/predict_check.h"

#include "core/core.h"

enum { IDEAL_FRONT = IDEAL_IMISS | IDEAL_BMISP };

bool check_pair_new(struct check_pair *pair, const struct machine *machine,
                    struct executor *const executors[2], struct error *error) {
    const struct core_options real = {.ideal = IDEAL_FRONT, .executor = executors[0]};
    const struct core_options ideal = {.ideal = IDEAL_FRONT | IDEAL_DLONG,
                                       .executor = executors[1]};
    pair->real = core_new(machine, &real, error);
    pair->ideal = pair->real ? core_new(machine, &ideal, error) : NULL;
    return pair->ideal != NULL;
}

void check_pair_free(struct check_pair *pair) {
    if (pair->real)
        core_free(pair->real);
    if (pair->ideal)
        core_free(pair->ideal);
    *pair = (struct check_pair){0};
}

static bool push(struct core *core, const struct code *code, const struct trace_batch *batch,
                 struct error *error) {
    return core_push(core, code, batch->insns, batch->insn_count, batch->accesses,
                     batch->access_count, (uint32_t)batch->first_access, error);
}

bool check_pair_add(struct check_pair *pair, const struct code *code,
                    const struct trace_batch *batch, struct error *error) {
    return push(pair->real, code, batch, error) && push(pair->ideal, code, batch, error);
}

static bool warm(struct core *core, const struct code *code, const struct trace_batch *batch,
                 struct error *error) {
    return core_warm(core, code, batch->insns, batch->insn_count, batch->accesses,
                     batch->access_count, (uint32_t)batch->first_access, error);
}

bool check_pair_warm(struct check_pair *pair, const struct code *code,
                     const struct trace_batch *batch, struct error *error) {
    return warm(pair->real, code, batch, error) && warm(pair->ideal, code, batch, error);
}

bool check_pair_finish(struct check_pair *pair, uint64_t *cycles, uint64_t *cycles_ideal_long,
                       struct error *error) {
    struct core_statistics statistics;
    if (!core_finish(pair->real, error) || !core_finish(pair->ideal, error))
        return false;
    core_statistics(pair->real, &statistics);
    *cycles += statistics.cycles;
    core_statistics(pair->ideal, &statistics);
    *cycles_ideal_long += statistics.cycles;
    return true;
}
