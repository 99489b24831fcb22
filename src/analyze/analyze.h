/* From samples of a procedure to executions, cycles per instruction and causes of stalls (DCPI §6).
 *
 *     code ──► cfg ──► equivalence ──────────┐
 *               ├────► schedule (M) ─────────┼─► frequency ─► culprits, summary
 *               └────► what may stall ───────┘       ▲
 *                                         samples ───┘
 *
 * For samples taken at the head of the issue queue of an in-order core, and, with less certainty,
 * at commit of an out-of-order one. Samples of a live processor that executes out of order take
 * another way (late.h):
 *
 *     code ──► cfg ──► what may stall ──► late, culprits */
#pragma once

#include "analyze/culprits.h"
#include "analyze/late.h"

struct analysis_options {
    const struct machine *machine;
    struct scheduler *scheduler; /* of that machine; may serve many procedures */
    const double *executions;    /* by byte offset: exact, in place of estimates. NULL: estimate */
    const struct skid *skid; /* the samples are of a live processor, out of order; then no schedule
                                is made (`scheduler` may be NULL), and without `executions` nothing
                                is said of them. NULL: they are not such */
};

struct analysis {
    struct cfg cfg;
    struct equivalence equivalence;
    struct schedule schedule;
    struct frequency frequency;
    struct culprits culprits;
    struct late late;   /* with a skid */
    double *cycles;     /* by instruction of the graph; with a skid where they were spent, most
                           likely */
    uint32_t *possible; /* likewise: bits of dynamic causes that the code does not rule out */
    double lost;        /* cycles of samples at which no instruction begins */
};

/* False: out of memory, or there is no code. analysis_free() either way. */
bool analyze_procedure(struct analysis *analysis, const struct procedure_code *code,
                       const struct procedure_samples *samples,
                       const struct analysis_options *options, struct error *error);
void analysis_free(struct analysis *analysis);

/* Cycles per execution of an instruction; 0 where no executions are known. */
double analysis_cpi(const struct analysis *analysis, uint32_t insn);
