/* What if the cores of a program's threads were ideal: regions of a run (together_plan.h) simulated
 * again with idealisations, from where its threads, caches and predictors are when a region begins.
 * A process that is forked there does it and tells how many cycles it took, on another processor
 * meanwhile; so what lies between regions is gone through once for all.
 *
 * Each idealisation has its turn in some of the regions, evenly over the run: what it saves is the
 * share of these regions' cycles (ratio estimator), and the same instructions are in both, so that
 * a few dozen tell it well. Threads are where those of the machine as it is are. What changes who
 * waits for whom between regions, as other locks would, takes a run of its own
 * (together_variants.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGION_FORKS_MOST = 16 /* idealisations */ };

struct region_forks;
/* `ideals`: enum ideal, by number, of each besides those that there are; `each`: so many of them in
 * a region; `regions` of the plan; so many processes at once. NULL: no memory. */
struct region_forks *region_forks_new(const uint32_t *ideals, size_t count, size_t each,
                                      size_t regions, uint32_t at_once);
/* Ends what is still under way. */
void region_forks_free(struct region_forks *forks);

/* Once all has been simulated: waits for the processes. Of the cycles of an idealisation's regions,
 * the share that it saves, from 1 on down, and half of its 95 % interval. False: too few of its
 * regions are known, for processes could not be made, or did not come to their ends. */
bool region_forks_saving(struct region_forks *forks, uint32_t ideal, double *saving,
                         double *interval);

/* ---- for who simulates: a thread that no other of its process works beside at these moments ----
 */

/* The next region begins, `cycles` into those that count. Returns once for the machine as it is,
 * with 0, and in each process with what it idealises. */
uint32_t region_forks_begin(struct region_forks *forks, uint64_t cycles);
/* It has ended in `cycles`, or the simulation has; `good`: as it should. Does not return in a
 * process of an idealisation. */
void region_forks_end(struct region_forks *forks, bool good, uint64_t cycles);
