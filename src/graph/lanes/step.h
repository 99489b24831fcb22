/* Inside graph/lanes/lanes.c: what its parts share.
 *
 * Lanes come in groups of LANES_GROUP, of sets that agree about the window. Half of a group's lanes
 * are bound by bandwidth, half are not. The nodes of a group are rows, one number for each lane, in
 * one piece of memory; rings hold the rows of the latest µops. A µop is first decoded into a step,
 * which names the rows that its nodes depend on by their places in that memory, so that a step is
 * the same for all groups of a window. Edges that cannot matter are left out of it:
 *
 * - C never decreases, so of the edges from C to D of weight 0 only the nearest counts, and what
 *   was complete at a distance of the window or more is so before D. Likewise for D and F.
 * - F(i) >= F(j) + 1 holds already when an older µop behind j or a later one has such an edge.
 *
 * The members that stand for edges of edges.def, by the node these lead to; the kernel adds what it
 * knows of the µop before and of the machine (FF, FD, DD, DR, PC, CC):
 *
 *   F  fetch_from: FBW, FT, FB; room_from: DF; after_commit: CF; redirect: PD; late: FL; packet: CT
 *   W  committed: CW; written_before: WW; drain_from: WBW
 *   L  write_weight: WL; left_before: LL
 *   D  STEP_MICROCODE: MD; dispatch_from: DBW; commit_from: CD, CQ, CS; queue_entry: ED;
 *      entry_free: SQ
 *   R  producer, wakeup: PR; head: CR, SW; store_complete, store_execute, data_execute: SR; part_*:
 *      SW, or SR where stfwd is idealised
 *   E  unit_wait, mshr: RE, with the slots of graph/lanes/slots.h
 *   P  execution, walk, miss: EP; data: PR; fetched_by: PP; stored, forward: SP
 *   C  width_from: CBW
 *
 * Weights that a category can change are rows as well, one for each weight and set of categories
 * that has come up.
 *
 * Cycles are numbers of 32 bits, or of 16 in groups that are narrow: twice as many to a vector. The
 * 16-bit ones count from an origin of each lane, which moves with dispatch, and cycles long ago
 * become LANES_NARROW_NEVER. That is exact while no difference that matters is too large, which the
 * kernel checks before each step. Where one is, the group becomes wide, at least for a while
 * (graph/lanes/width.c). */
#pragma once

#include "graph/evaluate.h"
#include "graph/lanes.h"
#include "graph/mshrs.h"

enum {
    LANES_GROUP = 128,
    LANES_BOUND = 64,      /* the first lanes of a group, which are bound by bandwidth */
    LANES_CHUNK = 1024,    /* steps */
    LANES_AHEAD = 6,       /* steps ahead that rows are prefetched */
    LANES_LARGE = 8 << 20, /* bytes of rows: more than a second-level cache has */
    LANES_PLANE_ROW = 4 * LANES_BOUND, /* bytes */
    LANES_STORES = 2048,               /* the latest, of which the commits are kept */
    LANES_WEIGHTS = 2048,              /* rows of weights */
    LANES_WORDS = 8,                   /* of 32 cycles each, in which slots are counted, */
    LANES_BITS = 4, /* planes of a counter at most, but for wide lanes of less than AVX-512 */
    LANES_LAG = 16  /* at most so many of these cycles are behind dispatch */
};
static_assert(LANES_LAG + GRAPH_SLOTS <= 32 * LANES_WORDS, "the window holds all that compete");
/* Earlier than anything; rows 0 and 1 of the weights are nothing and this. */
#define LANES_NEVER (-(1 << 30))

/* Narrow cycles. A step may begin while no cycle is later than LAST, and adds at most STEP.
 * Dispatch is moved back to DISPATCH: MSHRs are counted in up to MSHR_BEHIND + MSHR_BLOCK buckets
 * behind it, and NEVER stays before everything that matters, whatever weight is added. */
enum {
    LANES_NARROW_NEVER = -30000,
    LANES_NARROW_STEP = 8000,
    LANES_NARROW_LAST = INT16_MAX - LANES_NARROW_STEP,
    LANES_NARROW_EARLY = LANES_NARROW_NEVER + LANES_NARROW_STEP + 1,
    LANES_NARROW_DISPATCH = LANES_NARROW_NEVER + (MSHR_BEHIND + MSHR_BLOCK + 1) * MSHR_CYCLES,
    LANES_NARROW_WORDS = 2 * LANES_WORDS, /* of 16 cycles each, in which slots are counted, */
    LANES_NARROW_NEAR = 3                 /* the first, which may always hold some */
};
static_assert(LANES_NARROW_DISPATCH > LANES_NARROW_EARLY, "NEVER stays before dispatch");

