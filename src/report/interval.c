/* What else than regions a run was sampled with knows no figure but all cycles, so that of such a
 * run nothing is told. */
#include "report/interval.h"

#include "util/array.h"

struct share {
    const struct stack_figure *figure;
    double of_cycles;
};

struct stack_figure figure_of_component(enum component component) {
    struct stack_figure figure = {.has_state = false};
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++)
        figure.signatures[psv] = component_of(psv) == component;
    return figure;
}

struct stack_figure figure_of_state(enum commit_state state) {
    return (struct stack_figure){.has_state = true, .state = state};
}

static double cycles_of(const struct region_sample *sample, const void *context) {
    const struct stack_figure *figure = context;
    if (figure->has_state)
        return (double)sample->states[figure->state];
    const uint64_t units =
        sum_over(uint64_t, psv, PSV_COMBINATIONS, figure->signatures[psv] ? sample->units[psv] : 0);
    return (double)units / CYCLE_UNITS;
}

/* What is left when the run's share of the region's cycles is taken away. */
static double beyond_share(const struct region_sample *sample, const void *context) {
    const struct share *share = context;
    return cycles_of(sample, share->figure) - share->of_cycles * (double)sample->cycles;
}

static bool is_known(const struct simulation *simulation) {
    return simulation->regions.samples && simulation->levels == 0 && simulation->cycles;
}

double interval_of_cycles(const struct simulation *simulation, const struct stack_figure *figure) {
    const struct simulation_regions *regions = &simulation->regions;
    return is_known(simulation)
               ? estimate_interval(regions->samples, regions->simulated, cycles_of, figure)
               : -1;
}

double interval_of_share(const struct simulation *simulation, const struct stack_figure *figure) {
    const struct simulation_regions *regions = &simulation->regions;
    if (!is_known(simulation))
        return -1;
    struct share share = {.figure = figure};
    double all = 0;
    for (uint32_t i = 0; i < regions->simulated; i++) {
        const struct region_sample *sample = &regions->samples[i];
        double weight = (double)sample->stands_for / (double)sample->instructions;
        share.of_cycles += weight * cycles_of(sample, figure);
        all += weight * (double)sample->cycles;
    }
    share.of_cycles /= all;
    double half = estimate_interval(regions->samples, regions->simulated, beyond_share, &share);
    return half < 0 ? half : half / all;
}
