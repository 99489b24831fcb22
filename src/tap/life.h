/* The life of one µop, of which the dependence graph, detailed samples and the pipeline view are
 * made. All cycles are absolute. */
#pragma once

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
    uint32_t fetch_delay_cache, fetch_delay_tlb; /* fetch waited for L1I or decoding, ITLB */
    uint32_t unit_wait; /* ready to issue, cycles for a functional unit or issue slot */
    uint32_t mshr_wait; /* cycles retried for want of an MSHR */
    uint32_t l1_latency, miss_latency; /* parts of a load's latency */
    uint32_t walk_latency;             /* of the latter, or of a store's: translation */
    /* Sequence numbers of the producers of its sources (the last: of store data), whether they were
     * still in flight or not; UINT64_MAX none within 65,535 µops. */
    uint64_t producer[UOP_MAX_SOURCES + 1];
    uint64_t store_producer; /* store it forwards from or waits for; UINT64_MAX none */
    uint64_t bringer;        /* µop that fetched its cache line; UINT64_MAX not known */
    /* Load: how many stores back the youngest store is that overlaps it, whether it was still in
     * the store queue or not; 0: none among the last LIFE_STORES_BACK times the queue's size.
     * Beyond the queue only the youngest store to the same eight bytes is looked at. */
    uint16_t stores_back;
    uint8_t dispatch_block; /* enum dispatch_block: what held its dispatch last */
};
enum { LIFE_STORES_BACK = 20 };
/* Most have the same bits in the core. */
enum life_flags {
    LIFE_LAST = 1 << 0,
    LIFE_LOAD = 1 << 1,
    LIFE_STORE = 1 << 2,
    LIFE_FUSED = 1 << 3,
    LIFE_REPEATED = 1 << 4, /* of a repeated instruction, not its last */
    LIFE_MISPREDICTED = 1 << 6,
    LIFE_FLUSHES = 1 << 7,       /* fetch goes on after its commit */
    LIFE_SYSTEM_CALL = 1 << 8,   /* and only when the system call is done, or, with
                                    LIFE_SERIAL_END, CPUID by a virtual machine's host */
    LIFE_SERIAL = 1 << 9,        /* dispatched into an empty ROB only */
    LIFE_SERIAL_END = 1 << 10,   /* nothing dispatched until it had committed */
    LIFE_HOLDS_LOADS = 1 << 11,  /* no later load dispatched until it had committed */
    LIFE_WAITS_HEAD = 1 << 12,   /* issued at the head only, older stores drained */
    LIFE_ISSUED = 1 << 13,       /* `ready` and `issue` are known */
    LIFE_DISPATCHED = 1 << 14,   /* `dispatch` is known */
    LIFE_COMPLETED = 1 << 15,    /* `complete` is known */
    LIFE_INT_REGISTER = 1 << 16, /* held a physical register until commit */
    LIFE_FP_REGISTER = 1 << 17,
    LIFE_FLAG_REGISTER = 1 << 18,
    LIFE_BRANCH = 1 << 19, /* counted as unresolved branch until it had executed */
    LIFE_TAKEN = 1 << 21,
    LIFE_SHARES = 1 << 22,      /* it has no place of its own, but that of the µop before */
    LIFE_FIRST = 1 << 23,       /* of its instruction, or of a fused pair */
    LIFE_FLUSHED = 1 << 24,     /* squashed by an ordering violation: it has no commit */
    LIFE_COVERED = 1 << 25,     /* the store of stores_back holds all it reads */
    LIFE_FORWARDED = 1 << 26,   /* load that got its value from the store queue */
    LIFE_LATE = 1 << 27,        /* branch whose target fetch learned only at decode */
    LIFE_LONG = 1 << 28,        /* it takes its unit for more than a cycle */
    LIFE_PREFETCH = 1 << 29,    /* load whose result no instruction waits for */
    LIFE_ELIMINATED = 1 << 30,  /* needed no functional unit and was not issued */
    LIFE_MICROCODED = INT32_MIN /* bit 31: dispatch stopped behind it for its microcode */
};
enum dispatch_block {
    DISPATCH_FREE, /* dispatched as soon as the front end delivered it */
    DISPATCH_ROB,
    DISPATCH_QUEUE,
    DISPATCH_REGISTERS,
    DISPATCH_BRANCHES, /* too many unresolved */
    DISPATCH_LOAD_QUEUE,
    DISPATCH_STORE_QUEUE,
    DISPATCH_SERIALISING
};

