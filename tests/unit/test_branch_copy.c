/* A copy of a predictor predicts as the original does from then on, whatever its kind, and neither
 * changes the other; so does one that is told what was recorded of the original. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unit/branch_streams.h"

enum { BRANCHES = 20000, PLACES = 300 };

/* The number-th branch of a stream that no predictor knows wholly: directions with some pattern,
 * indirect jumps of few targets, calls and returns. */
static enum branch_outcome answer(struct branch_predictor *predictor, uint32_t number) {
    const uint32_t hash = number * 2654435761u >> 8;
    const uint64_t address = 0x1000 + 16 * (uint64_t)(hash % PLACES);
    switch (hash % 7) {
    case 0:
        return branch_predict(predictor, address, BRANCH_INDIRECT, 2, true,
                              0x8000 + 64 * (uint64_t)(number / 3 % 5));
    case 1:
        return branch_predict(predictor, address, BRANCH_CALL, 5, true, 0x9000);
    case 2:
        return branch_predict(predictor, address, BRANCH_RETURN, 1, true, address + 5);
    default:
        return branch_predict(predictor, address, BRANCH_CONDITIONAL, 2,
                              (number / 4 + hash % PLACES) % 3 != 0, 0x7000 + address);
    }
}

static void copy_answers_alike(struct machine_branch machine) {
    struct branch_predictor *first = new_predictor(machine), *copy;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < BRANCHES; i++)
        answer(first, i);
    copy = branch_copy(first, &machine);
    assert_non_null(copy);
    for (uint32_t i = BRANCHES; i < 2 * BRANCHES; i++)
        wrong += answer(copy, i) != PREDICTED_RIGHT;
    for (uint32_t i = BRANCHES; i < 2 * BRANCHES; i++)
        wrong -= answer(first, i) != PREDICTED_RIGHT;
    struct branch_statistics a, b;
    branch_statistics(first, &a);
    branch_statistics(copy, &b);
    assert_int_equal(wrong, 0);
    assert_memory_equal(&a, &b, sizeof a);
    branch_free(first);
    branch_free(copy);
}

/* What is recorded of branches says the same again, from anywhere on in a copy, and counts it; a
 * branch that awaited its successor when recording began is the first. */
static void replay_answers_alike(struct machine_branch machine) {
    struct branch_outcomes outcomes = {0};
    struct branch_predictor *first = new_predictor(machine);
    enum branch_outcome said[BRANCHES];
    for (uint32_t i = 0; i < BRANCHES; i++)
        answer(first, i);
    branch_await(first, 0x5000, BRANCH_CONDITIONAL, 2, true);
    struct branch_predictor *replay = branch_replay(first, &machine, &outcomes);
    assert_non_null(replay);
    branch_record(first, &outcomes);
    branch_follow(first, 0x6000);
    for (uint32_t i = 0; i < BRANCHES; i++)
        said[i] = answer(first, BRANCHES + i);
    branch_record(first, NULL);
    assert_int_equal(outcomes.count, BRANCHES + 1);
    struct branch_statistics a, b, c;
    branch_statistics(first, &a);
    answer(first, 0); /* is not recorded */
    assert_int_equal(outcomes.count, BRANCHES + 1);
    branch_follow(replay, 0x6000);
    for (uint32_t i = 0; i < BRANCHES / 2; i++)
        assert_int_equal(answer(replay, BRANCHES + i), said[i]);
    struct branch_predictor *copy = branch_copy(replay, &machine);
    for (uint32_t i = BRANCHES / 2; i < BRANCHES; i++) {
        assert_int_equal(answer(copy, BRANCHES + i), said[i]);
        assert_int_equal(answer(replay, BRANCHES + i), said[i]);
    }
    branch_statistics(replay, &b);
    branch_statistics(copy, &c);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(&a, &c, sizeof a);
    branch_free(first);
    branch_free(replay);
    branch_free(copy);
    branch_outcomes_free(&outcomes);
}

static void every_kind_is_copied(void **state) {
    (void)state;
    static const enum direction_kind KINDS[] = {
#define PREDICTOR(value, word) DIRECTION_##value,
#include "machine/predictors.def"
#undef PREDICTOR
        DIRECTION_PERFECT};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        struct machine_branch machine = SMALL;
        machine.direction = KINDS[i];
        copy_answers_alike(machine);
        replay_answers_alike(machine);
        machine.btb_entries = 64;
        machine.btb_ways = 4;
        machine.indirect_entries = 32;
        copy_answers_alike(machine);
        replay_answers_alike(machine);
        machine.indirect_history = 16;
        copy_answers_alike(machine);
        replay_answers_alike(machine);
        machine.indirect_blocks = 3;
        machine.override_bubble = 3;
        copy_answers_alike(machine);
        replay_answers_alike(machine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_is_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
