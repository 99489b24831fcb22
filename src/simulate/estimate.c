/* Clusters are few and regions some hundred, so a cluster's regions are found by looking at all. */
#include "simulate/estimate.h"

#include <math.h>

#include "simulate/simulate.h"
#include "util/array.h"
#include "util/student.h"

/* Regions of one cluster, or of several together. */
struct spread {
    size_t regions;
    double squares;  /* s², of the figure per instruction */
    double cpi;      /* mean of the regions */
    double leverage; /* Σ W² (1 − w / W) */
    double degrees;
    double cycles; /* all, of what they stand for */
};

struct estimate {
    const struct region_sample *samples;
    size_t count;
    region_figure *figure;
    const void *context;
};

double region_cycles(const struct region_sample *sample, const void *nothing) {
    (void)nothing;
    return (double)sample->cycles;
}

static bool is_first(const struct estimate *estimate, size_t number) {
    return !any_where(i, number, estimate->samples[i].cluster == estimate->samples[number].cluster);
}

static struct spread spread_of(const struct estimate *estimate, uint32_t cluster) {
    struct spread spread = {0};
    double before = 0;
    for (size_t i = 0; i < estimate->count; i++) {
        const struct region_sample *sample = &estimate->samples[i];
        if (sample->cluster != cluster)
            continue;
        double instructions = (double)sample->instructions, stands_for = (double)sample->stands_for;
        double figure = estimate->figure(sample, estimate->context) / instructions;
        if (spread.regions)
            spread.squares += (figure - before) * (figure - before);
        if (stands_for > instructions)
            spread.leverage += stands_for * (stands_for - instructions);
        spread.cpi += (double)sample->cycles / instructions;
        spread.cycles += (double)sample->cycles / instructions * stands_for;
        spread.regions++;
        before = figure;
    }
    double n = (double)spread.regions;
    spread.cpi /= n;
    if (spread.regions > 1) {
        spread.squares /= 2 * (n - 1);
        spread.degrees = 2 * (n - 1) * (n - 1) / (3 * n - 4);
    }
    return spread;
}

/* *cycles: of all, 0 where each region stands for itself alone. */
static double find_spread(const struct estimate *all, double *cycles) {
    const struct estimate estimate = *all;
    const struct region_sample *samples = estimate.samples;
    const size_t count = estimate.count;
    double variance = 0, of_variance = 0, pooled = 0, degrees = 0, lone = 0, leverage = 0;
    *cycles = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_first(&estimate, i))
            continue;
        struct spread spread = spread_of(&estimate, samples[i].cluster);
        *cycles += spread.cycles;
        leverage += spread.leverage;
        if (spread.regions == 1) {
            lone += spread.leverage * spread.cpi * spread.cpi;
            continue;
        }
        double part = spread.squares * spread.leverage;
        variance += part;
        of_variance += part * part / spread.degrees;
        if (spread.cpi > 0)
            pooled += spread.degrees * spread.squares / (spread.cpi * spread.cpi);
        degrees += spread.degrees;
    }
    if (lone > 0) {
        if (degrees == 0)
            return -1;
        double part = lone * pooled / degrees;
        variance += part;
        of_variance += part * part / degrees;
    }
    if (leverage <= 0)
        *cycles = 0;
    return leverage > 0 && variance > 0
               ? student_t95(variance * variance / of_variance) * sqrt(variance)
               : 0;
}

double estimate_spread(const struct region_sample *samples, size_t count, region_figure *figure,
                       const void *context) {
    const struct estimate estimate = {samples, count, figure, context};
    double cycles;
    return find_spread(&estimate, &cycles);
}

double estimate_interval(const struct region_sample *samples, size_t count, region_figure *figure,
                         const void *context) {
    const struct estimate estimate = {samples, count, figure, context};
    double cycles;
    const double half = find_spread(&estimate, &cycles);
    return half < 0 ? half : half + ESTIMATE_SHARED * cycles;
}

/* The two parts of a run are independent of each other. */
double simulation_interval(const struct simulation *simulation) {
    const struct simulation_regions *regions = &simulation->regions;
    double windows = sampling_interval(&simulation->spread), by_regions = 0;
    if (regions->count)
        by_regions = regions->samples ? estimate_interval(regions->samples, regions->simulated,
                                                          region_cycles, NULL)
                                      : -1;
    return windows < 0 || by_regions < 0 ? -1 : hypot(windows, by_regions);
}
