/* Regions of a run of several threads: they are simulated together, in the order of the run, and
 * each stands for so many times itself. Between them threads only go through their instructions, at
 * the pace that each had in the last region, and take locks and wait for each other as ever, so
 * that a region begins with whoever then has a lock, or waits; and before each, caches, directory
 * and predictors are warmed.
 *
 * A region is told by the work that all threads together had done before it (work_meter.h), and
 * lasts as much work as its slice had, whichever thread does it. So what a slow thread leaves
 * behind is found in later regions. (LoopPoint's markers, the counts of loop heads over all
 * threads, come in another order when threads have another pace than in the profile: regions of
 * pigz became up to fourteen times as long.) */
#pragma once

#include "simulate/estimate.h"
#include "simulate/work_profile.h"

struct planned_region {
    uint64_t before;      /* instructions of the run before it, as profiled */
    uint64_t work_before; /* work before it */
    uint64_t work;
    uint64_t stands_for; /* work of the run */
    uint32_t cluster;
};

struct together_plan {
    const uint8_t *flags;           /* of the code: work_code() */
    struct planned_region *regions; /* by place, not overlapping */
    uint32_t count;
    uint64_t warm_up;            /* instructions of all threads before each region */
    uint64_t instructions, work; /* of the run */
    size_t slices;               /* that the regions were chosen from */
};