/* What the core keeps of a µop from its dispatch on. Only the low bits of cycles are kept. */
struct kept_life {
    uint32_t dispatch, ready, issue;
    uint32_t unit_wait, mshr_wait, miss_latency;
    uint16_t l1_latency, walk_latency; /* UINT16_MAX at most */
    uint32_t store_back;               /* store_producer is so many µops back; 0: none */
    uint64_t brought_by;               /* bringer + 1; 0: not known */
    uint8_t memory_level, memory_events, dispatch_block;
    /* `fill`: cycles for which MSHRs were held (memory/memory.h), by a load's miss or, of a store,
     * by the write of the store whose store queue entry it took; 0: none were. The other two are of
     * that write: the enum memory_level that served the line, and cycles until the line was owned,
     * 0: there was no write. UINT16_MAX at most. */
    uint8_t write_level;
    uint16_t fill;
    union {
        uint16_t write_latency;
        uint16_t dram_wait; /* of a load: of its miss_latency, cycles for which other traffic held
                               up the line's read from DRAM (memory/memory.h) */
    };
};

/* A struct life in half the room, as the core writes it; code that reads every life of a run reads
 * this form. Cycles are low bits, within 2^31 of `end`. */
struct packed_life {
    uint64_t uop, insn_number;
    uint64_t end; /* cycle of its commit, or in which it was squashed */
    uint32_t insn, flags;
    uint32_t fetch, complete, fetch_delay_cache, fetch_delay_tlb;
    struct kept_life kept;
    uint16_t producer[UOP_MAX_SOURCES + 1]; /* so many µops back; 0: none */
    uint16_t stores_back, psv;
    uint8_t uop_index, operation;
};
static_assert(sizeof(struct packed_life) == 112, "no padding");

static inline uint64_t life_cycle(const struct packed_life *packed, uint32_t low_bits) {
    return packed->end + (uint64_t)(int32_t)(low_bits - (uint32_t)packed->end);
}

static inline void life_unpack(const struct packed_life *packed, struct life *life) {
    const struct kept_life *kept = &packed->kept;
    bool issued = packed->flags & LIFE_ISSUED;
    *life = (struct life){
        .uop = packed->uop,
        .insn_number = packed->insn_number,
        .insn = packed->insn,
        .uop_index = packed->uop_index,
        .operation = packed->operation,
        .memory_level = kept->memory_level,
        .memory_events = kept->memory_events,
        .psv = packed->psv,
        .flags = packed->flags,
        .fetch = life_cycle(packed, packed->fetch),
        .dispatch = packed->flags & LIFE_DISPATCHED ? life_cycle(packed, kept->dispatch) : 0,
        .ready = issued ? life_cycle(packed, kept->ready) : 0,
        .issue = issued ? life_cycle(packed, kept->issue) : 0,
        .complete =
            packed->flags & LIFE_COMPLETED ? life_cycle(packed, packed->complete) : UINT64_MAX,
        .commit = packed->flags & LIFE_FLUSHED ? 0 : packed->end,
        .fetch_delay_cache = packed->fetch_delay_cache,
        .fetch_delay_tlb = packed->fetch_delay_tlb,
        .unit_wait = kept->unit_wait,
        .mshr_wait = kept->mshr_wait,
        .l1_latency = kept->l1_latency,
        .miss_latency = kept->miss_latency,
        .walk_latency = kept->walk_latency,
        .store_producer = kept->store_back ? packed->uop - kept->store_back : UINT64_MAX,
        .bringer = kept->brought_by - 1,
        .stores_back = packed->stores_back,
        .dispatch_block = kept->dispatch_block};
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
        life->producer[i] = packed->producer[i] ? packed->uop - packed->producer[i] : UINT64_MAX;
}
