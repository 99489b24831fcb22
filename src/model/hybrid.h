/* The hybrid analytical model: cycles per instruction that a processor loses to loads that miss the
 * last level (CPI_D$miss), from the events of a trace, without simulating it.
 *
 * It is that of Chen 2009 chapter 2. Instructions are put into windows of a reorder buffer's size;
 * a window costs as many memory latencies as its longest chain of dependent misses. Lengths are in
 * units of the memory latency.
 *
 * Many processors are looked at in one pass: each is a lane of vector registers. The events must
 * come from caches with the prefetcher of the configurations. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/data_event.h"
#include "util/error.h"

/* How the trace is cut into windows (§2.2.4, §2.2.5). With MSHRs, a window ends with the access
 * that takes the last one: a miss of a load or store, the first use of a prefetched block that is
 * on its way, or a hit on a block on its way whose line the L1 must ask for as well; and then costs
 * a latency at least. There a window may start at a store's miss, too. */
enum hybrid_windows {
    WINDOWS_PLAIN,    /* one after the other */
    WINDOWS_SWAM,     /* start at a miss, or at a hit on a block that a prefetch is fetching */
    WINDOWS_SWAM_MLP, /* likewise; a miss that waits for another of its window takes no MSHR */
    WINDOWS_SLIDING   /* none: the reorder buffer slides (sliding.h) */
};

/* What is subtracted because a miss is not the oldest instruction when it issues. */
enum hybrid_compensation {
    COMPENSATE_NONE,
    COMPENSATE_FIXED,    /* so many instructions' issue per serialised miss (§2.1) */
    COMPENSATE_DISTANCE, /* the mean distance of misses, per miss (eq. 2.2) */
    COMPENSATE_WINDOW    /* per window the instructions to the begin of the next, at most a reorder
                            buffer: distances of misses as far as they lie in a window's reorder
                            buffer. What lies between is executed without a miss to hide behind */
};

/* Parts of the algorithm for pending hits under a prefetcher (Fig. 2.5). Without A, nothing of a
 * prefetch is hidden by its distance until it has arrived; without B, no load overtakes the
 * prefetch of its block; without C, the prefetch does not run while the load waits for its
 * operands. */
enum hybrid_parts { PART_A = 1 << 0, PART_B = 1 << 1, PART_C = 1 << 2, PARTS_ALL = 7 };

struct hybrid_config {
    uint32_t rob;         /* µops, ≥ 1 */
    uint32_t width;       /* µops issued per cycle, ≥ 1 */
    uint32_t latency;     /* of memory, cycles, ≥ 1 */
    uint32_t hit_latency; /* of the last level, cycles; used when the reorder buffer slides */
    uint32_t mshrs;       /* ≤ rob; 0: unlimited */
    uint32_t store_queue; /* stores until they are in the cache; 0: unlimited; used when the reorder
                             buffer slides */
    bool prefetching;     /* pending hits by Fig. 2.5, else by §2.2.1 */
    bool pending_hits;    /* else they are hits like any */
    enum hybrid_windows windows;
    enum hybrid_compensation compensation;
    double fixed;   /* part of the ROB that is older: 0 the oldest, 1 the youngest */
    uint32_t parts; /* enum hybrid_parts */
};
/* With WINDOWS_SLIDING pending hits are pending, nothing is compensated, and parts say nothing. */

/* False with an error that says which value is nonsense. */
bool hybrid_check(const struct hybrid_config *config, struct error *error);

struct hybrid_result {
    double serialized;   /* num_serialized D$miss: sum of the longest chains of all windows */
    double misses;       /* num D$miss: loads that waited for memory: misses, and first uses of
                            prefetched blocks that were still on their way */
    double tardy;        /* of them, loads that overtook the prefetch of their block */
    double distance;     /* dist: mean µops between consecutive misses, at most the ROB; 0 if there
                            are less than two */
    double windows;      /* that were opened; plain: that hold an event; sliding: events that the
                            oldest µop waited for */
    double compensation; /* cycles subtracted */
    double cycles;       /* due to long data misses, ≥ 0: divide by the instructions (eq. 2.1) */
};

struct hybrid;
/* `configs` are copied. NULL with an error: out of memory. */
struct hybrid *hybrid_new(const struct hybrid_config *configs, uint32_t count, struct error *error);
void hybrid_free(struct hybrid *hybrid);

/* The next events of a thread. */
void hybrid_add(struct hybrid *hybrid, const struct data_event *events, uint32_t count);

/* The next events are of another part of the run, out of reach of those so far: no MSHR is taken
 * when it begins, and no store is on its way. */
void hybrid_break(struct hybrid *hybrid);

/* Of one configuration, over all events so far. */
struct hybrid_result hybrid_result(const struct hybrid *hybrid, uint32_t number);

/* Adds what another part of a run loses, `times` over. dist is then the mean over all misses. */
void hybrid_result_add(struct hybrid_result *sum, const struct hybrid_result *more, double times);

/* How far back events matter to a configuration, in µops. */
uint32_t hybrid_window_reach(const struct hybrid_config *config);  /* of data_reach.window */
uint32_t hybrid_arrival_reach(const struct hybrid_config *config); /* of data_reach.arrival */
