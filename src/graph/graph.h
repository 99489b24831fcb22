/* The dependence graph of an execution (interaction-cost paper §3, Table II).
 *
 * Its nodes are events in the life of each µop i, in program order: F fetched, D dispatched, R
 * operands ready, E issued, P result ready, C committed; and W and L of stores, written and gone. A
 * node's time is the latest over the edges that lead to it. Every edge stands in edges.def, and in
 * docs/edges.md.
 *
 * The paper's graph has instructions; a core cracks them, so ours has µops. The paper's D stands
 * for fetch too; our cores fetch ahead of a stalled dispatch, as far as the buffers between the two
 * allow, so fetch has its own node.
 *
 * Weights that depend on the machine alone are in struct graph_machine; those that were observed
 * are in struct graph_uop. */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "core/core.h"
#include "isa/insn.h"
#include "machine/machine.h"
#include "memory/memory.h"
#include "tap/life.h"

/* Those that a life record has too have the same bits there. */
enum graph_flags {
    GRAPH_LAST = LIFE_LAST, /* last µop of its instruction */
    GRAPH_LOAD = LIFE_LOAD,
    GRAPH_STORE = LIFE_STORE,
    GRAPH_FUSED = LIFE_FUSED,               /* two instructions */
    GRAPH_MISPREDICTED = LIFE_MISPREDICTED, /* PD to the next */
    GRAPH_FLUSHES = LIFE_FLUSHES,           /* CF to the next, of `after_commit` */
    GRAPH_WAITS_HEAD = LIFE_WAITS_HEAD,     /* CR */
    GRAPH_TAKEN = LIFE_TAKEN,
    GRAPH_FIRST = LIFE_FIRST,           /* first µop of its instruction, or of a fused pair */
    GRAPH_COVERED = LIFE_COVERED,       /* load whose store holds all it reads: SP, if present */
    GRAPH_SHARES = LIFE_SHARES,         /* the place of the µop before */
    GRAPH_LATE = LIFE_LATE,             /* FL to the next */
    GRAPH_ELIMINATED = LIFE_ELIMINATED, /* R, E and P are D */
    GRAPH_MICROCODED = LIFE_MICROCODED, /* MD to the next */
    GRAPH_SAME = GRAPH_LAST | GRAPH_LOAD | GRAPH_STORE | GRAPH_FUSED | GRAPH_MISPREDICTED |
                 GRAPH_FLUSHES | GRAPH_WAITS_HEAD | GRAPH_TAKEN | GRAPH_FIRST | GRAPH_COVERED |
                 GRAPH_SHARES | GRAPH_LATE | GRAPH_ELIMINATED | GRAPH_MICROCODED,

    GRAPH_FORWARDED = 1 << 4, /* SP, since the store's write took long */
    GRAPH_SHORT = 1 << 5,     /* EP is shalu's */
    GRAPH_LONG = 1 << 8,      /* EP is lgalu's */
    GRAPH_SPLIT = 1 << 9,     /* load that lies in two lines: EP is split_load longer */
    GRAPH_HUNG = 1 << 10,     /* SR: the load waited for the store before it issued */
    GRAPH_PENDING = 1 << 11,  /* load of a line that was on its way: PP's weight is `miss` */
    GRAPH_WAKEUP = 1 << 13,   /* this and the next four bits: producer[i] takes less than the wakeup
                                 loop, so the edge has its extra latency */
    GRAPH_BREAK_UNIT = 1 << 18, /* FB: its cycles, times this */
    GRAPH_BREAK_MOST = 7,
    GRAPH_BREAK = GRAPH_BREAK_MOST * GRAPH_BREAK_UNIT
};
static_assert(((unsigned)GRAPH_SAME & 0x1fef30u) == 0, "bits of their own");

/* A µop and the edges that lead to its nodes. Distances count µops back in program order, 0: there
 * is no such edge; what is farther than GRAPH_FAR is left out. Times in cycles, GRAPH_FAR at most.
 */
