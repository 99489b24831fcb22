/* Places of a load and the operation of its instruction (core.fuse_loads), cycle by cycle, worked
 * by hand on the little machine (core_fixture.h): the first packet is fetched in 1, dispatched in
 * 4, issued in 5. A load that misses in 5 has its value in 5 + 1 + 2 + 100 = 108. */
#include "graph_times.h"

enum { LINE = 0x100000 };

static struct machine fusing_machine(void) {
    struct machine machine = little_machine();
    machine.core.fuse_loads = true;
    return machine;
}

static struct machine unlaminating_machine(void) {
    struct machine machine = fusing_machine();
    machine.core.unlaminate_indexed = true;
    return machine;
}

/* Loads into register 9, and computes with it. */
static uint32_t operand(struct program_fixture *program, enum operation operation) {
    const uint32_t insn = load(program, 9, 0);
    add_uop(program, operation, 2, 9, 0);
    return insn;
}

static void execute_operands(struct program_fixture *program, enum operation operation,
                             uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        execute_at(program, operand(program, operation), LINE, 8);
}

/* Two wide, a pair, two additions and a pair are four places: 4, 4, 5, 5. As six µops they take
 * three cycles. */
static void a_pair_is_dispatched_as_one(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.dispatch_width = 2;
    struct program_fixture *program = program_fixture_new();
    execute_operands(program, OP_INT_ALU, 1);
    execute(program, alu(program, 3, 0, 0));
    execute(program, alu(program, 4, 0, 0));
    execute_operands(program, OP_INT_ALU, 1);
    simulate(program, &machine, 0);
    const uint64_t cycles[] = {4, 4, 4, 5, 5, 5};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(program->lives[i].dispatch, cycles[i]);
    assert_int_equal(program->lives[0].complete, 108);
    assert_int_equal(program->lives[1].issue, 108);
    expect_graph_times(program, &machine);
    machine.core.fuse_loads = false;
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(program->lives[i].dispatch, 4 + i / 2);
    program_fixture_free(program);
}

/* A reorder buffer of 4 holds a division (5 to 15, committed in 16) and three pairs, whose
 * loads take until 108 and their multiplications until 111. The fourth pair enters in 16, the fifth
 * when the first pair's place is free: in 112, not when its load commits, in 109. */
static void a_pair_is_one_in_the_reorder_buffer(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.rob = 4;
    machine.pools[2].units = 4;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute_operands(program, OP_INT_MUL, 5);
    simulate(program, &machine, 0);
    const struct life *lives = program->lives;
    assert_int_equal(lives[0].commit, 16);
    for (uint32_t i = 1; i < 7; i++)
        assert_int_equal(lives[i].dispatch, 4);
    assert_int_equal(lives[1].commit, 109);
    assert_int_equal(lives[2].commit, 112);
    assert_int_equal(lives[7].dispatch, 16);
    assert_int_equal(lives[7].dispatch_block, DISPATCH_ROB);
    assert_int_equal(lives[8].dispatch, 16);
    assert_int_equal(lives[9].dispatch, 112);
    assert_int_equal(lives[10].dispatch, 112);
    expect_graph_times(program, &machine);
    program_fixture_free(program);
}

/* Behind an operation of 300 cycles, which commits in 306, six pairs wait: three commit with it,
 * three in 307. As µops they take until 309. */
static void a_pair_commits_as_one(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.classes[OP_INT_MUL].latency = 300;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute_operands(program, OP_INT_ALU, 6);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].commit, 306);
    for (uint32_t i = 1; i < 13; i++)
        assert_int_equal(program->lives[i].commit, 306 + (i > 6));
    expect_graph_times(program, &machine);
    machine.core.fuse_loads = false;
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[12].commit, 309);
    program_fixture_free(program);
}

/* One integer register beyond the architectural ones, and the operation needs one as the load does:
 * it is dispatched when the load has committed, in 109, and the addition behind it then waits for
 * its commit, in 110. What the two need besides the place each has to get. */
static void an_operation_may_enter_later(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.int_registers = 33;
    struct program_fixture *program = program_fixture_new();
    execute_operands(program, OP_INT_ALU, 1);
    execute(program, alu(program, 3, 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].dispatch, 4);
    assert_int_equal(program->lives[1].dispatch, 109);
    assert_int_equal(program->lives[1].dispatch_block, DISPATCH_REGISTERS);
    assert_int_equal(program->lives[2].dispatch, program->lives[1].commit);
    expect_graph_times(program, &machine);
    program_fixture_free(program);
}

/* Two comparisons, an operation that writes no flags, another comparison. */
static struct program_fixture *comparisons(void) {
    struct program_fixture *program = program_fixture_new();
    program->code.isa = ISA_X86_64;
    execute(program, alu(program, REG_X86_FLAGS, 0, 0));
    execute(program, alu(program, REG_X86_FLAGS, 0, 0));
    execute(program, alu(program, 1, 0, 0));
    execute(program, alu(program, REG_X86_FLAGS, 0, 0));
    return program;
}

/* Two registers of flags beyond the architecture's: the third comparison waits for the commit of
 * the first, in 7. The operation has an integer register, of which comparisons take none. */
