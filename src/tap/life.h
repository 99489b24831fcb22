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
    uint32_t l1_latency, miss_latency; /* parts of a load's latency */
    /* Sequence numbers of the producers of its sources (the last: of store data), whether they were
     * still in flight or not; UINT64_MAX none within 65,535 µops. */
    uint64_t producer[UOP_MAX_SOURCES + 1];
    uint64_t store_producer; /* store it forwards from or waits for; UINT64_MAX none */
    uint64_t bringer;        /* µop that brought its cache line; UINT64_MAX not known */
    /* Load: how many stores back the youngest is that overlaps it, whether it was still in the
     * store queue or not; 0: none among the last LIFE_STORES_BACK times the queue's size. Beyond
     * the queue only the youngest store to the same eight bytes is looked at. */
    uint16_t stores_back;
    uint8_t dispatch_block; /* enum dispatch_block: what held its dispatch last */
};
enum { LIFE_STORES_BACK = 20 };
enum life_flags {
    LIFE_MISPREDICTED = 1 << 0,
    LIFE_TAKEN = 1 << 1,
    LIFE_FLUSHED = 1 << 2, /* squashed by an ordering violation: it has no commit */
    LIFE_FORWARDED = 1 << 3,
    LIFE_LAST = 1 << 4,
    LIFE_FUSED = 1 << 5,
    LIFE_FIRST = 1 << 6,         /* of its instruction, or of a fused pair */
    LIFE_COVERED = 1 << 7,       /* the store of stores_back holds all it reads */
    LIFE_LATE = 1 << 8,          /* branch whose target fetch learned only at decode */
    LIFE_FLUSHES = 1 << 9,       /* fetch goes on after its commit */
    LIFE_SYSTEM_CALL = 1 << 10,  /* and only when the system call is done */
    LIFE_SERIAL = 1 << 11,       /* dispatched into an empty ROB only */
    LIFE_SERIAL_END = 1 << 12,   /* nothing dispatched until it had committed */
    LIFE_HOLDS_LOADS = 1 << 13,  /* no later load dispatched until it had committed */
    LIFE_WAITS_HEAD = 1 << 14,   /* issued at the head only, older stores drained */
    LIFE_ELIMINATED = 1 << 15,   /* needed no functional unit */
    LIFE_PREFETCH = 1 << 16,     /* load nobody waits for */
    LIFE_INT_REGISTER = 1 << 17, /* held a physical register until commit */
    LIFE_FP_REGISTER = 1 << 18,
    LIFE_BRANCH = 1 << 19 /* counted as unresolved branch until it had executed */
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
