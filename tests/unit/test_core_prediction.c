/* Cycles that prediction loses behind branches, and how fetch feels them, worked by hand on the
 * little machine (core_fixture.h): the first packet is fetched in 1, a packet each cycle. */
#include "../core_fixture.h"

/* An instruction of the program in another place. */
static uint32_t alu_at(struct program_fixture *program, uint64_t address) {
    program->address = address;
    return alu(program, 1, 0, 0);
}

static uint32_t branch_at(struct program_fixture *program, uint64_t address,
                          enum branch_kind kind) {
    program->address = address;
    return branch(program, kind, 0);
}

/* call; at 0x20000 return; back behind the call, an add. Each has a packet of its own. */
static struct program_fixture *call_and_return(void) {
    struct program_fixture *program = program_fixture_new();
    const uint32_t call = branch_at(program, 0x10000, BRANCH_CALL);
    const uint32_t add = alu_at(program, 0x10004);
    const uint32_t back = branch_at(program, 0x20000, BRANCH_RETURN);
    execute_taken(program, call);
    execute_taken(program, back);
    execute(program, add);
    return program;
}

static void expect_fetched(const struct program_fixture *program, uint64_t second, uint64_t third) {
    assert_int_equal(program->lives[0].fetch, 1);
    assert_int_equal(program->lives[1].fetch, second);
    assert_int_equal(program->lives[2].fetch, third);
}

/* Fetched in 1, 2 and 3 without bubbles; with one each behind the call and the return in 1, 3 and
 * 5; with two behind every taken branch besides, in 1, 5 and 9. Unlimited bandwidth fetches all
 * in 1. */
static void calls_and_returns_have_bubbles(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = call_and_return();
    simulate(program, &machine, 0);
    expect_fetched(program, 2, 3);
    machine.branch.call_bubble = machine.branch.return_bubble = 1;
    simulate(program, &machine, 0);
    expect_fetched(program, 3, 5);
    simulate(program, &machine, IDEAL_BW);
    expect_fetched(program, 1, 1);
    machine.branch.taken_bubble = 2;
    simulate(program, &machine, 0);
    expect_fetched(program, 5, 9);
    program_fixture_free(program);
}

/* A buffer that keeps the lower 17 bits of a target: from 0x10000 to 0x20000 bit 17 differs, and
 * the call has its bubble and the 3 of a far target. The return, of which the return stack has the
 * whole target, has none. With 18 bits nothing is far. */
static void far_targets_have_a_bubble(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = call_and_return();
    machine.branch.far_bubble = 3;
    machine.branch.far_bit = 17;
    simulate(program, &machine, 0);
    expect_fetched(program, 2 + 3, 3 + 3);
    machine.branch.call_bubble = 1;
    simulate(program, &machine, 0);
    expect_fetched(program, 2 + 4, 3 + 4);
    machine.branch.far_bit = 18;
    simulate(program, &machine, 0);
    expect_fetched(program, 2 + 1, 3 + 1);
    program_fixture_free(program);
}

/* A jump to itself, three times, and an add behind it: the first has the bubble of a branch that
 * the nearest buffer does not have, the others have none: packets in 1, 3, 4 and 5. */
static void the_nearest_buffer_saves_a_bubble(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    const uint32_t jump = branch_at(program, 0x10000, BRANCH_JUMP);
    for (int i = 0; i < 3; i++)
        execute_taken(program, jump);
    execute(program, alu_at(program, 0x10100));
    machine.branch.near_btb_entries = 4;
    machine.branch.near_btb_bubble = 1;
    simulate(program, &machine, 0);
    expect_fetched(program, 3, 4);
    assert_int_equal(program->lives[3].fetch, 5);
    simulate(program, &machine, IDEAL_BW);
    expect_fetched(program, 1, 1);
    program_fixture_free(program);
}

/* The executable and a library are far from each other on Linux, whatever the emulator's addresses
 * are: here the call goes to a library that begins at 0x20000. */
static void libraries_are_far_from_the_executable(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = call_and_return();
    struct code_image images[] = {{.kind = CODE_IMAGE_FILE, .base = 0x10000},
                                  {.kind = CODE_IMAGE_FILE, .base = 0x20000}};
    program->code.images = images;
    program->code.image_count = 2;
    machine.branch.far_bubble = 3;
    machine.branch.far_bit = 40;
    simulate(program, &machine, 0);
    expect_fetched(program, 2, 3);
    program->insns[2].image = 1; /* the return */
    simulate(program, &machine, 0);
    expect_fetched(program, 2 + 3, 3 + 3);
    program_fixture_free(program);
}

