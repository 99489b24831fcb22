/* Dispatches each kind of branch to the predictors that serve it. Conditional branches: direction,
 * then the BTB if taken; jumps and calls: the BTB; returns: the return stack; indirect ones: the
 * path-indexed targets where they know the branch, else the BTB's last target. Branches that are
 * not taken never enter the BTB. */
#include "branch/branch.h"

#include <assert.h>
#include <stdlib.h>

#include "branch/op_cache.h"
#include "branch/predictors.h"
#include "util/array.h"

enum { NEAR_WAYS = 4 };

/* A branch whose successor is not known yet. */
struct awaiting_branch {
    uint64_t address;
    enum branch_kind kind; /* BRANCH_NONE: there is none */
    uint32_t length;
    bool taken;
};

/* The direction predictors are rows of machine/predictors.def: a member of the union and direct
 * calls each. */
struct branch_predictor {
    enum direction_kind direction;
    union {
#define PREDICTOR(value, word) struct word word;
#include "machine/predictors.def"
#undef PREDICTOR
    };
    struct tournament fast; /* without choosers: there is none */
    struct btb btb, near;
    struct op_cache op_cache;
    struct indirect indirect;
    struct return_stack returns;
    bool returns_in_btb, near_far;
    struct awaiting_branch awaiting;
    struct branch_statistics statistics;
    struct branch_outcomes *recorded;   /* NULL: nothing is */
    const struct branch_outcomes *told; /* of branches to come, from `next_told` on; NULL: it
                                           predicts, and the above is used */
    size_t next_told;
};

static bool direction_init(struct branch_predictor *predictor,
                           const struct machine_branch *machine) {
    predictor->direction = machine->direction;
    switch (machine->direction) {
#define PREDICTOR(value, word)                                                                     \
    case DIRECTION_##value:                                                                        \
        return word##_init(&predictor->word, machine);
#include "machine/predictors.def"
#undef PREDICTOR
    case DIRECTION_PERFECT:
        break;
    }
    return true;
}

static void direction_free(struct branch_predictor *predictor) {
    switch (predictor->direction) {
#define PREDICTOR(value, word)                                                                     \
    case DIRECTION_##value:                                                                        \
        word##_free(&predictor->word);                                                             \
        break;
#include "machine/predictors.def"
#undef PREDICTOR
    case DIRECTION_PERFECT:
        break;
    }
}

/* Copies the direction predictor. The arrays of `to` have the sizes of those of `from`. */
static void direction_copy(struct branch_predictor *to, const struct branch_predictor *from) {
    switch (from->direction) {
#define PREDICTOR(value, word)                                                                     \
    case DIRECTION_##value:                                                                        \
        word##_copy(&to->word, &from->word);                                                       \
        break;
#include "machine/predictors.def"
#undef PREDICTOR
    case DIRECTION_PERFECT:
        break;
    }
}

/* A predictor that takes a cycle, where one with a long history overrides it later (an overriding
 * predictor: Jiménez, Keckler and Lin 2000). */
static bool fast_init(struct branch_predictor *predictor, const struct machine_branch *machine) {
    return !machine->override_bubble || tournament_init(&predictor->fast, machine);
}

static bool is_overridden(struct branch_predictor *predictor, uint64_t address, bool taken) {
    return predictor->fast.choosers &&
           tournament_predict(&predictor->fast, address, taken) != taken;
}

static bool direction_predict(struct branch_predictor *predictor, uint64_t address, bool taken) {
    switch (predictor->direction) {
#define PREDICTOR(value, word)                                                                     \
    case DIRECTION_##value:                                                                        \
        return word##_predict(&predictor->word, address, taken);
#include "machine/predictors.def"
#undef PREDICTOR
    case DIRECTION_PERFECT:
        break;
    }
    return taken;
}

/* What goes on learning where outcomes are told: the nearest target buffer and the op cache. */
static bool followers_init(struct branch_predictor *predictor,
                           const struct machine_branch *machine) {
    predictor->near_far = machine->near_btb_far;
    return btb_init(&predictor->near, machine->near_btb_entries, NEAR_WAYS, 0, true) &&
           op_cache_init(&predictor->op_cache, machine->op_cache_entries, machine->op_cache_ways,
                         machine->op_cache_insns);
}

static void followers_copy(struct branch_predictor *predictor,
                           const struct branch_predictor *from) {
    btb_copy(&predictor->near, &from->near);
    op_cache_copy(&predictor->op_cache, &from->op_cache);
}

struct branch_predictor *branch_new(const struct machine_branch *machine, struct error *error) {
    struct branch_predictor *predictor = calloc(1, sizeof *predictor);
    if (predictor && direction_init(predictor, machine) && fast_init(predictor, machine) &&
        btb_init(&predictor->btb, machine->btb_entries, machine->btb_ways, machine->btb_far_ways,
                 machine->btb_hash) &&
        followers_init(predictor, machine) && indirect_init(&predictor->indirect, machine) &&
        return_stack_init(&predictor->returns, machine->ras_entries)) {
        predictor->returns_in_btb = machine->btb_entries && machine->btb_returns;
        return predictor;
    }
    branch_free(predictor);
    return error_null(error, "branch predictor: out of memory");
}

