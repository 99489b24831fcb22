/* Top-down levels (Yasin 2014): every slot of dispatch, dispatch_width in every cycle, has one
 * class and one instruction. A slot that a µop took is Retiring, or Bad Speculation when the µop
 * was squashed; one that shares another's place (core/places.h) takes none. Slots that stayed empty
 * are classed by the next µop to dispatch:
 *
 *     cycles before it was through the front end:
 *         behind a mispredicted branch, or a squash: Bad Speculation, of that branch or load
 *         those its fetch waited for the instruction cache or TLB: Frontend Bound, its own
 *         the rest of a cycle in which some µops dispatched: Fetch Bandwidth, its own
 *         others: Branch Resteers or Branch Bubbles, of the branch before; or Other Latency
 *     cycles for which it was held after that: Backend Bound, by what the oldest µop not committed
 *         waits for then, and its; a full store queue is Store Bound, of the store that has
 *         committed and not yet left
 *
 * What delayed the oldest µop comes last in its time there: a wait for a unit, or for DRAM's other
 * traffic, made it that much later. So the parts are exact, where counters estimate. Slots that
 * refill the pipeline behind a mispredicted branch are Bad Speculation here; the published method,
 * whose counters cannot tell them from other waits of fetch, has them in Branch Resteers: they are
 * a class of their own ("Refill"), so that both can be had. */
#pragma once

#include "attribute/attribute.h"
#include "machine/machine.h"

/* Classes without parts, in the order of the tree. */
enum slot_class {
    SLOT_RETIRING,
    SLOT_RESOLVE, /* a mispredicted branch had not executed */
    SLOT_REFILL,  /* its target was on its way through the front end */
    SLOT_SQUASHED,
    SLOT_CLEAR_REFILL,
    SLOT_ICACHE,
    SLOT_ITLB,
    SLOT_RESTEER,
    SLOT_BUBBLE,
    SLOT_FETCH_OTHER,
    SLOT_FETCH_BANDWIDTH,
    SLOT_L1,
    SLOT_DTLB,
    SLOT_FORWARDING,
    SLOT_L2,
    SLOT_LLC,
    SLOT_DRAM_LATENCY,
    SLOT_DRAM_BANDWIDTH,
    SLOT_STORE,
    SLOT_DIVIDER,
    SLOT_PORTS,
    SLOT_LATENCY,
    SLOT_SERIALISING,
    SLOT_COMMIT,
    SLOT_CLASSES
};

/* A level of the tree, in the order in which it is printed: a class has the slots of the classes
 * from `first` to `last`. */
struct slot_level {
    const char *name, *meaning;
    uint8_t depth; /* 1 to 4 */
    uint8_t first, last;
};
extern const struct slot_level slot_levels[];
extern const uint32_t slot_level_count;
uint64_t slot_level_slots(const struct slot_level *level, const uint64_t slots[SLOT_CLASSES]);

/* Why there are no levels; NULL: there are. `ideal`: enum ideal. */
const char *top_down_missing(const struct machine *machine, uint32_t ideal);

/* One core that has them. NULL: out of memory. */
struct top_down;
struct top_down *top_down_new(const struct machine *machine, uint32_t ideal);
void top_down_free(struct top_down *top_down);
struct tap_worker top_down_worker(struct top_down *top_down);
/* All that was under way has been to the worker: the slots behind the last dispatch. More may
 * follow. False: out of memory. */
bool top_down_finish(struct top_down *top_down);
/* Then: the cycles until this one are not the core's (core_wait_until()), so they have no slots. */
void top_down_wait_until(struct top_down *top_down, uint64_t cycle);
/* Cells have the enum slot_class in `psv` and slots in `units`; they sum to dispatch_width ×
 * cycles. Valid as long as it. */
struct pics *top_down_profile(struct top_down *top_down);
