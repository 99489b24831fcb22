/* Life of one µop (architecture.md): what the dependence graph, detailed samples and the pipeline
 * view are made of. All cycles absolute. */
#ifndef CULPRIT_TAP_LIFE_H
#define CULPRIT_TAP_LIFE_H

#include <string.h>

#include "isa/insn.h"
#include "tap/tap.h"

struct life {
    uint64_t uop, insn_number; /* sequence numbers of the µop and of its dynamic instruction; a
                                  fused pair is one */
    uint32_t insn;             /* static instruction */
    uint8_t uop_index;         /* within its instruction */
    uint8_t operation;
    uint8_t memory_level;  /* enum memory_level of a load or store */
    uint8_t memory_events; /* enum memory_event */
    uint32_t psv;
    uint32_t flags; /* enum life_flags */
    uint64_t fetch, dispatch, ready, issue, complete, commit;
    uint32_t fetch_delay_cache, fetch_delay_tlb; /* cycles its fetch waited for L1I and ITLB */
    uint32_t unit_wait; /* ready to issue, cycles for a functional unit or issue slot */
    uint32_t mshr_wait; /* cycles retried for want of an MSHR */
    uint32_t l1_latency, miss_latency;      /* parts of a load's latency */
    uint64_t producer[UOP_MAX_SOURCES + 1]; /* sequence numbers of the producers of its sources (the
                                               last: of store data); UINT64_MAX none in flight */
    uint64_t store_producer; /* store it forwards from or waits for; UINT64_MAX none */
    uint64_t bringer;        /* µop that brought its cache line; UINT64_MAX not known */
    uint8_t dispatch_block;  /* enum dispatch_block: what held its dispatch last */
};
enum life_flags {
    LIFE_MISPREDICTED = 1 << 0,
    LIFE_TAKEN = 1 << 1,
    LIFE_FLUSHED = 1 << 2, /* squashed by an ordering violation: it has no commit */
    LIFE_FORWARDED = 1 << 3,
    LIFE_LAST = 1 << 4,
    LIFE_FUSED = 1 << 5
};
enum dispatch_block {
    DISPATCH_FREE, /* dispatched as soon as the front end delivered it */
    DISPATCH_WIDTH,
    DISPATCH_ROB,
    DISPATCH_QUEUE,
    DISPATCH_REGISTERS,
    DISPATCH_BRANCHES, /* too many unresolved */
    DISPATCH_LOAD_QUEUE,
    DISPATCH_STORE_QUEUE,
    DISPATCH_SERIALISING
};

/* Payload of TAP_LIFE, in words. */
enum { LIFE_WORDS = sizeof(struct life) / sizeof(uint64_t) };
static_assert(LIFE_WORDS * sizeof(uint64_t) == sizeof(struct life) && LIFE_WORDS < 256,
              "a record's payload");

/* The life in a TAP_LIFE record. */
static inline struct life tap_life(const struct tap_record *record) {
    struct life life;
    memcpy(&life, record->uops, sizeof life);
    return life;
}

#endif
