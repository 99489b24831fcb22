/* Bimodal, gshare and tournament prediction, worked by hand. Counters start at 1, weakly not taken;
 * the tournament's chooser at 1, weakly bimodal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/branch_streams.h"

/* Runs the outcomes (T, N) of the branch at `address` and expects R or W for each. */
static void expect(struct branch_predictor *predictor, uint64_t address, const char *outcomes,
                   const char *expected) {
    char got[64] = "";
    for (size_t i = 0; outcomes[i]; i++)
        got[i] = conditional(predictor, address, outcomes[i] == 'T') == PREDICTED_RIGHT ? 'R' : 'W';
    assert_string_equal(got, expected);
}

/* The counter before each: 1 2 3 2 3 3 3 2 1 0. */
static void bimodal_counts(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(SMALL);
    expect(predictor, 0x100, "TTNTTTNNNN", "WRWRRRWWRR");
    branch_free(predictor);
}

/* Four counters selected by address / 2: 0x100 and 0x108 share one, 0x102 has its own. */
static void bimodal_aliases(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(SMALL);
    expect(predictor, 0x100, "TT", "WR");
    expect(predictor, 0x108, "T", "R");
    expect(predictor, 0x102, "T", "W");
    branch_free(predictor);
}

/* Alternating outcomes, history of two: the histories met are 00, then 01 before each N and 10
 * before each T. Counter 00 is wrong once, 01 never (it starts at not taken), 10 once. Bimodal's
 * one counter goes 1 2 1 2 ...: always wrong. */
static void gshare_learns_alternation(void **state) {
    (void)state;
    struct machine_branch machine = SMALL;
    struct branch_predictor *predictor = new_predictor(machine);
    expect(predictor, 0x100, "TNTNTNTN", "WWWWWWWW");
    branch_free(predictor);
    machine.direction = DIRECTION_GSHARE;
    predictor = new_predictor(machine);
    expect(predictor, 0x100, "TNTNTNTN", "WRWRRRRR");
    branch_free(predictor);
}

/* One bit of history over eight counters moves the index by 4: after a taken branch, the branch at
 * place 4 (address 8) meets the counter the branch at place 0 trained after one not taken. */
static void gshare_aligns_short_history_high(void **state) {
    (void)state;
    struct machine_branch machine = SMALL;
    machine.direction = DIRECTION_GSHARE;
    machine.gshare_entries = 8;
    machine.history = 1;
    struct branch_predictor *predictor = new_predictor(machine);
    expect(predictor, 0x0, "T", "W");
    expect(predictor, 0x8, "T", "R");
    branch_free(predictor);
}

/* Alternation: bimodal says N T N T N ..., gshare N N N N T N T N. They disagree at the second
 * (gshare right: chooser 2) and the fourth (3); from the fourth on gshare's word is taken. */
static void tournament_chooses_by_history(void **state) {
    (void)state;
    struct machine_branch machine = SMALL;
    machine.direction = DIRECTION_TOURNAMENT;
    struct branch_predictor *predictor = new_predictor(machine);
    expect(predictor, 0x100, "TNTNTNTN", "WWWRRRRR");
    branch_free(predictor);
}

/* A branch that is always taken among random ones: gshare sees ever new histories and learns each
 * apart; the chooser stays with bimodal, which is wrong once. */
static void tournament_chooses_by_address(void **state) {
    (void)state;
    struct machine_branch machine = SMALL;
    machine.direction = DIRECTION_TOURNAMENT;
    machine.gshare_entries = 1 << 16;
    machine.history = 16;
    struct branch_predictor *predictor = new_predictor(machine);
    uint64_t random = 1;
    int wrong = 0;
    for (int i = 0; i < 1000; i++) {
        conditional(predictor, 0x102, random_next(&random) >> 40 & 1);
        wrong += conditional(predictor, 0x100, true) != PREDICTED_RIGHT;
    }
    assert_int_equal(wrong, 1);
    branch_free(predictor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bimodal_counts),
        cmocka_unit_test(bimodal_aliases),
        cmocka_unit_test(gshare_learns_alternation),
        cmocka_unit_test(gshare_aligns_short_history_high),
        cmocka_unit_test(tournament_chooses_by_history),
        cmocka_unit_test(tournament_chooses_by_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
