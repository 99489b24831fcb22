#include "simulate/paired.h"

#include <math.h>

struct pairs {
    const struct region_sample *before, *after;
    uint32_t count;
    double ratio; /* of the runs' cycles */
};

/* Cycles per instruction of the second run's regions of a cluster. */
static double later_cpi(const struct pairs *pairs, uint32_t cluster) {
    double cycles = 0, instructions = 0;
    for (uint32_t i = 0; i < pairs->count; i++)
        if (pairs->before[i].cluster == cluster) {
            cycles += (double)pairs->after[i].cycles;
            instructions += (double)pairs->after[i].instructions;
        }
    return cycles / instructions;
}

/* What is left open of a pair, when the second run takes `ratio` times the cycles of the first. */
static double residual(const struct region_sample *before, const void *context) {
    const struct pairs *pairs = context;
    const struct region_sample *after = &pairs->after[before - pairs->before];
    return (double)after->cycles - later_cpi(pairs, before->cluster) * (double)after->instructions -
           pairs->ratio * (double)before->cycles;
}

static double later_instructions(const struct region_sample *before, const void *context) {
    const struct pairs *pairs = context;
    return (double)pairs->after[before - pairs->before].instructions;
}

static double times(const struct region_sample *sample) {
    return (double)sample->stands_for / (double)sample->instructions;
}

bool paired_difference_of(const struct simulation *before, const struct simulation *after,
                          struct paired_difference *difference) {
    const struct simulation_regions *first = &before->regions, *second = &after->regions;
    if (!first->samples || !second->samples || first->simulated != second->simulated)
        return false;
    const struct pairs pairs = {first->samples, second->samples, first->simulated,
                                (double)after->cycles / (double)before->cycles};
    double instructions = 0;
    for (uint32_t i = 0; i < first->simulated; i++)
        instructions += times(&pairs.before[i]) * (double)pairs.after[i].instructions;
    const double half = estimate_spread(pairs.before, first->simulated, residual, &pairs);
    *difference = (struct paired_difference){
        .share = pairs.ratio - 1,
        .half = half < 0 ? half
                         : half / (double)before->cycles + ESTIMATE_SHARED * fabs(pairs.ratio - 1),
        .instructions = instructions,
        .instructions_half =
            estimate_spread(pairs.before, first->simulated, later_instructions, &pairs)};
    return true;
}
