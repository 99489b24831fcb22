/* The same trace of a program with threads simulated again and again, each time with one
 * change: another number of cores, a machine without one of its limits, lines or locks that cost
 * less. As many at a time as there are processors. */
#pragma once

#include "simulate/line_remedy.h"
#include "simulate/lock_remedy.h"
#include "simulate/simulate.h"

struct together_variant {
    /* Set before. What is zero is as in the run that is varied. */
    uint32_t ideal;                /* enum ideal, beside what is idealised anyway */
    const struct machine *machine; /* NULL */
    uint32_t cores;
    struct line_remedies lines; /* count 0: none */
    struct lock_remedies locks;
    struct line_traffic *traffic; /* is filled in (line_traffic.h); NULL */
    bool by_signature;            /* `units` are wanted */

    bool done;       /* else it was interrupted, or failed */
    uint64_t cycles; /* elapsed */
    struct course_counts *counts;
    uint64_t *units; /* of its cycles by signature: PSV_COMBINATIONS; NULL */
};
void together_variant_free(struct together_variant *variant);

/* `options`: of the run that is varied; its watcher is told the instructions of all variants, and
 * can end them. The first error ends them, too. */
bool together_variants_run(const struct simulation_options *options,
                           struct together_variant *variants, size_t count, struct error *error);
