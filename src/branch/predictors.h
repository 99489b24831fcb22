/* Inside of the branch room: the predictors, one .c file each. Every `*_predict` predicts, then
 * trains with the truth, in one call. A branch's index in a table comes from address >> 1: no
 * branch is one byte long, so two branches never share it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

/* ---- two-bit counters: 0 and 1 predict not taken, 2 and 3 taken ---- */

static inline void counter_train(uint8_t *counter, bool up) {
    *counter = (uint8_t)(up ? *counter + (*counter < 3) : *counter - (*counter > 0));
}

/* All bits of a value, so many at a time, one upon the other; 0: as it is. */
static inline uint64_t fold_bits(uint64_t value, uint32_t width) {
    uint64_t folded = value;
    if (width)
        for (uint64_t rest = value >> width; rest; rest >>= width)
            folded ^= rest;
    return folded;
}

/* `entries` counters (a power of two), all at `start`. NULL when out of memory. */
uint8_t *counters_new(uint32_t entries, uint8_t start);

/* ---- direction: rows of machine/predictors.def ----
 *
 * word_init() makes one that has learned nothing; false: out of memory, and word_free() follows all
 * the same. word_copy() gives one of the same machine what another has learned. */

/* Counters selected by the branch. */
struct bimodal {
    uint8_t *counters;
    uint32_t mask;
};
bool bimodal_init(struct bimodal *bimodal, const struct machine_branch *machine);
void bimodal_free(struct bimodal *bimodal);
void bimodal_copy(struct bimodal *bimodal, const struct bimodal *from);
bool bimodal_predict(struct bimodal *bimodal, uint64_t address, bool taken);

/* Counters selected by the branch xor the outcomes of the last conditional branches. */
struct gshare {
    uint8_t *counters;
    uint32_t mask;
    uint32_t history, history_mask; /* newest outcome in bit 0 */
    uint32_t shift;                 /* aligns a short history with the index's high bits */
};
bool gshare_init(struct gshare *gshare, const struct machine_branch *machine);
void gshare_free(struct gshare *gshare);
void gshare_copy(struct gshare *gshare, const struct gshare *from);
bool gshare_predict(struct gshare *gshare, uint64_t address, bool taken);

/* A chooser selected by the branch: 2 and 3 take gshare's word, 0 and 1 bimodal's. */
struct tournament {
    struct bimodal bimodal;
    struct gshare gshare;
    uint8_t *choosers;
    uint32_t mask;
};
bool tournament_init(struct tournament *tournament, const struct machine_branch *machine);
void tournament_copy(struct tournament *tournament, const struct tournament *from);
bool tournament_predict(struct tournament *tournament, uint64_t address, bool taken);
void tournament_free(struct tournament *tournament);

enum { TAGE_LANES = 8, TAGE_GROUPS = 2, TAGE_HISTORY = 1024 };

struct tage_entry {
    uint16_t tag;   /* with the valid bit: 0 never matches */
    int8_t counter; /* -4 to 3; from 0 on it predicts taken */
    uint8_t useful; /* 0 to 3 */
};

typedef uint32_t tage_lanes
    __attribute__((vector_size(TAGE_LANES * sizeof(uint32_t)), aligned(16)));

/* The last outcomes, as many as a table sees, folded to `width` bits by xor; a lane per table. */
struct tage_fold {
    tage_lanes folded[TAGE_GROUPS];
    tage_lanes leaving[TAGE_GROUPS]; /* bit at which the oldest outcome has arrived */
    tage_lanes mask;
    uint32_t width;
};

struct tage {
    struct bimodal base;
    struct tage_entry *entries; /* of all tables */
    uint32_t tables, groups;    /* groups: of TAGE_LANES tables, the last padded */
    struct tage_fold index, tag;
    tage_lanes tag_mask;
    tage_lanes first_entry[TAGE_GROUPS];       /* of each table */
    tage_lanes hit[TAGE_GROUPS];               /* bit of each table, 0 for padding */
    uint32_t oldest[TAGE_GROUPS * TAGE_LANES]; /* outcome a table sees; padding: 0 */
    uint32_t newest;                           /* in outcomes; older ones follow it */
    int32_t trust_alternate; /* -8 to 7: from 0 on, new entries are less right than the alternate */
    uint32_t random;
    uint32_t until_ageing;             /* branches */
    uint8_t next_age_mask;             /* which useful bit the next ageing keeps */
    int8_t outcomes[4 * TAGE_HISTORY]; /* 0 or -1 (taken); moved to the end when newest reaches 0 */
};
bool tage_init(struct tage *tage, const struct machine_branch *machine);
void tage_copy(struct tage *tage, const struct tage *from);
bool tage_predict(struct tage *tage, uint64_t address, bool taken);
void tage_free(struct tage *tage);

