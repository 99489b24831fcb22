/* Inside graph/lanes.c: what its parts share.
 *
 * Lanes come in groups of LANES_GROUP, of sets that agree about bandwidth and window. The nodes of
 * a group are rows, one number for each lane, in one piece of memory; rings hold the rows of the
 * latest µops. A µop is first decoded into a step, which names the rows that its nodes depend on by
 * their places in that memory, so that a step is the same for all groups of a window. Edges that
 * cannot matter are left out of it:
 *
 * - C never decreases, so of the edges from C to D of weight 0 only the nearest counts, and what
 *   was complete at a distance of the window or more is so before D. Likewise for D and F.
 * - F(i) >= F(j) + 1 holds already when an older µop behind j or a later one has such an edge.
 *
 * Weights that a category can change are rows as well, one for each weight and set of categories
 * that has come up. */
#ifndef CULPRIT_GRAPH_LANES_STEP_H
#define CULPRIT_GRAPH_LANES_STEP_H

#include "graph/evaluate.h"
#include "graph/lanes.h"

enum {
    LANES_GROUP = 64,
    LANES_CHUNK = 1024,             /* steps */
    LANES_ROW = 4 * LANES_GROUP,    /* bytes */
    LANES_WEIGHTS = 2048,           /* rows of weights */
    LANES_CELLS = 2 * GRAPH_SLOTS,  /* of cycles, for slots: as many behind as ahead */
    LANES_STRIDE = LANES_CELLS + 80 /* from lane to lane; none share the low 12 bits */
};
/* Earlier than anything; rows 0 and 1 of the weights are nothing and this. */
#define LANES_NEVER (-(1 << 30))

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
    STEP_POOL = 24 /* shift: the pool that a slot is taken of */
};

/* Numbers are places of rows, unless said otherwise. */
struct lanes_step {
    uint32_t flags;
    uint32_t fetch_from, room_from, dispatch_from, commit_from, width_from, producer[2];
    uint32_t at_fetch, at_dispatch, at_execute, at_complete, at_commit; /* its own */
    uint32_t execution;                                                 /* weight */
    uint32_t extra;                                                     /* index */
    uint16_t fetch_weight; /* cycles; 0: there is no edge */
    uint16_t unit_wait;    /* cycles */
};
static_assert(sizeof(struct lanes_step) == 64, "one cache line");

/* What few steps have. */
struct lanes_extra {
    uint32_t after_commit, redirect, redirect_keep, previous, late, packet, cache, tlb; /* fetch */
    uint32_t store_entry, drain, drain_weight, drain_keep, queue_entry;     /* dispatch */
    uint32_t producer[UOP_MAX_SOURCES], wakeup[UOP_MAX_SOURCES], producers; /* ready */
    uint32_t head, head_weight, store_complete, store_execute, data_execute;
    uint32_t mshr;
    uint32_t data, data_wakeup, at_store;                          /* STEP_STORE */
    uint32_t miss, bringer, bringer_weight, bringer_keep, at_miss; /* STEP_BEYOND */
    uint32_t store_commit, stored, address, forward, write_keep;   /* STEP_FORWARD */
};

struct lanes_ring {
    uint32_t base, mask;
};

/* Where the rows are, of groups with the same window; and the steps made for them. */
struct lanes_layout {
    uint32_t window; /* CD */
    bool ideal;      /* no other edges of the window */
    struct lanes_ring fetch, dispatch, execute, complete, commit, stores, misses;
    uint32_t bytes;
    struct lanes_step steps[LANES_CHUNK];
    struct lanes_extra extras[LANES_CHUNK];
};

/* Counters of a cycle's slots, of a queue and its pools, share a word; each has a bit above it that
 * is set when `add` is added to a counter that is full. */
struct lanes_slot {
    uint32_t table;                /* first word */
    uint32_t add, full, increment; /* full: 0: there is always a slot */
};

struct lanes_group {
    const struct lanes_layout *layout;
    bool bandwidth; /* not idealised */
    char *rows;
    uint32_t *slots; /* [table][lane][cycle] */
    uint32_t sets[LANES_GROUP];
    int64_t total[LANES_GROUP]; /* cycles of earlier fragments, and what times were moved by */
    int32_t fetch[LANES_GROUP] __attribute__((aligned(64))); /* of the latest µop: */
    int32_t dispatch[LANES_GROUP] __attribute__((aligned(64)));
    int32_t commit[LANES_GROUP] __attribute__((aligned(64)));
    int32_t cleared[LANES_GROUP] __attribute__((aligned(64))); /* no slot is taken before */
    const struct lanes_slot *pools;
    const struct graph_machine *machine;
    uint32_t tables;
};

/* No slot is taken before `dispatch` any more. */
void lanes_clear(struct lanes_group *group);

typedef void lanes_kernel(struct lanes_group *group, uint32_t count);
lanes_kernel lanes_run_plain, lanes_run_avx2, lanes_run_avx512;

/* ---- decoding ---- */

struct lanes_decoder;
struct lanes_decoder *lanes_decoder_new(const struct graph_machine *machine,
                                        const struct categories *categories,
                                        const struct lanes_slot *pools);
void lanes_decoder_free(struct lanes_decoder *decoder);
void lanes_layout_init(struct lanes_layout *layout, const struct graph_machine *machine,
                       uint32_t window);
/* Makes steps of the next µops of the fragment, in all layouts, and fills rows of weights in all
 * groups; returns of how many. */
uint32_t lanes_decode(struct lanes_decoder *decoder, struct lanes_layout *const *layouts,
                      uint32_t layout_count, struct lanes_group *groups, uint32_t group_count,
                      const struct graph_uop *uops, uint32_t count);
void lanes_decoder_begin(struct lanes_decoder *decoder); /* a fragment */

#endif
