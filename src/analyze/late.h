/* Samples of a live processor that executes out of order, which come late (skid.h). They are put
 * back to where the processor waited, as far as the code and the skid allow, and what it can have
 * waited for is told by elimination alone: how often an instruction was executed cannot be inferred
 * there (docs/results/stalls.md), nor how long it takes at best. docs/results/stalls-live.md has
 * what that comes to.
 *
 *     sampled    load    add     add    store             skid 1, always
 *     samples       0     90       0        0
 *     waits        90      0       0        0             the load's causes: misses, or execution
 *
 * A sample may be of any instruction that lies so far before it along the flow as the skid's window
 * tells. Of a block that several lead to, it may be of the last instruction of each; behind a call,
 * of the callee. Each figure has a range: `least` are the samples that can be of nothing else,
 * `most` those that may be of it. */
#pragma once

#include "analyze/cfg.h"
#include "analyze/skid.h"
#include "core/stall_causes.h"

struct late_cycles {
    double likely; /* shared by the skid, and where ways meet by how many samples each has */
    double least, most;
};

/* Cycles in which a cause can have been what was waited for: of all samples, the window's and the
 * others, with two standard deviations of sampling. */
struct late_range {
    double least, most;
};

struct late {
    bool used; /* the samples are such */
    struct skid_window window;
    struct late_cycles *insns, *blocks; /* of the graph */
    struct late_cycles elsewhere;       /* of callers and callees, though sampled here */
    uint32_t *causes; /* by instruction: bits 1 << enum stall_cause that are not excluded.
                         STALL_NONE is always among them: execution, that is the latency of the
                         instruction and of what it needs, units, slots, fetching without misses */
    struct late_range ranges[STALL_CAUSES];
    double total; /* all cycles sampled at instructions of the graph */
};

/* `cycles` (by instruction, as sampled), `possible` (likewise, culprits_possible()). `period`: mean
 * cycles between samples. False: out of memory. late_free() either way. */
bool late_place(struct late *late, const struct cfg *cfg, const struct skid *skid,
                const double *cycles, double period, const uint32_t *possible, struct error *error);
void late_free(struct late *late);