enum step_flags {
    STEP_FETCH = 1 << 0,      /* extra: fetch */
    STEP_DISPATCH = 1 << 1,   /* extra: dispatch */
    STEP_READY = 1 << 2,      /* extra: ready */
    STEP_ELIMINATED = 1 << 3, /* R, E and P are D */
    STEP_MSHR = 1 << 4,       /* extra: mshr */
    STEP_STORE = 1 << 5,      /* extra: data, at_store */
    STEP_BEYOND = 1 << 6,     /* extra: load beyond the L1 */
    STEP_FORWARD = 1 << 7,    /* extra: load that a store may forward to */
    STEP_MISSED = 1 << 8,     /* extra: at_miss */
    STEP_AFTER_COMMIT = 1 << 9,
    STEP_MISPREDICTED = 1 << 10,
    STEP_COVERED = 1 << 11,
    STEP_WRITE = 1 << 12,      /* extra: write of the store whose entry it takes; */
    STEP_WRITE_MISS = 1 << 13, /* it takes an MSHR */
    STEP_ENTRY = 1 << 15,      /* extra: entry_free */
    STEP_GROUP_LEFT = 1 << 16, /* extra: at_group_left */
    STEP_MISS = 1 << 14,       /* extra: load that takes an MSHR */
    STEP_LARGE = 1 << 17,      /* adds more than LANES_NARROW_STEP may */
    STEP_PART = 1 << 18,       /* extra: load that waits for a store that holds a part; STEP_FORWARD
                                  too */
    STEP_MICROCODE = 1 << 19,  /* behind that of a repeated string instruction */
    STEP_POOL = 24             /* shift: the pool that a slot is taken of */
};

/* The rows of a µop's own nodes, and those as far back as bandwidth edges reach. Each moves on by a
 * row from µop to µop. */
struct lanes_moving {
    uint32_t fetch, dispatch, execute, complete, commit, room_from, dispatch_from, width_from;
} __attribute__((aligned(32)));
enum { LANES_MOVING = sizeof(struct lanes_moving) / sizeof(uint32_t) };

/* Numbers are rows unless said otherwise. */
struct lanes_step {
    struct lanes_moving at;
    uint32_t fetch_from, commit_from, producer[2];
    uint32_t execution; /* weight */
    uint32_t flags;
    uint32_t extra;        /* index */
    uint16_t fetch_weight; /* cycles; 0: there is no edge */
    uint16_t unit_wait;    /* cycles */
};
static_assert(sizeof(struct lanes_step) == 64, "one cache line");

/* What only few steps have. */
struct lanes_extra {
    uint32_t after_commit, redirect, redirect_keep, previous, late, packet, cache, tlb; /* fetch */
    uint32_t queue_entry;                                                     /* dispatch */
    uint32_t committed, written_before, drain_from, write_weight, at_written; /* STEP_WRITE */
    uint32_t left_before, at_left, entry_free, at_group_left;
    uint32_t fill, mshrs; /* STEP_WRITE_MISS, STEP_MISS; the last a number */
    uint32_t producer[UOP_MAX_SOURCES], wakeup[UOP_MAX_SOURCES], producers; /* ready */
    uint32_t head, head_weight, store_complete, store_execute, data_execute;
    uint32_t mshr;
    uint32_t data, data_wakeup, at_store;                                         /* STEP_STORE */
    uint32_t walk, miss, fetched_by, fetched_by_weight, fetched_by_keep, at_miss; /* STEP_BEYOND */
    uint32_t store_commit, stored, address, forward, write_keep;                  /* STEP_FORWARD */
    uint32_t part_weight, part_keep, part_store, part_data;                       /* STEP_PART */
};

struct lanes_ring {
    uint32_t base, rows;
};

/* Where the rows are in groups with the same window, and the steps made for them. */
struct lanes_layout {
    uint32_t window; /* CD */
    bool ideal;      /* no other edges of the window */
    struct lanes_ring fetch, dispatch, execute, complete, commit, stores, misses, written, left,
        groups_left;
    uint32_t length; /* of all rings and weights, in cycles */
    struct lanes_moving at, end,
        size;   /* `at`: rows of the next µop; `end`, `size`: of each one's ring */
    bool large; /* larger than caches */
    uint32_t extra_count;
    /* The last LANES_AHEAD are only read for prefetching. */
    struct lanes_step steps[LANES_CHUNK + LANES_AHEAD] __attribute__((aligned(64)));
    struct lanes_extra extras[LANES_CHUNK];
};

