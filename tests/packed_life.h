/* A life written by hand, as the tap carries it. */
#pragma once

#include "tap/life.h"

static inline struct packed_life pack_by_hand(const struct life *life) {
    struct packed_life packed = {.uop = life->uop,
                                 .insn_number = life->insn_number,
                                 .end = life->commit,
                                 .insn = life->insn,
                                 .flags = life->flags | (life->dispatch ? LIFE_DISPATCHED : 0) |
                                          (life->issue ? LIFE_ISSUED : 0) |
                                          (life->complete != UINT64_MAX ? LIFE_COMPLETED : 0),
                                 .fetch = (uint32_t)life->fetch,
                                 .complete = (uint32_t)life->complete,
                                 .fetch_delay_cache = life->fetch_delay_cache,
                                 .fetch_delay_tlb = life->fetch_delay_tlb,
                                 .kept = {.dispatch = (uint32_t)life->dispatch,
                                          .ready = (uint32_t)life->ready,
                                          .issue = (uint32_t)life->issue,
                                          .unit_wait = life->unit_wait,
                                          .mshr_wait = life->mshr_wait,
                                          .l1_latency = (uint16_t)life->l1_latency,
                                          .walk_latency = (uint16_t)life->walk_latency,
                                          .miss_latency = life->miss_latency,
                                          .brought_by = life->bringer + 1,
                                          .memory_level = life->memory_level,
                                          .memory_events = life->memory_events,
                                          .dispatch_block = life->dispatch_block},
                                 .stores_back = life->stores_back,
                                 .psv = (uint16_t)life->psv,
                                 .uop_index = life->uop_index,
                                 .operation = life->operation};
    if (life->store_producer != UINT64_MAX)
        packed.kept.store_back = (uint32_t)(life->uop - life->store_producer);
    for (int i = 0; i <= UOP_MAX_SOURCES; i++)
        if (life->producer[i] != UINT64_MAX)
            packed.producer[i] = (uint16_t)(life->uop - life->producer[i]);
    return packed;
}
