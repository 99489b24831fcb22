/* Cycle-level cores. A core consumes the dynamic instructions of one guest thread, in program
 * order, as they become known, and shows every cycle on its tap.
 *
 *     struct core *core = core_new(&machine, &options, &error);
 *     core_push(core, &input, &error)                        as often as there is input
 *     core_finish(core, &error)                              runs until everything has committed
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "branch/branch.h"
#include "machine/machine.h"
#include "memory/memory.h"
#include "tap/life.h"
#include "tap/tap.h"
#include "trace/trace.h"
#include "util/error.h"

/* Idealisations (interaction-cost paper Tables I and III). */
enum ideal {
    IDEAL_IMISS = 1 << 0, /* instruction cache and TLB hit */
    IDEAL_DMISS = 1 << 1, /* data accesses hit L1 and TLB */
    IDEAL_DL1 = 1 << 2,   /* L1 data latency zero */
    IDEAL_SHALU = 1 << 3, /* one-cycle integer operations take zero */
    IDEAL_LGALU = 1 << 4, /* multi-cycle integer and fp operations take zero */
    IDEAL_BW = 1 << 5,    /* fetch, issue, commit bandwidth, functional units, ports, store drain */
    IDEAL_BMISP = 1 << 6, /* branches predicted right */
    IDEAL_WIN = 1 << 7,   /* window 20 times larger */
    IDEAL_STFWD = 1 << 8, /* stores forward to loads that they cover in part, too */
    IDEAL_DLONG = 1 << 9, /* a last-level data miss takes last-level hit latency */
    IDEAL_SPLIT = 1 << 10, /* loads and stores in two lines cost what others do */
    IDEAL_COUNT = 11
};
/* "imiss,bmisp" -> bits; error names the unknown one and lists all. */
bool ideal_parse(const char *list, uint32_t *ideal, struct error *error);
const char *ideal_name(unsigned index);        /* of bit 1 << index */
const char *ideal_description(unsigned index); /* for help */

/* What of it concerns memory: enum memory_ideal. */
uint32_t core_memory_ideal(uint32_t ideal);

/* What a core has learned: caches, TLBs and predictors. It can be kept without the core. */
struct core_learned {
    struct memory *memory; /* NULL: nothing yet */
    struct branch_predictor *predictor;
};

struct executor;
struct stall_causes;
struct core_options {
    uint32_t ideal;            /* enum ideal */
    struct executor *executor; /* the thread that runs the pipeline; NULL: the caller's. Cores may
                                  share one. Results do not depend on it */
    struct tap *tap;           /* NULL: none */
    struct stall_causes
        *causes; /* of a core in order: filled in (core/stall_causes.h). NULL: none */
    /* What the core starts with, learned on the same machine; core_new() takes it over. NULL, or
     * without memory: it starts with nothing learned. */
    struct core_learned *learned;
    /* Of one core of several (memory/shared.h), which must be out of order: not the core's own. It
     * simulates only as far as core_run() says, and core_push() takes a few instructions at a time
     * (CORE_PUSH). NULL: its own. */
    struct memory *memory;
    /* It only predecodes (core_push_predecoded()); `machine` of core_new() must outlive it. */
    bool predecodes;
};

struct core;
struct core *core_new(const struct machine *machine, const struct core_options *options,
                      struct error *error);
void core_free(struct core *core);

/* The next instructions of a thread: all or some of a batch of its trace. */
struct core_input {
    const struct code *code;
    const struct dynamic_insn *insns;
    const struct memory_access
        *accesses; /* an instruction's begin at accesses[insn->memory − first_access] */
    uint32_t insn_count, access_count, first_access;
};
static inline struct core_input core_input_of(const struct code *code,
                                              const struct trace_batch *batch) {
    return (struct core_input){.code = code,
                               .insns = batch->insns,
                               .accesses = batch->accesses,
                               .insn_count = batch->insn_count,
                               .access_count = batch->access_count,
                               .first_access = (uint32_t)batch->first_access};
}

/* Hands over the next instructions of the thread and simulates as far as they allow. The arrays may
 * be reused afterwards. */
bool core_push(struct core *core, const struct core_input *input, struct error *error);

/* ---- the same instructions again and again ---- */

/* What depends on program order alone, that is µops, what fuses and how branches are predicted, is
 * the same however a machine is idealised. A core out of order that only predecodes (core_options)
 * is given instructions by core_push() and core_finish(), and keeps what they are; other cores time
 * that, each of the same machine, with its idealisations or more.
 *
 * core_predecode_again() comes before the first instruction: what was kept is forgotten, and
 * predictions begin with what this predictor has learned. */
bool core_predecode_again(struct core *core, const struct branch_predictor *predictor,
                          struct error *error);
/* A new core is given what another, which lives as long, has predecoded: a million µops of it at
 * most. It needs no predictor. core_finish() comes next. */
