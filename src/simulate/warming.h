/* What caches, TLBs and branch predictors know where a region begins, from what the program
 * executed before: of the most of it only when each line was accessed last (memory/stamps.h), from
 * which caches and TLBs are rebuilt, and which comes from the trace or is known already
 * (stamped_before.h); the instructions just before the region are shown to them, and
 * more of them to the branch predictors, one by one. What is predicted of the region's branches
 * while predictors learn from it is kept for its simulation. */
#pragma once

#include "core/core.h"
#include "simulate/stamped_before.h"
#include "trace/trace.h"
#include "util/watcher.h"

/* Instructions with a million branches and more, after which predictors have learned most of what
 * they will; and when they have learned from the regions before. */
static const uint64_t WARMING_TRAINED = 8000000, WARMING_TRAINED_ON = 1000000;
/* Likewise, instructions that caches are shown: prefetchers learn in them, and the inner levels
 * come to hold what they fetch. Contents follow from time stamps. */
static const uint64_t WARMING_SHOWN_ON = 300000;

/* Of a trace that is at its beginning. In instructions of its one thread. */
struct warming {
    const struct machine *machine;
    uint32_t ideal;      /* enum ideal */
    uint64_t start, end; /* of the region */
    uint64_t warm;       /* before it, at most; what comes before those does not count */
    uint64_t trained;    /* of these, predictors learn from the last ones, at most */
    uint64_t shown;      /* of those, caches are shown the last ones one by one, at most */
    double cycles_per_instruction;        /* of what warms, by estimate: others who use a cache
                                             (memory/retention.h) take lines as time passes */
    const struct stamped_before *stamped; /* what comes before those that caches are shown was
                                             stamped already; NULL: it is in the trace */
    int only;                             /* thread number; −1: there is one */
    uint64_t skipped; /* instructions before the trace, since what `before` knows: like the trace */
    bool go_on;       /* `before` learns up to the end of the region */
    struct core_learned *room; /* of the same machine, whose memory what is known at the start is
                                  copied into, with `go_on`; taken over. NULL: there is none */
    struct branch_outcomes *outcomes; /* with `go_on`: predictions of the region, empty at first.
                                         What is known at the start says these, and must not be
                                         used longer than they are there */
    struct watcher watcher;           /* told the instructions of the trace so far */
};

/* `before`: what is known where the `warm` instructions begin; without memory: nothing. Taken over,
 * and given back when `go_on` is set. `at_start`: what is known at the start; the caller's, also
 * when stopped or on failure. */
bool warming_run(struct trace *trace, const struct warming *warming, struct core_learned *before,
                 struct core_learned *at_start, struct error *error);