enum { GRAPH_FAR = UINT16_MAX };
struct graph_uop {
    uint32_t insn;                          /* static instruction */
    uint32_t flags;                         /* enum graph_flags */
    uint16_t producer[UOP_MAX_SOURCES + 1]; /* PR; the last: data of a store, to its P */
    uint16_t store;        /* SR, SW, SP: the youngest older store that a load overlaps */
    uint16_t store_data;   /* SR: who produces that store's data */
    uint16_t fetched_by;   /* PP */
    uint16_t fetch_width;  /* FBW */
    uint16_t fetch_taken;  /* FT */
    uint16_t fetch_packet; /* CT */
    /* CQ; int_register: or that of flags (core.flag_registers), of which the later one decides */
    uint16_t load_entry, store_entry, int_register, fp_register;
    uint16_t queue_entry;            /* ED */
    uint16_t serial;                 /* CS */
    uint16_t fetch_cache, fetch_tlb; /* of F: imiss */
    uint16_t fill;         /* cycles for which the load, or that write, holds MSHRs, with those of
                              prefetches that answer it (fill_cycles of memory/memory.h) */
    uint16_t store_wait;   /* of SW and CR: what the write took beyond a cycle */
    uint16_t after_commit; /* CF to this µop: weight + 1; 0: none */
    uint16_t unit_wait;    /* RE: observed */
    union {
        uint16_t mshr_wait;  /* of a load: RE, observed */
        uint16_t write_wait; /* of a store: what the write of the one whose entry it takes took
                                beyond a cycle */
    };
    uint16_t execution; /* EP; of stores address generation, of loads that and what their form
                           takes beyond it and the L1 */
    uint16_t walk; /* EP: of a load or store what its translation took beyond the first-level TLB */
    union {
        uint16_t miss;      /* EP of a load beyond L1 and translation; of PP if pending */
        uint16_t data_port; /* PR of a store's data: cycles until a unit has taken them; observed */
    };
    uint8_t operation; /* enum operation */
    uint8_t level : 4; /* enum memory_level that served a load, or that write */
    uint8_t pool : 4;  /* of functional units */
};
static_assert(sizeof(struct graph_uop) == 64, "one cache line");
static_assert(MACHINE_MAX_POOLS <= 16 && LEVEL_DRAM < 16, "four bits each");

/* FB: cycles for which fetch broke off before the µop. */
static inline uint32_t graph_break(const struct graph_uop *uop) {
    return (uop->flags & GRAPH_BREAK) / GRAPH_BREAK_UNIT;
}

/* What all µops have in common, in cycles, µops and, the first, places. */
struct graph_machine {
    uint32_t dispatch_width, commit_width, window; /* DBW, CBW, CD */
    uint32_t ideal_window;                         /* CD under win */
    uint32_t fetch_room;                           /* DF */
    uint32_t most_of_place;                        /* µops of a place: 1 or 2 */
    uint32_t frontend_depth, redirect, late_bubble, taken_bubble, string_start;
    uint32_t dispatch_to_issue, wakeup_extra, complete_to_commit;
    uint32_t l1_latency, forward_latency, load_latency; /* the last: address generation */
    uint32_t split_load;
    uint32_t pool_units[MACHINE_MAX_POOLS], pool_queue[MACHINE_MAX_POOLS];
    uint32_t queue_issue[MACHINE_MAX_QUEUES];
    uint32_t store_queue, store_drain; /* entries; writes per cycle */
    /* By enum memory_level that serves a miss: the fewest MSHRs of the levels before it; 0:
     * unlimited, or more than MSHR_MOST. */
    uint32_t mshrs[LEVEL_DRAM + 1];
};
void graph_machine_of(const struct machine *machine, struct graph_machine *graph);

/* Cycles of a load at the L1: one that lies in two lines accesses it twice. */
static inline uint32_t graph_l1_latency(const struct graph_machine *machine,
                                        const struct graph_uop *load) {
    return machine->l1_latency + (load->flags & GRAPH_SPLIT ? machine->split_load : 0);
}

/* What a load's form takes beyond address generation and the L1, or the store queue. */
static inline uint32_t graph_late(const struct graph_machine *machine,
                                  const struct graph_uop *load) {
    return load->execution > machine->load_latency ? load->execution - machine->load_latency : 0;
}

/* Cycles from address and data to the value that a store forwards to this load, but for these. */
static inline uint32_t graph_forward_latency(const struct graph_machine *machine,
                                             const struct graph_uop *load) {
    return load->flags & GRAPH_COVERED || machine->forward_latency < machine->l1_latency
               ? machine->forward_latency
               : machine->l1_latency;
}
