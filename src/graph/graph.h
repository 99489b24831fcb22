/* The dependence graph of an execution (interaction-cost paper §3, Table II).
 *
 * There are six nodes for each µop i, in program order. Each is the cycle of an event in its life:
 *
 *   F fetched, D dispatched, R operands ready, E issued, P result ready, C committed
 *
 * A store has two more. They stand at the µop that takes over its store queue entry, and come
 * before that µop's D, so W(i) and L(i) are events of the store whose entry i takes:
 *
 *   W written to the cache, L has left the store queue: its line is owned, as are those before it
 *
 * A node's time is the maximum over the edges that lead to it. The paper's graph has instructions;
 * a core cracks them, so ours has µops. The paper's D stands for fetch too; our cores fetch ahead
 * of a stalled dispatch, as far as the buffers between the two allow, so fetch has its own node.
 *
 * Below are the edges, with their latency in cycles, and the categories that idealise them in
 * parentheses. Those of Table II:
 *
 *   FF   F(i-1) -> F(i)    in-order fetch
 *   FBW  F(i-fbw) -> F(i)  1, fetch bandwidth, fbw in instructions (bw)
 *   FD   F(i) -> D(i)      front-end depth
 *   DD   D(i-1) -> D(i)    0, in-order dispatch
 *   CD   C(i-w) -> D(i)    0, reorder buffer of w (win: w x 20)
 *   PD   P(i-1) -> F(i)    branch recovery, if i-1 was mispredicted (bmisp)
 *   DR   D(i) -> R(i)      pipeline depth from dispatch to issue
 *   PR   P(j) -> R(i)      0; the extra issue-wakeup latency of a one-cycle producer (shalu)
 *   RE   R(i) -> E(i)      wait for an issue slot and a unit (bw): until the first cycle in which
 *                          the older µops leave one of each, as they issue oldest first. As
 *                          observed for units that are not pipelined (bw) and for MSHRs (dmiss),
 *                          which are counted instead where the window is ideal (graph/mshrs.h)
 *   EP   E(i) -> P(i)      execution (shalu, lgalu). Of a load: address generation, L1 (dl1),
 *                          translation and what is beyond the L1 (both dmiss). Of a store: address
 *                          generation and translation (dmiss)
 *   PP   P(j) -> P(i)      0, i loads from the line that j's miss fetches. If the line was already
 *                          on its way when i wanted it: how much later it arrived, observed (dmiss)
 *   PC   P(i) -> C(i)      pipeline depth from completion to commit
 *   CC   C(i-1) -> C(i)    0, in-order commit
 *   CBW  C(i-cbw) -> C(i)  1, commit bandwidth (bw)
 *
 * In the paper, DD holds what fetch waited for the instruction cache and TLB. Here that wait is
 * added to the latest edge to F, since it begins when fetch gets there (imiss).
 *
 * Edges that our cores have beyond those of Table II:
 *
 *   FT   F(j) -> F(i)      1, fetch stops at a taken branch: j is the last but taken_branches - 1
 *                          of them (bw)
 *   FB   F(i-1) -> F(i)    bubble after a taken branch, or 1 where fetch stopped at the end of its
 *                          aligned block (bw)
 *   FL   F(i-1) -> F(i)    bubble after a branch whose target came from decode (bmisp)
 *   DF   D(i-cap) -> F(i)  0, room between fetch and dispatch (bw)
 *   CT   C(j) -> F(i)      0, fetch target queue: j is the last of the packet whose entry i takes
 *                          (win)
 *   CF   C(i-1) -> F(i)    fetch goes on after the commit of a flushing instruction, a system call,
 *                          or the flush of an ordering violation
 *   DBW  D(i-dbw) -> D(i)  1, dispatch bandwidth (bw)
 *   CQ   C(j) -> D(i)      0, load queue, physical registers: j is the one whose entry it takes
 *                          (win)
 *   SQ   L(i) -> D(i)      0, store queue: the store whose entry i takes has left it (win)
 *   ED   E(j) -> D(i)      0, issue queue: observed (win)
 *   CW   C(j) -> W(i)      0, j is the store whose entry i takes. If its line must be fetched, each
 *                          edge to W is followed by a wait for an MSHR, counted (dmiss)
 *   WW   W(j) -> W(i)      0, in-order writes: j is the last µop that took an entry
 *   WBW  W(j) -> W(i)      1, store drain: j is the one that took it so many entries ago (bw)
 *   WL   W(i) -> L(i)      1, the write; and what it took beyond that, observed (dmiss)
 *   LL   L(j) -> L(i)      0, in order; j as for WW
 *   CS   C(j) -> D(i)      0, j = i-1 around serialising instructions, a fence before a load
 *   CR   C(i-1) -> R(i)    instructions that issue only at the head of the reorder buffer
 *   SR   P(j) -> R(i)      j is a store that i waits for: less the address generation of i. But
 *        E(j) -> R(i)      i does not go before the core knows of the match: when the store issues
 *        E(k) -> R(i)      and when k does, the producer of its data. These two reach only as far
 *                          back as the window, since i was in it with them
 *   SW   C(j) -> R(i)      1, the write, and what it took beyond that, observed (dmiss): j holds
 *                          only a part of what i reads, so i waits until j is in the cache. When
 *                          stfwd is idealised, there are instead E(j) and E(k) -> R(i) as for SR,
 *                          and SP, at no more than the L1's latency, if i executes before that
 *   SP   P(j) -> P(i)      forwarding (dl1), when i executes before j has left the store queue
 *
 * Weights that depend on the machine alone are in struct graph_machine; those that were observed
 * are in struct graph_uop. */