/* Call, 16 adds and a return, then an add: packets in 1, in 3 to 6, 7 and 8, as 16 adds take four
 * cycles to fetch and one to predict. Behind the call prediction is not ahead, and its bubble is
 * felt; what is behind the return is predicted in 5, and its bubble is not. Where prediction cannot
 * be ahead, the last add is fetched in 9; by two cycles at most, in 8: predicted 7 − 2 + 2. */
static void prediction_ahead_of_fetch_hides_bubbles(void **state) {
    (void)state;
    static const struct {
        uint32_t ahead;
        uint64_t last;
    } cases[] = {{8, 8}, {2, 8}, {1, 8}, {0, 9}};
    struct machine machine = little_machine();
    machine.branch.call_bubble = machine.branch.return_bubble = 1;
    struct program_fixture *program = program_fixture_new();
    const uint32_t call = branch_at(program, 0x10000, BRANCH_CALL);
    const uint32_t add = alu_at(program, 0x10004);
    execute_taken(program, call);
    program->address = 0x20000;
    for (int i = 0; i < 16; i++)
        execute(program, alu(program, 1, 0, 0));
    execute_taken(program, branch(program, BRANCH_RETURN, 0));
    execute(program, add);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine.branch.prediction_ahead = cases[i].ahead;
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[0].fetch, 1);
        for (uint64_t k = 0; k < 16; k++)
            assert_int_equal(program->lives[1 + k].fetch, 3 + k / 4);
        assert_int_equal(program->lives[17].fetch, 7);
        assert_int_equal(program->lives[18].fetch, cases[i].last);
    }
    program_fixture_free(program);
}

/* Three jumps and a call, fetched in 1 to 4, then an add. With two blocks predicted in a cycle,
 * what is behind the jumps is known in 2, 2 and 3, what is behind the call 2 cycles later, in 5:
 * its bubble is not felt, and the add is fetched in 5. With one block, in 2, 3, 4 and 6. */
static void prediction_of_two_blocks_gets_ahead(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.branch.call_bubble = 1;
    machine.branch.prediction_ahead = 8;
    struct program_fixture *program = program_fixture_new();
    for (uint64_t i = 0; i < 4; i++)
        execute_taken(program,
                      branch_at(program, 0x10000 + i * 0x100, i < 3 ? BRANCH_JUMP : BRANCH_CALL));
    execute(program, alu_at(program, 0x10400));
    for (uint32_t width = 1; width <= 2; width++) {
        machine.branch.prediction_width = width;
        simulate(program, &machine, 0);
        for (uint64_t i = 0; i < 4; i++)
            assert_int_equal(program->lives[i].fetch, 1 + i);
        assert_int_equal(program->lives[4].fetch, width == 1 ? 6 : 5);
    }
    program_fixture_free(program);
}

/* A call, a jump, a return and two jumps, then an add; calls and returns have a bubble. With two
 * blocks predicted in a cycle: the call and the jump in 1 and 2, the return in 3 and 4, the two
 * jumps in 5; so what each has is known in 3, 3, 5, 6 and 6, and they are fetched in 1, 3, 4, 5, 6,
 * and the add in 7. No return and nothing behind it shares its cycle. With one: known in 3, 4, 6, 7
 * and 8. */
static void direct_jumps_share_a_cycle(void **state) {
    (void)state;
    static const enum branch_kind KINDS[] = {BRANCH_CALL, BRANCH_JUMP, BRANCH_RETURN, BRANCH_JUMP,
                                             BRANCH_JUMP};
    enum { COUNT = sizeof KINDS / sizeof *KINDS };
    static const uint64_t FETCHED[2][COUNT + 1] = {{1, 3, 4, 6, 7, 8}, {1, 3, 4, 5, 6, 7}};
    struct machine machine = little_machine();
    machine.branch.call_bubble = machine.branch.return_bubble = 1;
    machine.branch.prediction_ahead = 8;
    struct program_fixture *program = program_fixture_new();
    for (uint64_t i = 0; i < COUNT; i++)
        execute_taken(program, branch_at(program, 0x10000 + i * 0x100, KINDS[i]));
    execute(program, alu_at(program, 0x10000 + COUNT * 0x100));
    for (uint32_t width = 1; width <= 2; width++) {
        machine.branch.prediction_width = width;
        simulate(program, &machine, 0);
        for (uint64_t i = 0; i <= COUNT; i++)
            assert_int_equal(program->lives[i].fetch, FETCHED[width - 1][i]);
    }
    program_fixture_free(program);
}