bool core_push_predecoded(struct core *core, const struct core *from, struct error *error);
/* After core_finish() of such a core: idealisations (enum ideal) with which each of its cycles
 * would have been the same, for what they take away did not come up: a fetch that missed, a branch
 * that was mispredicted, a store that did not forward. Of others it is not known. */
uint32_t core_needless(const struct core *core);

/* ---- one core of several ---- */

enum { CORE_PUSH = 512 }; /* instructions of a core_push(), at most */

/* Simulates what has been pushed until µops dispatch in cycle `until` or later. The other cores
 * have come to cycle `others`: what they ask for from then on is not known yet, so no store asks
 * for a line in a later cycle, nor does an atomic, and what waits for them makes the core pause:
 * with all cores asking in the order of cycles it does not matter which of them is computed first.
 * CORE_STARVED: it waits for more input, of which it needs some ahead. With `all` it takes what
 * there is to the end and lets the pipeline run empty: CORE_EMPTY. */
enum core_state { CORE_FAILED, CORE_PAUSED, CORE_STARVED, CORE_EMPTY };
enum core_state core_run(struct core *core, uint64_t until, uint64_t others, bool all,
                         struct error *error);
/* An empty core goes on with the memory of another. */
void core_move(struct core *core, struct memory *memory);
/* A new core with the memory of another, which is empty, goes on for it, with what its predictors
 * have learned. That one may only be freed afterwards. */
void core_succeed(struct core *core, struct core *before);
/* The cycle in which its last µop dispatched, or which the next one waits for; of an empty one that
 * of its last commit. */
uint64_t core_cycle(const struct core *core);
/* None of its accesses to come is earlier. */
uint64_t core_earliest(const struct core *core);
/* An empty core does nothing until this cycle. The cycles until then are not its thread's: they are
 * in no statistics, and time on the tap stands still. */
void core_wait_until(struct core *core, uint64_t cycle);

/* Functional warming between simulated windows: the pipeline is drained first, then caches, TLBs
 * and branch predictors see these instructions as if each took no time. No cycles pass; nothing is
 * shown on the tap. */
bool core_warm(struct core *core, const struct core_input *input, struct error *error);

/* Likewise with the page tables' entries of these bytes of data. */
bool core_warm_tables(struct core *core, uint64_t address, uint64_t bytes, struct error *error);

/* Likewise without a core. `learned` may lack memory: branch predictors alone see them. */
bool core_learned_warm(const struct core_learned *learned, const struct machine *machine,
                       const struct core_input *input, struct error *error);

/* So many instructions more are not simulated, warmed with or skipped: for as long as they take at
 * the CPI so far, others go on in a cache that they use too (memory/retention.h). Before any
 * instruction was simulated the CPI is taken to be 1. Of a core with its own memory. */
void core_pass(struct core *core, uint64_t instructions);

/* The last instruction that a core was given waits for its successor, and a branch there has not
 * met the predictor: in this copy of the core's it does, as soon as the successor comes. */
void core_await_branch(struct branch_predictor *predictor, const struct code *code,
                       const struct dynamic_insn *last);

/* Warms these caches and TLBs with instruction `number` of the input and its accesses. *line is the
 * line of the last byte of the instruction before, in units of 1 << fetch_line_shift bytes
 * (UINT64_MAX: not known); it becomes that of this instruction. */
void core_warm_memory(struct memory *memory, uint32_t fetch_line_shift,
                      const struct core_input *input, uint32_t number, uint64_t *line);

/* Simulates until every instruction pushed so far has committed. More may be pushed afterwards. */
bool core_drain(struct core *core, struct error *error);

/* core_drain, and flushes the tap, even when the former fails. */
bool core_finish(struct core *core, struct error *error);

/* Moves what the core has learned to *learned, where time starts at 0 again. The core must have
 * finished, and may only be freed afterwards. */
void core_give(struct core *core, struct core_learned *learned);
void core_learned_free(struct core_learned *learned);
/* The caches after all instructions pushed so far, except those still in the pipeline. Valid until
 * the next call that pushes, warms or drains. */
const struct memory *core_memory(const struct core *core);
const struct branch_predictor *core_predictor(const struct core *core);

/* Copies what this memory and predictor have learned, for cores of the same machine with these
 * idealisations (enum ideal); in the copy time starts at 0 again. What `copy` knew before, of the
 * same machine, is forgotten, and its memory used again: that of caches is large. `predictor` may
 * be NULL, for cores that are given what is predecoded. False: `copy` is empty. */
bool core_learned_copy(struct core_learned *copy, const struct machine *machine, uint32_t ideal,
                       const struct memory *memory, const struct branch_predictor *predictor,
                       struct error *error);

struct core_statistics {
    uint64_t cycles, instructions, uops;
    uint64_t loads, stores, forwarded, ordering_violations, flushes, system_calls;
    struct branch_statistics branch;
    struct memory_statistics memory;
};
void core_statistics(const struct core *core, struct core_statistics *statistics);