void branch_free(struct branch_predictor *predictor) {
    if (!predictor)
        return;
    direction_free(predictor);
    tournament_free(&predictor->fast);
    free(predictor->btb.entries);
    free(predictor->near.entries);
    free(predictor->op_cache.entries);
    free(predictor->indirect.entries);
    free(predictor->returns.addresses);
    free(predictor);
}

struct branch_predictor *branch_copy(const struct branch_predictor *predictor,
                                     const struct machine_branch *machine) {
    struct error error;
    if (predictor->told)
        return branch_replay(predictor, machine, predictor->told);
    struct branch_predictor *copy = branch_new(machine, &error);
    if (!copy)
        return NULL;
    direction_copy(copy, predictor);
    if (predictor->fast.choosers)
        tournament_copy(&copy->fast, &predictor->fast);
    btb_copy(&copy->btb, &predictor->btb);
    followers_copy(copy, predictor);
    indirect_copy(&copy->indirect, &predictor->indirect);
    return_stack_copy(&copy->returns, &predictor->returns);
    copy->awaiting = predictor->awaiting;
    copy->statistics = predictor->statistics;
    return copy;
}

/* A direct branch that is taken and whose direction is known. */
static enum branch_outcome predict_direct(struct branch_predictor *predictor, uint64_t address,
                                          uint64_t next) {
    uint64_t target;
    if (!predictor->btb.entries || btb_predict(&predictor->btb, address, next, &target))
        return PREDICTED_RIGHT;
    predictor->statistics.late++;
    return PREDICTED_LATE;
}

static enum branch_outcome predict_conditional(struct branch_predictor *predictor, uint64_t address,
                                               bool taken, uint64_t next) {
    const bool overridden = is_overridden(predictor, address, taken);
    predictor->statistics.conditional++;
    if (direction_predict(predictor, address, taken) == taken) {
        const enum branch_outcome outcome =
            taken ? predict_direct(predictor, address, next) : PREDICTED_RIGHT;
        return outcome == PREDICTED_RIGHT && overridden ? PREDICTED_SLOWLY : outcome;
    }
    predictor->statistics.conditional_wrong++;
    uint64_t target;
    if (taken && predictor->btb.entries)
        btb_predict(&predictor->btb, address, next, &target);
    return PREDICTED_WRONG;
}

static enum branch_outcome predict_indirect(struct branch_predictor *predictor, uint64_t address,
                                            uint64_t next) {
    predictor->statistics.indirect++;
    uint64_t target;
    bool right = true; /* of a perfect BTB */
    bool several = false;
    if (predictor->btb.entries)
        right = btb_predict(&predictor->btb, address, next, &target) && target == next;
    if (predictor->indirect.entries &&
        indirect_predict(&predictor->indirect, address, next, right, &target, &several))
        right = target == next;
    predictor->statistics.indirect_wrong += !right;
    return !right ? PREDICTED_WRONG : several ? PREDICTED_SLOWLY : PREDICTED_RIGHT;
}

/* The buffer has no target of a return, if it has returns at all: it takes no room for a far one.
 */
static enum branch_outcome predict_return(struct branch_predictor *predictor, uint64_t address,
                                          uint64_t next) {
    predictor->statistics.returns++;
    const bool right = return_stack_pop(&predictor->returns) == next;
    const bool found =
        !predictor->returns_in_btb || btb_predict(&predictor->btb, address, address, &next);
    predictor->statistics.returns_wrong += !right;
    predictor->statistics.late += right && !found;
    return !right ? PREDICTED_WRONG : found ? PREDICTED_RIGHT : PREDICTED_LATE;
}

/* direction = perfect: targets and returns are known too. */
static enum branch_outcome predict_perfectly(struct branch_statistics *statistics,
                                             enum branch_kind kind) {
    statistics->conditional += kind == BRANCH_CONDITIONAL;
    statistics->direct += kind == BRANCH_JUMP || kind == BRANCH_CALL;
    statistics->indirect += kind == BRANCH_INDIRECT || kind == BRANCH_INDIRECT_CALL;
    statistics->returns += kind == BRANCH_RETURN;
    return PREDICTED_RIGHT;
}

static enum branch_outcome predict(struct branch_predictor *predictor, uint64_t address,
                                   enum branch_kind kind, uint32_t length, bool taken,
                                   uint64_t next) {
    if (predictor->direction == DIRECTION_PERFECT)
        return predict_perfectly(&predictor->statistics, kind);
    switch (kind) {
    case BRANCH_CONDITIONAL:
        return predict_conditional(predictor, address, taken, next);
    case BRANCH_CALL:
        return_stack_push(&predictor->returns, address + length);
        /* fall through */
    case BRANCH_JUMP:
        predictor->statistics.direct++;
        return predict_direct(predictor, address, next);
    case BRANCH_INDIRECT_CALL:
        return_stack_push(&predictor->returns, address + length);
        /* fall through */
    case BRANCH_INDIRECT:
        return predict_indirect(predictor, address, next);
    case BRANCH_RETURN:
        return predict_return(predictor, address, next);
    case BRANCH_NONE:
        break;
    }
    return PREDICTED_RIGHT;
}

