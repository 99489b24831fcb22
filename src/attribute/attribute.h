/* Time attribution: which static instruction owns each cycle, and why.
 *
 * Cycles are counted in integers of 1/840 cycle (exact for 1 to 8 sharers): sums are exact and
 * independent of order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tap/tap.h"
#include "util/error.h"

enum { CYCLE_UNITS = 840 };

/* The four commit states of every cycle (paper A §2). */
enum commit_state { STATE_COMPUTING, STATE_STALLED, STATE_FLUSHED, STATE_DRAINED, STATE_COUNT };
const char *commit_state_name(enum commit_state state);

/* A per-instruction profile with cycle stacks (PICS): the golden reference of paper B §4, of which
 * the Oracle profile of paper A is the sum over signatures. */
struct pics_cell {
    uint32_t insn; /* static instruction */
    uint32_t psv;
    uint64_t units; /* 1/840 cycles */
};

struct pics;
struct pics *pics_new(void);
void pics_free(struct pics *pics);

/* False when memory is out (nothing is added then). */
bool pics_add(struct pics *pics, uint32_t insn, uint32_t psv, uint64_t units);
uint64_t pics_total(const struct pics *pics); /* units */

/* The same, by signature. */
void pics_by_signature(const struct pics *pics, uint64_t units[]); /* of PSV_COMBINATIONS */

/* Adds everything in `from`, times `weight`, and clears `from`. False when memory is out. */
bool pics_move(struct pics *pics, struct pics *from, uint64_t weight);

/* All cells with units > 0, sorted by (insn, psv); owned by the caller (free). */
struct pics_cell *pics_cells(const struct pics *pics, uint64_t *count);

/* ---- Oracle: every cycle, TIP's rules, worker of the tap (oracle.c) ---- */
struct oracle_result {
    uint64_t cycles;
    uint64_t states[STATE_COUNT]; /* cycles; they sum to `cycles` */
    uint64_t instructions, uops;
};
struct oracle;
struct oracle *oracle_new(void);
void oracle_free(struct oracle *oracle);
struct tap_worker oracle_worker(struct oracle *oracle);
void oracle_result(const struct oracle *oracle, struct oracle_result *result);
/* Profile without signatures: all cells have psv 0. Units sum to cycles × 840. */
struct pics *oracle_profile(const struct oracle *oracle);

/* ---- TEA's golden reference: every cycle, every PSV (golden.c) ---- */
/* With Oracle in the same pass: the sum over signatures is Oracle's profile. */
struct golden;
struct golden *golden_new(void);
void golden_free(struct golden *golden);
struct tap_worker golden_worker(struct golden *golden);
struct pics *golden_profile(const struct golden *golden);
/* What Oracle counts. */
void golden_counted(const struct golden *golden, struct oracle_result *result);