static void flags_have_registers_of_their_own(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.flag_registers = 3;
    machine.core.int_registers = 17;
    struct program_fixture *program = comparisons();
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].dispatch, 4);
    assert_int_equal(program->lives[2].dispatch, 4);
    assert_int_equal(program->lives[3].dispatch, 7);
    assert_int_equal(program->lives[3].dispatch_block, DISPATCH_REGISTERS);
    assert_true(program->lives[3].flags & LIFE_FLAG_REGISTER);
    assert_false(program->lives[3].flags & LIFE_INT_REGISTER);
    expect_graph_times(program, &machine);
    program_fixture_free(program);
}

/* Two integer registers beyond the architecture's 16, and flags have no others: the operation waits
 * for the first comparison's commit, and the last comparison may enter with it, as the second one
 * has committed too. */
static void flags_have_integer_registers(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.int_registers = 18;
    struct program_fixture *program = comparisons();
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[2].dispatch, 7);
    assert_int_equal(program->lives[2].dispatch_block, DISPATCH_REGISTERS);
    assert_int_equal(program->lives[3].dispatch, 7);
    expect_graph_times(program, &machine);
    program_fixture_free(program);
}

/* What writes both needs both: of one integer register and many of flags, then the other way, the
 * second addition waits for the first one's commit. */
static void additions_have_both_registers(void **state) {
    (void)state;
    for (unsigned few_flags = 0; few_flags < 2; few_flags++) {
        struct machine machine = little_machine();
        machine.core.flag_registers = few_flags ? 2 : 20;
        machine.core.int_registers = few_flags ? 40 : 17;
        struct program_fixture *program = program_fixture_new();
        program->code.isa = ISA_X86_64;
        for (uint8_t i = 0; i < 2; i++) {
            const uint32_t add = alu(program, 1 + i, 0, 0);
            struct uop *uop = &program->uops[program->code.uop_count - 1];
            uop->destination[uop->destination_count++] = REG_X86_FLAGS;
            execute(program, add);
        }
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[1].dispatch, 7);
        assert_int_equal(program->lives[1].dispatch_block, DISPATCH_REGISTERS);
        expect_graph_times(program, &machine);
        program_fixture_free(program);
    }
}

/* As operand(), of an instruction that some cores take apart. */
static uint32_t unlaminated(struct program_fixture *program, enum operation operation) {
    const uint32_t insn = operand(program, operation);
    for (uint32_t i = 0; i < 2; i++)
        program->uops[program->insns[insn].first_uop + i].flags |= UOP_UNLAMINATED;
    return insn;
}

/* Two wide, a pair that is taken apart, one that is not, and an addition are four places: 4, 4, 5,
 * 5. All are three where nothing is taken apart: 4, 4, 5; all are five where nothing is one. */
static void some_pairs_are_taken_apart(void **state) {
    (void)state;
    struct machine machine = unlaminating_machine();
    machine.core.dispatch_width = 2;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, unlaminated(program, OP_INT_ALU), LINE, 8);
    execute_operands(program, OP_INT_ALU, 1);
    execute(program, alu(program, 3, 0, 0));
    static const uint64_t APART[] = {4, 4, 5, 5, 5}, ONE[] = {4, 4, 4, 4, 5},
                          TWO[] = {4, 4, 5, 5, 6};
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(program->lives[i].dispatch, APART[i]);
    expect_graph_times(program, &machine);
    machine.core.unlaminate_indexed = false;
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(program->lives[i].dispatch, ONE[i]);
    expect_graph_times(program, &machine);
    machine.core.unlaminate_indexed = true;
    machine.core.fuse_loads = false;
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(program->lives[i].dispatch, TWO[i]);
    program_fixture_free(program);
}

/* A reorder buffer of 4 holds a division (5 to 15, committed in 16), a pair that is taken apart,
 * and the load of the next. In 16 that one's operation enters; in 109, when the first load commits,
 * the last pair's load. */
static void a_pair_taken_apart_is_two_in_the_reorder_buffer(void **state) {
    (void)state;
    struct machine machine = unlaminating_machine();
    machine.core.rob = 4;
    machine.pools[2].units = 4;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    for (uint32_t i = 0; i < 3; i++)
        execute_at(program, unlaminated(program, OP_INT_MUL), LINE, 8);
    simulate(program, &machine, 0);
    const uint64_t cycles[] = {4, 4, 4, 4, 16, 109, 112};
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(program->lives[i].dispatch, cycles[i]);
    assert_int_equal(program->lives[1].commit, 109);
    assert_int_equal(program->lives[2].commit, 112);
    expect_graph_times(program, &machine);
    program_fixture_free(program);
}

/* A store behind a load that it does not change: load and addition are one, the store is not. */
static void a_store_has_a_place_of_its_own(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.dispatch_width = 1;
    struct program_fixture *program = program_fixture_new();
    const uint32_t insn = operand(program, OP_INT_ALU);
    add_uop(program, OP_STORE, 0, 0, 0)->memory = 0;
    program->uops[program->insns[insn].first_uop + 2].data = 2;
    execute_at(program, insn, LINE, 8);
    program->accesses[program->access_count] = program->accesses[0];
    program->accesses[program->access_count++].is_store = true;
    program->dynamic[0].memory_count = 2;
    simulate(program, &machine, 0);
    const uint64_t cycles[] = {4, 4, 5};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(program->lives[i].dispatch, cycles[i]);
    program_fixture_free(program);
}

