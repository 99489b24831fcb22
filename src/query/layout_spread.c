#include "query/layout_spread.h"

#include <math.h>
#include <stdlib.h>

struct layout_cycles layout_cycles_of(const struct simulation *simulation) {
    const uint64_t together = simulation->together.cycles;
    return (struct layout_cycles){.known = true,
                                  .cycles = together ? together : simulation->cycles,
                                  .instructions = simulation->executed,
                                  .half_interval = simulation_interval(simulation)};
}

static void note_extremes(const struct layout_cycles *layout, uint32_t number,
                          struct layout_spread *spread) {
    if (!spread->count || layout->cycles < spread->least_cycles) {
        spread->least = number;
        spread->least_cycles = layout->cycles;
    }
    if (!spread->count || layout->cycles > spread->most_cycles) {
        spread->most = number;
        spread->most_cycles = layout->cycles;
    }
}

static double add_half(double sum, double half) {
    return sum < 0 || half < 0 ? -1 : sum + half;
}

bool layout_spread_of(const struct layout_cycles *layouts, uint32_t count,
                      struct layout_spread *spread) {
    double *values = malloc(count * sizeof *values);
    *spread = (struct layout_spread){0};
    for (uint32_t i = 0; values && i < count; i++) {
        if (!layouts[i].known)
            continue;
        note_extremes(&layouts[i], i, spread);
        spread->half_interval = add_half(spread->half_interval, layouts[i].half_interval);
        values[spread->count++] = (double)layouts[i].cycles;
    }
    if (values && spread->count) {
        spread->median = median_of(values, spread->count);
        spread->percent =
            100 * (double)(spread->most_cycles - spread->least_cycles) / spread->median;
        if (spread->half_interval > 0)
            spread->half_interval /= spread->count;
    }
    free(values);
    return values != NULL;
}

bool layout_difference_of(const struct layout_cycles *before, const struct layout_cycles *after,
                          uint32_t count, struct layout_difference *difference) {
    double *values = malloc(count * sizeof *values), squares = 0;
    *difference = (struct layout_difference){0};
    for (uint32_t i = 0; values && i < count; i++) {
        if (!before[i].known || !after[i].known)
            continue;
        const double cycles = (double)before[i].cycles;
        const double halves[] = {before[i].half_interval, after[i].half_interval};
        values[difference->count++] = 100 * ((double)after[i].cycles / cycles - 1);
        for (int side = 0; side < 2; side++)
            squares = squares < 0 || halves[side] < 0
                          ? -1
                          : squares + 1e4 * halves[side] * halves[side] / (cycles * cycles);
    }
    if (values && difference->count) {
        difference->percent = median_interval_of(values, difference->count);
        difference->least = values[0];
        difference->most = values[difference->count - 1];
        difference->estimate = squares < 0 ? -1 : sqrt(squares / difference->count);
    }
    free(values);
    return values != NULL;
}

double layout_difference_low(const struct layout_difference *difference) {
    return difference->percent.low - fmax(0, difference->estimate);
}

double layout_difference_high(const struct layout_difference *difference) {
    return difference->percent.high + fmax(0, difference->estimate);
}
