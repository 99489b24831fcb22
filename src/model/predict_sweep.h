/* Processors to predict: values of up to four figures of a machine, every combination.
 *
 *     predict_sweep_add(&sweep, "rob=64,128 mshr=4,8,0", &error)       once or more
 *     predict_sweep_build(&sweep, &machine, &machines, &count, &error)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "util/error.h"

/* rob: reorder buffer; queues and registers grow with it in proportion. mshr: MSHRs of the L1D, 0
 * unlimited; the levels beyond then have no limit. latency: of memory, cycles, always the same.
 * prefetch: the L1D's prefetcher; the levels beyond then have none. */
enum predict_axis { AXIS_ROB, AXIS_MSHR, AXIS_LATENCY, AXIS_PREFETCH, AXIS_COUNT };
const char *predict_axis_name(enum predict_axis axis);

enum { SWEEP_VALUES = 16, SWEEP_MACHINES = 1024 };

struct predict_sweep {
    uint32_t axes; /* that vary */
    struct sweep_axis {
        enum predict_axis axis;
        uint32_t count;
        char values[SWEEP_VALUES][16];
    } axis[AXIS_COUNT]; /* in the order given */
};

bool predict_sweep_add(struct predict_sweep *sweep, const char *text, struct error *error);

/* All combinations, the last axis fastest; one machine when nothing varies. To be freed. */
bool predict_sweep_build(const struct predict_sweep *sweep, const struct machine *machine,
                         struct machine **machines, uint32_t *count, struct error *error);