/* ---- predictions that are made once ---- */

void branch_outcomes_free(struct branch_outcomes *outcomes) {
    free(outcomes->items);
    *outcomes = (struct branch_outcomes){0};
}

void branch_record(struct branch_predictor *predictor, struct branch_outcomes *outcomes) {
    predictor->recorded = outcomes;
}

struct branch_predictor *branch_replay(const struct branch_predictor *predictor,
                                       const struct machine_branch *machine,
                                       const struct branch_outcomes *outcomes) {
    struct branch_predictor *replay = calloc(1, sizeof *replay);
    if (!replay || !followers_init(replay, machine)) {
        branch_free(replay);
        return NULL;
    }
    followers_copy(replay, predictor);
    replay->direction = DIRECTION_PERFECT; /* it has no tables */
    replay->awaiting = predictor->awaiting;
    replay->statistics = predictor->statistics;
    replay->told = outcomes;
    replay->next_told = predictor->next_told;
    return replay;
}

static void record(struct branch_outcomes *outcomes, enum branch_outcome outcome) {
    if (array_room(outcomes->items, outcomes->capacity, outcomes->count + 1))
        outcomes->items[outcomes->count++] = (uint8_t)outcome;
    else
        outcomes->incomplete = true;
}

static enum branch_outcome tell(struct branch_predictor *predictor, enum branch_kind kind) {
    struct branch_statistics *statistics = &predictor->statistics;
    assert(predictor->next_told < predictor->told->count);
    const enum branch_outcome outcome = predictor->told->items[predictor->next_told++];
    const bool wrong = outcome == PREDICTED_WRONG;
    predict_perfectly(statistics, kind);
    statistics->late += outcome == PREDICTED_LATE;
    statistics->conditional_wrong += kind == BRANCH_CONDITIONAL && wrong;
    statistics->indirect_wrong +=
        (kind == BRANCH_INDIRECT || kind == BRANCH_INDIRECT_CALL) && wrong;
    statistics->returns_wrong += kind == BRANCH_RETURN && wrong;
    return outcome;
}

/* What indirect branches are told by, where not by targets. A branch that was never taken is not in
 * the buffer, and so no branch to the predictor. */
static void note_path(struct branch_predictor *predictor, uint64_t address, enum branch_kind kind,
                      bool taken, uint64_t next) {
    if (!predictor->indirect.bits_per_branch)
        return;
    if (kind == BRANCH_CONDITIONAL && (taken || btb_holds(&predictor->btb, address)))
        indirect_note_outcome(&predictor->indirect, address, taken);
    if (taken)
        indirect_note_taken(&predictor->indirect, address, kind, next);
}

enum branch_outcome branch_predict(struct branch_predictor *predictor, uint64_t address,
                                   enum branch_kind kind, uint32_t length, bool taken,
                                   uint64_t next) {
    if (predictor->told)
        return tell(predictor, kind);
    const enum branch_outcome outcome = predict(predictor, address, kind, length, taken, next);
    note_path(predictor, address, kind, taken, next);
    if (predictor->recorded)
        record(predictor->recorded, outcome);
    return outcome;
}

bool branch_is_near(struct branch_predictor *predictor, uint64_t address, enum branch_kind kind,
                    uint64_t next) {
    const bool direct = kind == BRANCH_CONDITIONAL || kind == BRANCH_JUMP;
    uint64_t target;
    return !predictor->near.entries ||
           (predictor->near_far && direct && !btb_is_far(address, next)) ||
           btb_predict(&predictor->near, address, 0, &target);
}

struct op_cache *branch_op_cache(struct branch_predictor *predictor) {
    return predictor->op_cache.entries ? &predictor->op_cache : NULL;
}

void branch_await(struct branch_predictor *predictor, uint64_t address, enum branch_kind kind,
                  uint32_t length, bool taken) {
    predictor->awaiting = (struct awaiting_branch){address, kind, length, taken};
}

void branch_follow(struct branch_predictor *predictor, uint64_t next) {
    const struct awaiting_branch branch = predictor->awaiting;
    if (branch.kind == BRANCH_NONE)
        return;
    predictor->awaiting.kind = BRANCH_NONE;
    branch_predict(predictor, branch.address, branch.kind, branch.length, branch.taken, next);
}

void branch_statistics(const struct branch_predictor *predictor,
                       struct branch_statistics *statistics) {
    *statistics = predictor->statistics;
    statistics->op_cache_lookups = predictor->op_cache.lookups;
    statistics->op_cache_misses = predictor->op_cache.misses;
}
