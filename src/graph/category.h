/* Categories of what a graph's edges stand for, and what idealising them means: those of the
 * interaction-cost paper (Table III), stfwd, and those a user defines.
 *
 * A weight of the graph belongs to a part: what of the machine it is, such as a miss that the L2
 * served, or a multiplication. A category idealises some parts, of all µops or of those of some
 * instructions, wholly or partly. With a set of categories idealised, a weight is the least that
 * any category of the set makes of it. Bandwidth and window belong to all µops alike. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"
#include "memory/memory.h"
#include "util/error.h"

enum graph_part {
    GRAPH_PART_FETCH_CACHE, /* wait of fetch for the cache */
    GRAPH_PART_FETCH_TLB,
    GRAPH_PART_WALK,     /* translation of a load or store beyond the first-level TLB */
    GRAPH_PART_MISS_L2,  /* of a load that the L2 served, and of what waits for it: */
    GRAPH_PART_MISS_LLC, /* a line on its way, an MSHR. Likewise the LLC, and memory */
    GRAPH_PART_MISS_DRAM,
    GRAPH_PART_WRITE,      /* waits for a store's write to the cache */
    GRAPH_PART_FORWARD,    /* waits for a store that could not forward; wholly only */
    GRAPH_PART_L1,         /* latency of the L1 and of forwarding */
    GRAPH_PART_SHORT,      /* one-cycle integer operations, wakeup loop */
    GRAPH_PART_LONG,       /* all others */
    GRAPH_PART_MISPREDICT, /* recovery, and fetch bubbles of targets that come late */
    GRAPH_PART_BANDWIDTH,  /* of fetch, dispatch, issue, units and commit */
    GRAPH_PART_WINDOW,
    GRAPH_PART_OPERATION, /* + enum operation: its execution, in GRAPH_PART_SHORT or GRAPH_PART_LONG
                             as well */
    GRAPH_PARTS = GRAPH_PART_OPERATION + OP_COUNT
};

enum category_change {
    CATEGORY_REMOVE, /* edges too; bandwidth without limit */
    CATEGORY_FASTER, /* `amount` cycles less */
    CATEGORY_SCALE   /* `amount` percent of it, rounded down; of the window how much of it */
};

enum { CATEGORIES_MAX = 10, CATEGORY_NAME_BYTES = 64 };
struct category {
    char name[CATEGORY_NAME_BYTES];
    uint64_t parts; /* 1 << enum graph_part */
    enum category_change change;
    uint32_t amount;
    uint32_t *insns; /* bit set of static instructions; NULL: all. Owned */
    uint32_t insn_count;
};

struct categories {
    uint32_t count;
    struct category list[CATEGORIES_MAX];
    uint32_t everywhere[GRAPH_PARTS]; /* sets of those without `insns` */
    uint32_t restricted;              /* set of the others */
};

/* Reads one more category, as a user writes it:
 *
 *     NAME=PART[,PART...][:CHANGE][@PLACE[,PLACE...]]     or without NAME=, the only part's
 *
 * PART: a standard category, which stands for its parts; icache, itlb; dtlb, l2, llc, dram (data
 * misses by what served them; dtlb: translation, wherever the data comes from then), write; an
 * operation ("int_mul"). CHANGE: -N, N cycles faster; N%, what is left of it. PLACE: see
 * simulate/category_places.h; `places` points to them inside `text`, NULL: all instructions. The
 * set of instructions is then empty, of CATEGORY_INSNS. */
enum { CATEGORY_INSNS = 1 << 24 };
bool categories_parse(struct categories *categories, const char *text, const char **places,
                      struct error *error);

/* Those of enum ideal before IDEAL_DLONG, in its order. */
void categories_standard(struct categories *categories);
void categories_free(struct categories *categories);

/* One more; takes over `category->insns`, also on an error: too many, or bandwidth and window of
 * some instructions only. */
bool categories_add(struct categories *categories, const struct category *category,
                    struct error *error);

/* The categories that idealise this part of this instruction. */
static inline uint32_t categories_of(const struct categories *categories, unsigned part,
                                     uint32_t insn) {
    uint32_t set = categories->everywhere[part];
    for (uint32_t rest = categories->restricted; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        const struct category *category = &categories->list[i];
        if (category->parts >> part & 1 && insn < category->insn_count &&
            category->insns[insn / 32] >> insn % 32 & 1)
            set |= 1u << i;
    }
    return set;
}

/* A weight, idealised by the categories of `set`. */
uint32_t categories_weight(const struct categories *categories, uint32_t set, uint32_t weight);
/* Whether no category of `set` removes what it idealises. */
bool categories_keep(const struct categories *categories, uint32_t set);
/* The window, idealised by the categories of `set`; 0: none of them idealises it. */
uint32_t categories_window(const struct categories *categories, uint32_t set,
                           const struct graph_machine *machine);

/* The part that a load's `miss` belongs to, as do its wait for an MSHR and its PP edge. For a load
 * that the L1 served, the last two count as memory's, whose misses hold MSHRs longest. */
static inline enum graph_part graph_miss_part(const struct graph_uop *uop) {
    return uop->level == LEVEL_L1 ? GRAPH_PART_MISS_DRAM
                                  : (enum graph_part)(GRAPH_PART_MISS_L2 + (uop->level - LEVEL_L2));
}

/* The categories that idealise the execution of a µop that is neither load nor store. */
static inline uint32_t categories_of_execution(const struct categories *categories,
                                               const struct graph_uop *uop) {
    if (!(uop->flags & (GRAPH_SHORT | GRAPH_LONG)))
        return 0;
    unsigned part = uop->flags & GRAPH_SHORT ? GRAPH_PART_SHORT : GRAPH_PART_LONG;
    return categories_of(categories, part, uop->insn) |
           categories_of(categories, (unsigned)GRAPH_PART_OPERATION + uop->operation, uop->insn);
}