/* Three pairs and a branch back, 50 times: four places and one packet a cycle. From the second time
 * on the block is a copy. */
static void pairs_of_a_kept_block(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.load_queue = 32;
    machine.pools[1].units = 4;
    machine.queues[0].issue = 8;
    struct program_fixture *program = program_fixture_new();
    uint32_t insns[3];
    for (uint32_t i = 0; i < 3; i++)
        insns[i] = operand(program, OP_INT_ALU);
    const uint32_t jump = branch(program, BRANCH_JUMP, 0);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 3; i++)
            execute_at(program, insns[i], LINE, 8);
        execute_taken(program, jump);
    }
    simulate(program, &machine, IDEAL_DMISS);
    for (uint32_t i = 0; i < 50 * 7; i++)
        assert_int_equal(program->lives[i].dispatch, 4 + i / 7);
    expect_graph_times(program, &machine);
    program_fixture_free(program);
}

/* A compare with memory and the branch that it fuses with are one µop behind the load, and all
 * three one place: five of them take the places of five, one wide. So they do if the compare is the
 * last of what is pushed, or the executor runs what is pushed. */
static void compares_with_memory(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.fuse_compare_branch = true;
    machine.core.dispatch_width = 1;
    struct error error = {0};
    struct executor *executor = executor_new("pipeline", &error);
    struct program_fixture *program = program_fixture_new();
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t compare = operand(program, OP_INT_ALU);
        with_flags(program, compare, INSN_SETS_FLAGS_FOR_FUSION);
        const uint32_t jump =
            with_flags(program, branch(program, BRANCH_CONDITIONAL, 2), INSN_FUSES_WITH_FLAGS);
        execute_at(program, compare, LINE, 8);
        execute(program, jump);
    }
    for (uint32_t batch = 1; batch <= 4; batch++) {
        simulate_on(program, &machine, 0, batch, batch % 2 ? NULL : executor, NULL);
        assert_int_equal(program->life_count, 10);
        for (uint32_t i = 0; i < 10; i++)
            assert_int_equal(program->lives[i].dispatch, 4 + i / 2);
        assert_true(program->lives[1].flags & LIFE_FUSED);
    }
    expect_graph_times(program, &machine);
    executor_free(executor);
    program_fixture_free(program);
}

/* A load that has read too early is squashed with the pairs behind it, and comes again: places
 * count on from before it. A division gives a store its address in 15; the store commits in 17, and
 * the first pair's load, which read the same in 6, is flushed in 18, fetched in 20, dispatched in
 * 23. From there on it goes at two places a cycle. */
static void places_after_a_flush(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.dispatch_width = 2;
    machine.core.disambiguation = DISAMBIGUATE_WAIT_TABLE;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute_at(program, store(program, 0, 1), LINE, 8);
    execute_operands(program, OP_INT_ALU, 9);
    simulate(program, &machine, IDEAL_DMISS);
    assert_int_equal(program->statistics.ordering_violations, 1);
    assert_int_equal(program->squashed, 18);
    for (uint32_t i = 0; i < 18; i++)
        assert_int_equal(program->lives[2 + i].dispatch, 23 + i / 4);
    program_fixture_free(program);
}

/* 600 pairs without limits of bandwidth and window. 255 are fetched in a cycle, from 1 on; the
 * first loads have their values in 8, the operations in 9. As a record of the tap has room for 255
 * µops, 127 places commit in a cycle: the first in 10, the last in 14. */
static void without_limits(void **state) {
    (void)state;
    struct machine machine = fusing_machine();
    machine.core.load_queue = machine.queues[0].entries = 100;
    struct program_fixture *program = program_fixture_new();
    execute_operands(program, OP_INT_ALU, 600);
    simulate(program, &machine, IDEAL_DMISS | IDEAL_BW | IDEAL_WIN);
    for (uint32_t i = 0; i < 600; i++)
        assert_int_equal(program->lives[2 * i + 1].commit, 10 + i / 127);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_dispatched_as_one),
        cmocka_unit_test(a_pair_is_one_in_the_reorder_buffer),
        cmocka_unit_test(a_pair_commits_as_one),
        cmocka_unit_test(an_operation_may_enter_later),
        cmocka_unit_test(some_pairs_are_taken_apart),
        cmocka_unit_test(a_pair_taken_apart_is_two_in_the_reorder_buffer),
        cmocka_unit_test(a_store_has_a_place_of_its_own),
        cmocka_unit_test(pairs_of_a_kept_block),
        cmocka_unit_test(compares_with_memory),
        cmocka_unit_test(places_after_a_flush),
        cmocka_unit_test(flags_have_registers_of_their_own),
        cmocka_unit_test(flags_have_integer_registers),
        cmocka_unit_test(additions_have_both_registers),
        cmocka_unit_test(without_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