/* Two branches, a return with a bubble and an add, fetched in 1, 2 and 3: where the two are
 * predicted in a cycle, what is behind the return is known in 4, and in 5 where they are not. A
 * block goes with one that ends in a jump; with one that ends in a call if it ends in a jump; with
 * one that ends in a conditional branch not at all. */
static void which_blocks_share_a_cycle(void **state) {
    (void)state;
    static const struct {
        enum branch_kind first, second;
        uint64_t last;
    } rows[] = {{BRANCH_JUMP, BRANCH_JUMP, 4},        {BRANCH_JUMP, BRANCH_CONDITIONAL, 4},
                {BRANCH_CALL, BRANCH_JUMP, 4},        {BRANCH_CALL, BRANCH_CONDITIONAL, 5},
                {BRANCH_CONDITIONAL, BRANCH_JUMP, 5}, {BRANCH_CONDITIONAL, BRANCH_CONDITIONAL, 5}};
    struct machine machine = little_machine();
    machine.branch.return_bubble = 1;
    machine.branch.prediction_ahead = 8;
    machine.branch.prediction_width = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct program_fixture *program = program_fixture_new();
        execute_taken(program, branch_at(program, 0x10000, rows[i].first));
        execute_taken(program, branch_at(program, 0x10100, rows[i].second));
        execute_taken(program, branch_at(program, 0x10200, BRANCH_RETURN));
        execute(program, alu_at(program, 0x10300));
        simulate(program, &machine, 0);
        expect_fetched(program, 2, 3);
        assert_int_equal(program->lives[3].fetch, rows[i].last);
        program_fixture_free(program);
    }
}

/* A conditional branch, and behind it a jump back to it; where it is taken, to another jump back.
 * One of four executions is taken, or is not, which tage knows, and a tournament with a history of
 * one branch does not. Taken, the branch is fetched in c, the jump in c + 1, the branch again in c
 * + 2; else both in c, and it again in c + 1. Where tage overrides the tournament what is behind
 * the next taken branch comes 3 cycles later: this one, or the jump. */
static void an_overriding_predictor_has_a_bubble(void **state) {
    (void)state;
    enum { ROUNDS = 800, KNOWN = 700 };
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){.direction = DIRECTION_TAGE,
                                             .bimodal_entries = 1024,
                                             .gshare_entries = 2,
                                             .history = 1,
                                             .meta_entries = 1024,
                                             .tage_tables = 4,
                                             .tage_entries = 256,
                                             .tage_tag_bits = 9,
                                             .tage_min_history = 4,
                                             .tage_max_history = 32,
                                             .ras_entries = 8};
    for (uint32_t bubble = 0; bubble <= 3; bubble += 3)
        for (uint32_t rare = 0; rare < 2; rare++) { /* taken once in four, or but once */
            struct program_fixture *program = program_fixture_new();
            const uint32_t first = branch_at(program, 0x10000, BRANCH_CONDITIONAL);
            const uint32_t back = branch(program, BRANCH_JUMP, 0);
            const uint32_t other = branch_at(program, 0x10100, BRANCH_JUMP);
            machine.branch.override_bubble = bubble;
            for (uint32_t i = 0; i < ROUNDS; i++) {
                const bool taken = (i % 4 == 0) == !rare;
                if (taken)
                    execute_taken(program, first);
                else
                    execute(program, first);
                execute_taken(program, taken ? other : back);
            }
            simulate(program, &machine, 0);
            for (uint32_t i = KNOWN; i + 1 < ROUNDS; i++) {
                const struct life *lives = &program->lives[2 * (size_t)i];
                const bool odd = i % 4 == 0, taken = odd == !rare;
                assert_int_equal(lives[1].fetch, lives[0].fetch + taken + (odd && taken) * bubble);
                assert_int_equal(lives[2].fetch, lives[1].fetch + 1 + (odd && !taken) * bubble);
            }
            program_fixture_free(program);
        }
}

/* Behind a misprediction prediction begins anew, at fetch: the bubble of the call there is felt. */
static void misprediction_ends_the_lead(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL,
                                             .bimodal_entries = 1024,
                                             .ras_entries = 8,
                                             .call_bubble = 1,
                                             .prediction_ahead = 8};
    struct program_fixture *program = program_fixture_new();
    execute_taken(program, branch_at(program, 0x10000, BRANCH_CONDITIONAL)); /* wrong: until 7 */
    execute_taken(program, branch_at(program, 0x10100, BRANCH_CALL));
    execute(program, alu_at(program, 0x10200));
    simulate(program, &machine, 0);
    expect_fetched(program, 7, 9);
    program_fixture_free(program);
}

