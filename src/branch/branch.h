/* Branch prediction of one core: direction predictor, branch target buffer, indirect targets and
 * return stack. The core fetches along the committed path, so one call both predicts and trains;
 * speculative history therefore equals the true history. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"
#include "machine/machine.h"
#include "util/error.h"

struct branch_predictor;
struct op_cache;

enum branch_outcome {
    PREDICTED_RIGHT,
    PREDICTED_SLOWLY, /* right, an indirect branch with several targets on its path: a bubble of
                         indirect_bubble cycles; a conditional one that the faster predictor had
                         wrong: of override_bubble */
    PREDICTED_LATE,   /* direct branch, or return with btb_returns, taken, direction right, but not
                         in the BTB: the target is known at decode; a bubble of btb_miss_penalty
                         cycles */
    PREDICTED_WRONG   /* direction or target wrong: fetch resumes after the branch executed */
};

struct branch_predictor *branch_new(const struct machine_branch *machine, struct error *error);
void branch_free(struct branch_predictor *predictor);
/* A copy, for the same machine, of what a predictor has learned and of its statistics. NULL: out of
 * memory. */
struct branch_predictor *branch_copy(const struct branch_predictor *predictor,
                                     const struct machine_branch *machine);

/* Predicts the branch at `address` (kind is not BRANCH_NONE), compares with what it did (`taken`,
 * and `next`, the address of its successor), and trains. `length` is the instruction's, in bytes:
 * calls push address + length on the return stack. With direction = perfect every branch is
 * predicted right, targets included; with btb_entries = 0 no direct branch is late and an indirect
 * one is right where no indirect table says otherwise. */
enum branch_outcome branch_predict(struct branch_predictor *predictor, uint64_t address,
                                   enum branch_kind kind, uint32_t length, bool taken,
                                   uint64_t next);

/* Whether the nearest of two branch target buffers has this branch, which is taken, to `next`; it
 * has it from now on. Where there is one alone, or the branch needs no entry, always. */
bool branch_is_near(struct branch_predictor *predictor, uint64_t address, enum branch_kind kind,
                    uint64_t next);

/* The op cache of the core (branch/op_cache.h), which is the predictor's and ends with it; NULL:
 * the machine has none. */
struct op_cache *branch_op_cache(struct branch_predictor *predictor);

/* Instead of branch_predict(), for the last branch before a pause, whose successor is not known
 * yet. The next branch_follow() tells the successor, and the predictor then learns as if it had
 * been known at once. branch_follow() must come before any other branch. */
void branch_await(struct branch_predictor *predictor, uint64_t address, enum branch_kind kind,
                  uint32_t length, bool taken);
/* `next` is the address of the instruction after the pause. Does nothing if no branch waits for
 * it. */
void branch_follow(struct branch_predictor *predictor, uint64_t next);

/* ---- predictions that are made once ---- */

/* What was predicted of branches, one after the other (enum branch_outcome). */
struct branch_outcomes {
    uint8_t *items;
    size_t count, capacity;
    bool incomplete; /* out of memory */
};
void branch_outcomes_free(struct branch_outcomes *outcomes);

/* Whatever branch_predict() says from now on is added there; NULL: nowhere. */
void branch_record(struct branch_predictor *predictor, struct branch_outcomes *outcomes);
/* In place of a copy of a predictor whose outcomes are recorded from here on, for the same
 * branches: it says what that one said, and counts it. It does not learn, but for the nearest
 * target buffer and the op cache. `outcomes` must be complete, and must outlive its use and that of
 * its copies. NULL: out of memory. */
struct branch_predictor *branch_replay(const struct branch_predictor *predictor,
                                       const struct machine_branch *machine,
                                       const struct branch_outcomes *outcomes);

struct branch_statistics {
    uint64_t conditional, conditional_wrong, indirect, indirect_wrong, returns, returns_wrong,
        direct, late;
    uint64_t op_cache_lookups, op_cache_misses; /* entries; 0 where there is no op cache */
};
void branch_statistics(const struct branch_predictor *predictor,
                       struct branch_statistics *statistics);