/* ---- targets ---- */

/* Set associative, least recently used replaced; the ways of a set are kept in order of use. */
struct btb_entry {
    uint64_t key; /* address + 1; 0: empty */
    uint64_t target;
};
struct btb {
    struct btb_entry *entries; /* NULL: perfect */
    uint32_t ways, set_mask;
    uint32_t far_ways; /* of a set, so many at most have a target in another page; 0: all */
    uint32_t fold; /* bits of a set's number, of which all of the address's are folded together; 0:
                      the lowest */
};
bool btb_init(struct btb *btb, uint32_t entries, uint32_t ways, uint32_t far_ways, bool hash);
void btb_copy(struct btb *btb, const struct btb *from);
/* Whether a branch and its target lie in different pages. */
static inline bool btb_is_far(uint64_t address, uint64_t target) {
    enum { PAGE_BITS = 12 };
    return (address ^ target) >> PAGE_BITS != 0;
}
/* Returns whether the branch was in the buffer; *target is then the target that it held. Makes the
 * branch the most recent of its set, with target `next`. Not for a perfect BTB. */
bool btb_predict(struct btb *btb, uint64_t address, uint64_t next, uint64_t *target);

/* Whether it has a target for the branch. */
bool btb_holds(const struct btb *btb, uint64_t address);

/* Targets selected by the branch and its path. */
struct indirect_entry {
    uint64_t target;
    uint32_t tag;        /* 0: empty */
    uint16_t confidence; /* 0 to 3 */
    bool several;        /* it has had another target */
};
enum { INDIRECT_MOST_BLOCKS = 4 };
struct indirect {
    struct indirect_entry *entries; /* NULL: there is none */
    uint32_t index_bits;
    uint32_t path;            /* hash of the last 8 targets */
    uint32_t bits_per_branch; /* of `outcomes`; 0: the path is that of the targets */
    uint64_t outcomes;        /* hash of the last conditional branches and what they did */
    uint32_t blocks;          /* of `before` that count */
    bool direct;              /* the newest of them is a direct one */
    uint64_t before[INDIRECT_MOST_BLOCKS]; /* the last taken branches, the newest first; 0: an older
                                              one that was indirect */
    uint64_t here;                         /* where the last one went */
};
bool indirect_init(struct indirect *indirect, const struct machine_branch *machine);
void indirect_copy(struct indirect *indirect, const struct indirect *from);
/* Returns whether it knows the branch on this path; *target is then its prediction.
 * `fallback_right`: the BTB's target, used when it does not know, was right. *several: it has had
 * more than one target there. */
bool indirect_predict(struct indirect *indirect, uint64_t address, uint64_t next,
                      bool fallback_right, uint64_t *target, bool *several);
/* With a history: after each conditional branch that the predictor knows to be one, */
void indirect_note_outcome(struct indirect *indirect, uint64_t address, bool taken);
/* and after each branch that is taken, of whatever kind. */
static inline void indirect_note_taken(struct indirect *indirect, uint64_t address,
                                       enum branch_kind kind, uint64_t next) {
    const bool direct = kind == BRANCH_CONDITIONAL || kind == BRANCH_JUMP || kind == BRANCH_CALL;
    indirect->here = next;
    if (kind == BRANCH_RETURN && indirect->blocks > 1)
        return;
    for (uint32_t i = indirect->blocks - 1; i > 0; i--)
        indirect->before[i] = i > 1 || indirect->direct ? indirect->before[i - 1] : 0;
    indirect->before[0] = address;
    indirect->direct = direct;
}

/* A ring: calls beyond its size overwrite the oldest, returns beyond them pop stale addresses. */
struct return_stack {
    uint64_t *addresses;
    uint32_t size, top;
};
bool return_stack_init(struct return_stack *stack, uint32_t size);
void return_stack_copy(struct return_stack *stack, const struct return_stack *from);
void return_stack_push(struct return_stack *stack, uint64_t address);
uint64_t return_stack_pop(struct return_stack *stack);
