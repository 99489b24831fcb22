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

bool check_pair_add(struct check_pair *pair, const struct core_input *input, struct error *error) {
    return core_push(pair->real, input, error) && core_push(pair->ideal, input, error);
}

bool check_pair_warm(struct check_pair *pair, const struct core_input *input, struct error *error) {
    return core_warm(pair->real, input, error) && core_warm(pair->ideal, input, error);
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
