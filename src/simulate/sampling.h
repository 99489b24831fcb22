/* Which instructions of a run are simulated, when the run may be long: systematic sampling whose
 * cost grows with the logarithm of the length (the sampled simulation of SMARTS, Wunderlich et al.
 * 2003, with strata that grow because the length is not known in advance).
 *
 * Level 0 is the first `full` instructions: all simulated, weight 1. Every level k ≥ 1 has
 * `windows` periods of 2^k × `window` instructions. Each period ends with a window that is
 * simulated and stands for the whole period (weight 2^k); the `warm` instructions before it (or as
 * many as there are) warm caches, TLBs and predictors; what comes before those is skipped.
 *
 *     full                    level 1 (weight 2)             level 2 (weight 4)
 *     |SSSSSSSSSSSSSSSSSSSSSSS|wwSSwwSSwwSS ... wwSS|--wwwwSS--wwwwSS ... --wwwwSS| ...
 *
 * Weights are whole numbers, so weighted cycles (units of 1/840) still sum exactly.
 *
 * A region of a run instead (sampling_region): instructions before it are skipped and warmed, it is
 * simulated, and that is all. */
#pragma once

#include <stdint.h>

struct sampling {
    uint64_t skip, lead; /* before everything else: instructions skipped, and then warmed */
    uint64_t full;       /* instructions; UINT64_MAX: everything is simulated */
    uint64_t window;     /* instructions, ≥ 1 when there are windows */
    uint64_t warm;       /* instructions before each window */
    uint32_t windows;    /* periods per level; 0: the run ends behind `full` */
};

static inline struct sampling sampling_everything(void) {
    return (struct sampling){.full = UINT64_MAX, .window = 1, .windows = 1};
}

/* For runs of any length. On gzip -9 (1.16 G instructions) the 95 % interval is 3.1 % of the CPI;
 * windows of 1 M, 32 to a level, cost more and gave 3.6 %. With 1 M warmed xz -6 came out 6 % slow,
 * from misses of what the last-level cache would have held; with 4 M it is right within 0.2 %. */
static inline struct sampling sampling_default(void) {
    return (struct sampling){.full = 50000000, .window = 250000, .warm = 4000000, .windows = 64};
}

/* The instructions [start, end) alone, with the last `lead` before them (or all there are) warmed.
 */
static inline struct sampling sampling_region(uint64_t start, uint64_t end, uint64_t lead) {
    uint64_t warmed = lead < start ? lead : start;
    return (struct sampling){.skip = start - warmed, .lead = warmed, .full = end - start};
}

enum sampling_action { SAMPLING_SKIP, SAMPLING_WARM, SAMPLING_SIMULATE, SAMPLING_STOP };

/* A run of instructions that are treated alike. */
struct sampling_step {
    enum sampling_action action;
    uint64_t end;    /* position of the first instruction after it */
    uint64_t weight; /* of the level: 2^level */
    uint32_t level;
};

enum { SAMPLING_MAX_LEVELS = 64 };

/* The step that the instruction at `position` (from 0) belongs to. */
struct sampling_step sampling_step(const struct sampling *sampling, uint64_t position);

/* The error of what was sampled, from the spread of the windows: a stratum per level, simple random
 * sampling within each assumed. Only whole windows are observed. */
struct sampling_spread {
    struct {
        uint64_t windows;
        double mean, squares; /* of the cycles of a window; sum of squared deviations (Welford) */
    } level[SAMPLING_MAX_LEVELS];
};

void sampling_observe(struct sampling_spread *spread, uint32_t level, double window_cycles);

/* Observes as well what `more`, of another part of the run, did. */
void sampling_spread_add(struct sampling_spread *spread, const struct sampling_spread *more);

/* Windows observed at levels above 0. */
uint64_t sampling_windows(const struct sampling_spread *spread);

/* Half of the 95 % confidence interval of the total (weighted) cycles, in cycles. 0 when everything
 * was simulated; −1 when there are too few windows to say (fewer than two at every level). */
double sampling_interval(const struct sampling_spread *spread);