#ifndef CULPRIT_GRAPH_GRAPH_H
#define CULPRIT_GRAPH_GRAPH_H

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
    GRAPH_LATE = LIFE_LATE,             /* FL to the next */
    GRAPH_ELIMINATED = LIFE_ELIMINATED, /* R, E and P are D */
    GRAPH_SAME = GRAPH_LAST | GRAPH_LOAD | GRAPH_STORE | GRAPH_FUSED | GRAPH_MISPREDICTED |
                 GRAPH_FLUSHES | GRAPH_WAITS_HEAD | GRAPH_TAKEN | GRAPH_FIRST | GRAPH_COVERED |
                 GRAPH_LATE | GRAPH_ELIMINATED,

    GRAPH_FORWARDED = 1 << 4, /* SP, since the store's write took long */
    GRAPH_SHORT = 1 << 5,     /* EP is shalu's */
    GRAPH_LONG = 1 << 8,      /* EP is lgalu's */
    GRAPH_BREAK = 1 << 9,     /* FB of 1 */
    GRAPH_HUNG = 1 << 10,     /* SR: the load waited for the store before it issued */
    GRAPH_PENDING = 1 << 11,  /* load of a line that was on its way: PP's weight is `miss` */
    GRAPH_WAKEUP = 1 << 13    /* this and the next four bits: producer[i] takes less than the wakeup
                                 loop, so the edge has its extra latency */
};
static_assert(((unsigned)GRAPH_SAME & 0x3ef30u) == 0, "bits of their own");

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
    uint16_t load_entry, store_entry, int_register, fp_register; /* CQ */
    uint16_t queue_entry;                                        /* ED */
    uint16_t serial;                                             /* CS */
    uint16_t fetch_cache, fetch_tlb;                             /* of F: imiss */
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
    uint16_t execution; /* EP; of loads and stores address generation */
    uint16_t walk; /* EP: of a load or store what its translation took beyond the first-level TLB */
    uint16_t miss; /* EP of a load beyond L1 and translation; of PP if pending */
    uint8_t operation; /* enum operation */
    uint8_t level : 4; /* enum memory_level that served a load, or that write */
    uint8_t pool : 4;  /* of functional units */
};
static_assert(sizeof(struct graph_uop) == 64, "one cache line");
static_assert(MACHINE_MAX_POOLS <= 16 && LEVEL_DRAM < 16, "four bits each");

/* What all µops have in common, in µops and cycles. */
struct graph_machine {
    uint32_t dispatch_width, commit_width, window; /* DBW, CBW, CD */
    uint32_t ideal_window;                         /* CD under win */
    uint32_t fetch_room;                           /* DF */
    uint32_t frontend_depth, redirect, late_bubble, taken_bubble;
    uint32_t dispatch_to_issue, wakeup_extra, complete_to_commit;
    uint32_t l1_latency, forward_latency, load_latency; /* the last: address generation */
    uint32_t pool_units[MACHINE_MAX_POOLS], pool_queue[MACHINE_MAX_POOLS];
    uint32_t queue_issue[MACHINE_MAX_QUEUES];
    uint32_t store_queue, store_drain; /* entries; writes per cycle */
    /* By enum memory_level that serves a miss: the fewest MSHRs of the levels before it; 0:
     * unlimited, or more than MSHR_MOST. */
    uint32_t mshrs[LEVEL_DRAM + 1];
};
void graph_machine_of(const struct machine *machine, struct graph_machine *graph);

/* Cycles from address and data to the value that a store forwards to this load. */
static inline uint32_t graph_forward_latency(const struct graph_machine *machine,
                                             const struct graph_uop *load) {
    return load->flags & GRAPH_COVERED || machine->forward_latency < machine->l1_latency
               ? machine->forward_latency
               : machine->l1_latency;
}

#endif