/* Slots taken of a queue or pool, in a window of cycles: bit planes of a binary counter, one bit of
 * each cycle. As it never exceeds `limit`, it is full where all bits of that are set. Each plane is
 * LANES_WORDS rows. */
struct lanes_counter {
    uint32_t plane; /* the first */
    uint32_t bits;  /* planes */
    uint32_t limit;
};
enum { LANES_COUNTERS = MACHINE_MAX_QUEUES + MACHINE_MAX_POOLS };

/* The counters in which a µop of a pool takes a slot, `count` of them. None: there is always a
 * slot. */
struct lanes_slot {
    uint32_t counters[2];
    uint32_t count;
};

struct lanes_slots {
    struct lanes_slot pools[MACHINE_MAX_POOLS];
    struct lanes_counter counters[LANES_COUNTERS];
    uint32_t counter_count, planes;
};

struct lanes_group {
    const struct lanes_layout *layout;
    bool free; /* the lanes behind LANES_BOUND are used too, and not bound by bandwidth */
    bool narrow;
    uint64_t paid;       /* µops of the fragment, from which on it may be moved or become narrow */
    uint32_t widened;    /* how often, in the fragment */
    char *rows;          /* of cycles, narrow or wide */
    char *planes;        /* of counters, row by row, of the lanes bound */
    struct mshrs *mshrs; /* of each lane; `offset` from its other cycles */
    uint32_t taken[LANES_BOUND / 4]; /* of each vector, the set of counters that may count any */
    uint32_t words[LANES_BOUND / 4]; /* of each vector, that are not all zero; the near at least */
    uint32_t sets[LANES_GROUP];
    int64_t total[LANES_GROUP];  /* cycles of earlier fragments, and what times were moved by */
    int64_t offset[LANES_GROUP]; /* likewise, of narrow ones in this fragment */
    /* Nodes of the latest µop; narrow ones are in the first half: */
    int32_t fetch[LANES_GROUP] __attribute__((aligned(64)));
    int32_t dispatch[LANES_GROUP] __attribute__((aligned(64)));
    int32_t commit[LANES_GROUP] __attribute__((aligned(64)));
    int32_t base[LANES_BOUND] __attribute__((aligned(64))); /* cycle of bit 0 of the planes */
    /* F in 32 bits, from the same origin, of narrow ones that are not bound. */
    int32_t exact_fetch[LANES_GROUP] __attribute__((aligned(64)));
    const struct lanes_slots *slots;
    const struct graph_machine *machine;
};

/* Evaluates the steps [from, count). Returns the first that it has not evaluated, because a narrow
 * group may not hold its cycles. */
typedef uint32_t lanes_kernel(struct lanes_group *group, uint32_t from, uint32_t count);
lanes_kernel lanes_run_plain, lanes_run_avx2, lanes_run_avx2_narrow, lanes_run_avx512,
    lanes_run_avx512_narrow;

/* `number`: of µops in the fragment so far.
 *
 * Moves the cycles of a narrow group back. False: 16 bits do not hold them, or not for long, and it
 * is as before. */
bool lanes_move_narrow(struct lanes_group *group, uint64_t number);
/* Makes a wide group narrow; likewise. */
bool lanes_narrow(struct lanes_group *group, uint64_t number);
/* Makes a narrow group wide. After either, the rows of weights must be filled anew. */
void lanes_widen(struct lanes_group *group, uint64_t number);
/* How many rows these three functions go over. */
uint32_t lanes_rows(const struct lanes_layout *layout, uint64_t number);

/* ---- decoding ---- */

struct lanes_decoder;
struct lanes_decoder *lanes_decoder_new(const struct graph_machine *machine,
                                        const struct categories *categories,
                                        const struct lanes_slots *slots);
void lanes_decoder_free(struct lanes_decoder *decoder);
/* Makes steps of the next µops of the fragment, in all layouts, and fills rows of weights in all
 * groups. Returns how many µops it took. */
uint32_t lanes_decode(struct lanes_decoder *decoder, struct lanes_layout *const *layouts,
                      uint32_t layout_count, struct lanes_group *groups, uint32_t group_count,
                      const struct graph_uop *uops, uint32_t count);
void lanes_decoder_begin(struct lanes_decoder *decoder); /* a fragment */
/* Fills all rows of weights anew, for a group that has become narrow or wide. */
void lanes_fill_weights(const struct lanes_decoder *decoder, struct lanes_group *group);
/* Whether steps of this machine's own latencies are far from LANES_NARROW_STEP. */
bool lanes_machine_is_narrow(const struct graph_machine *machine);