/* An add and an indirect jump to three blocks in turn, each a jump back to the add. Where targets
 * go by the block before, and the add is in the block of the indirect jump, all is predicted: add
 * and indirect jump are fetched in a cycle, the jump back in the next. Where the add is in the
 * block before, each target is mispredicted: fetched in c, the indirect jump is complete in c + 5,
 * and the jump back is fetched in c + 6, the next add in c + 7. */
static void the_block_before_predicts_indirect_targets(void **state) {
    (void)state;
    enum { ROUNDS = 40, KNOWN = 20 };
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL,
                                             .bimodal_entries = 1024,
                                             .btb_entries = 64,
                                             .btb_ways = 2,
                                             .indirect_entries = 64,
                                             .indirect_history = 16,
                                             .ras_entries = 8};
    for (uint64_t before = 0; before < 2; before++) {
        struct program_fixture *program = program_fixture_new();
        const uint32_t add = alu_at(program, 0x10000 - 4 * before);
        const uint32_t indirect = branch(program, BRANCH_INDIRECT, 0);
        const uint32_t back[] = {branch_at(program, 0x10100, BRANCH_JUMP),
                                 branch_at(program, 0x10140, BRANCH_JUMP),
                                 branch_at(program, 0x10180, BRANCH_JUMP)};
        for (uint32_t i = 0; i < ROUNDS; i++) {
            execute(program, add);
            execute_taken(program, indirect);
            execute_taken(program, back[i % 3]);
        }
        simulate(program, &machine, 0);
        for (uint32_t i = KNOWN; i + 1 < ROUNDS; i++) {
            const struct life *lives = &program->lives[3 * (size_t)i];
            assert_int_equal(lives[1].fetch, lives[0].fetch);
            assert_int_equal(lives[2].fetch, lives[1].fetch + (before ? 6 : 1));
            assert_int_equal(lives[3].fetch, lives[2].fetch + 1);
        }
        program_fixture_free(program);
    }
}

/* An indirect jump to a block that jumps back to it, each fetched a cycle after the other; after 20
 * rounds once to another block that does so, and 20 rounds as before. Then the jump has had another
 * target on its path, and what is behind it is fetched 4 cycles later. */
static void several_targets_have_a_bubble(void **state) {
    (void)state;
    enum { ROUNDS = 41, OTHER = 20 };
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL,
                                             .bimodal_entries = 1024,
                                             .btb_entries = 64,
                                             .btb_ways = 2,
                                             .indirect_entries = 64,
                                             .indirect_history = 16,
                                             .indirect_bubble = 4,
                                             .ras_entries = 8};
    struct program_fixture *program = program_fixture_new();
    const uint32_t indirect = branch_at(program, 0x10000, BRANCH_INDIRECT);
    const uint32_t back[] = {branch_at(program, 0x10102, BRANCH_JUMP),
                             branch_at(program, 0x10204, BRANCH_JUMP)};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        execute_taken(program, indirect);
        execute_taken(program, back[i == OTHER]);
    }
    simulate(program, &machine, 0);
    for (uint32_t i = 3; i + 1 < ROUNDS; i++) {
        const struct life *lives = &program->lives[2 * (size_t)i];
        if (i < OTHER || i > OTHER + 4)
            assert_int_equal(lives[1].fetch, lives[0].fetch + (i < OTHER ? 1 : 5));
        if (i != OTHER)
            assert_int_equal(lives[2].fetch, lives[1].fetch + 1);
    }
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_returns_have_bubbles),
        cmocka_unit_test(far_targets_have_a_bubble),
        cmocka_unit_test(the_nearest_buffer_saves_a_bubble),
        cmocka_unit_test(libraries_are_far_from_the_executable),
        cmocka_unit_test(prediction_ahead_of_fetch_hides_bubbles),
        cmocka_unit_test(prediction_of_two_blocks_gets_ahead),
        cmocka_unit_test(direct_jumps_share_a_cycle),
        cmocka_unit_test(which_blocks_share_a_cycle),
        cmocka_unit_test(an_overriding_predictor_has_a_bubble),
        cmocka_unit_test(misprediction_ends_the_lead),
        cmocka_unit_test(the_block_before_predicts_indirect_targets),
        cmocka_unit_test(several_targets_have_a_bubble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
