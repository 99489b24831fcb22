/* The pipeline's timing, cycle by cycle, worked by hand on the little machine (core_fixture.h): the
 * first packet is fetched in 1, dispatched in 4, issued in 5, complete in 6, committed in 7. */
#include "../core_fixture.h"

/* Four independent adds are one packet and go through together. */
static void independent_adds_take_the_width(void **state) {
    (void)state;
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    for (int i = 0; i < 12; i++)
        execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 12; i++) {
        const struct life *life = &program->lives[i];
        assert_int_equal(life->fetch, 1 + i / 4);
        assert_int_equal(life->dispatch, 4 + i / 4);
        assert_int_equal(life->issue, 5 + i / 4);
        assert_int_equal(life->complete, 6 + i / 4);
        assert_int_equal(life->commit, 7 + i / 4);
    }
    assert_int_equal(program->statistics.cycles, 9);
    assert_int_equal(program->statistics.instructions, 12);
    program_fixture_free(program);
}

/* A chain of adds runs at one per cycle: the i-th commits in 7 + i. */
static void dependent_adds_take_a_cycle_each(void **state) {
    (void)state;
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    for (int i = 0; i < 100; i++) {
        execute(program, alu(program, 1, 1, 0));
    }
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(program->lives[i].commit, 7 + i);
    assert_int_equal(program->statistics.cycles, 106);
    program_fixture_free(program);
}

/* Cycles between two commits that do not fit a record's header of one word follow it: a division of
 * 20 million cycles issues in 5 and commits in 20,000,006, beside it an addition, and one behind it
 * that waits for it a cycle later. */
static void commits_may_lie_far_apart(void **state) {
    (void)state;
    enum { LONG = 20000000 };
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    static_assert((int)LONG > (int)TAP_FIELD_MAX, "it takes three words");
    machine.classes[OP_INT_DIV].latency = LONG;
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute(program, alu(program, 2, 0, 0));
    execute(program, alu(program, 1, 1, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].commit, LONG + 6);
    assert_int_equal(program->lives[1].commit, LONG + 6);
    assert_int_equal(program->lives[2].commit, LONG + 7);
    assert_int_equal(program->statistics.cycles, LONG + 7);
    program_fixture_free(program);
}

/* A wakeup loop of two cycles doubles the chain: issue in 5, 7, 9 ... */
static void slow_wakeup_doubles_a_chain(void **state) {
    (void)state;
    struct program_fixture *program = program_fixture_new();
    struct machine machine = little_machine();
    machine.core.issue_wakeup = 2;
    for (int i = 0; i < 10; i++)
        execute(program, alu(program, 1, 1, 0));
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(program->lives[i].issue, 5 + 2 * i);
    program_fixture_free(program);
}

/* Two independent multiplies share the one pipelined multiplier: issue in 5 and 6, 3 cycles each.
 * Two divisions share a unit that is busy for 10: issue in 5 and 15. */
static void units_limit_issue(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute(program, operation(program, OP_INT_MUL, 2, 0));
    machine.classes[OP_INT_DIV].pool = 0;
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[1].issue, 6);
    assert_int_equal(program->lives[1].complete, 9);
    assert_int_equal(program->lives[1].unit_wait, 1);
    program_fixture_free(program);

    machine = little_machine();
    program = program_fixture_new();
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute(program, operation(program, OP_INT_DIV, 2, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[1].issue, 15);
    assert_int_equal(program->lives[1].commit, 26);
    program_fixture_free(program);
}

/* The oldest ready µop issues first: with one ALU, program order. The third add waits for a
 * multiply (issued 5, complete 8) and does not hold back the younger fourth. */
static void oldest_ready_issues_first(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.pools[0].units = 1;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute(program, alu(program, 2, 0, 0));
    execute(program, alu(program, 3, 1, 0));
    execute(program, alu(program, 4, 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[1].issue, 5);
    assert_int_equal(program->lives[2].issue, 8);
    assert_int_equal(program->lives[3].issue, 6);
    assert_int_equal(program->lives[3].commit, 10); /* with the third, in order */
    program_fixture_free(program);
}

/* A unit that is not pipelined goes to the older µop. The first division waits for a multiply (5 to
 * 8): 8 to 18. The second is ready in 5, but has no 10 cycles before the first: 18 to 28. (A
 * machine that steps would give the unit to the second in 5, and to the first in 15.) A third that
 * is ready after both comes last. */
static void divider_goes_to_the_older(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.classes[OP_INT_MUL].pool = 0;
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute(program, operation(program, OP_INT_DIV, 2, 1));
    execute(program, operation(program, OP_INT_DIV, 3, 0));
    execute(program, operation(program, OP_INT_DIV, 4, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].issue, 8);
    assert_int_equal(program->lives[2].issue, 18);
    assert_int_equal(program->lives[3].issue, 28);
    /* Ten cycles later the second has time before the first. */
    program_fixture_free(program);
    program = program_fixture_new();
    machine.classes[OP_INT_MUL].latency = 10;
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute(program, operation(program, OP_INT_DIV, 2, 1));
    execute(program, operation(program, OP_INT_DIV, 3, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].issue, 15);
    assert_int_equal(program->lives[2].issue, 5);
    program_fixture_free(program);
}

/* A ROB of 4: the second packet enters as the first leaves (commit precedes dispatch in a cycle).
 */
static void rob_limits_dispatch(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.rob = 4;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 8; i++)
        execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[4].dispatch, 7);
    assert_int_equal(program->lives[4].dispatch_block, DISPATCH_ROB);
    assert_int_equal(program->lives[7].commit, 10);
    program_fixture_free(program);
}

/* An issue queue of 2: two µops dispatch in 4, issue in 5 and leave room for two in 5. */
static void queue_limits_dispatch(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.queues[0].entries = 2;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 4; i++)
        execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].dispatch, 4);
    assert_int_equal(program->lives[2].dispatch, 5);
    assert_int_equal(program->lives[2].dispatch_block, DISPATCH_QUEUE);
    program_fixture_free(program);
}

/* 34 integer registers leave 2 beyond the 32 architectural ones: two writers in flight. Registers
 * come back at commit (7). */
static void registers_limit_dispatch(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.int_registers = 34;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 4; i++)
        execute(program, alu(program, (uint8_t)(1 + i), 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].dispatch, 4);
    assert_int_equal(program->lives[2].dispatch, 7);
    assert_int_equal(program->lives[2].dispatch_block, DISPATCH_REGISTERS);
    program_fixture_free(program);
}

/* A mispredicted branch (gshare starts at not taken) at the end of the first packet: issued 5,
 * complete 6, fetch of the right path in 7, dispatch in 10. It commits in 7: the ROB is empty in 8,
 * 9 and 10, Flushed; the next add is Stalled in 11 and 12 and commits in 13. */
static void misprediction_flushes(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){
        .direction = DIRECTION_BIMODAL, .bimodal_entries = 1024, .ras_entries = 8};
    struct program_fixture *program = program_fixture_new();
    uint32_t jump = branch(program, BRANCH_CONDITIONAL, 0);
    program->address += 0x100;
    uint32_t add = alu(program, 1, 0, 0);
    execute_taken(program, jump);
    execute(program, add);
    simulate(program, &machine, 0);
    assert_true(program->lives[0].flags & LIFE_MISPREDICTED);
    assert_int_equal(program->lives[1].fetch, 7);
    assert_int_equal(program->lives[1].dispatch, 10);
    assert_int_equal(program->lives[1].commit, 13);
    assert_int_equal(program->result.states[STATE_COMPUTING], 2);
    assert_int_equal(program->result.states[STATE_DRAINED], 4);
    assert_int_equal(program->result.states[STATE_STALLED], 2 + 2);
    assert_int_equal(program->result.states[STATE_FLUSHED], 3);
    const struct pics *golden = golden_profile(program->golden);
    /* Drained 4, Stalled 5 and 6, Computing 7, Flushed 8 to 10: all the branch's, with FL-MB. */
    assert_int_equal(units_of(golden, jump, PSV_FL_MB), 10 * CYCLE_UNITS);
    assert_int_equal(units_of(golden, add, 0), 3 * CYCLE_UNITS);

    simulate(program, &machine, IDEAL_BMISP); /* fetched in 2, the packet ends at a taken branch */
    assert_int_equal(program->lives[1].fetch, 2);
    assert_int_equal(program->lives[1].commit, 8);
    program_fixture_free(program);
}

/* A flushing instruction commits in 7; fetch goes on 2 cycles later, in 9, dispatch in 12, commit
 * in 15: Flushed 8 to 12, with FL-EX. What stood behind it in the packet is fetched again. */
static void flushing_instruction_flushes(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t csr = with_flags(program, operation(program, OP_SYSTEM, 1, 0), INSN_FLUSHING);
    uint32_t add = alu(program, 2, 0, 0);
    execute(program, csr);
    execute(program, add);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].commit, 7);
    assert_int_equal(program->lives[1].fetch, 9);
    assert_int_equal(program->lives[1].commit, 15);
    assert_int_equal(program->result.states[STATE_FLUSHED], 5);
    assert_int_equal(units_of(golden_profile(program->golden), csr, PSV_FL_EX), 12 * CYCLE_UNITS);
    program_fixture_free(program);
}

/* A system call costs 10 cycles from commit to fetch: 7, 17, 20, 23. */
static void system_call_flushes(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    uint32_t call = with_flags(program, operation(program, OP_SYSTEM, 1, 0), INSN_SYSCALL);
    uint32_t add = alu(program, 2, 0, 0);
    execute(program, call)->flags |= DYN_SYSCALL;
    execute(program, add);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].fetch, 17);
    assert_int_equal(program->lives[1].commit, 23);
    assert_int_equal(program->statistics.system_calls, 1);
    program_fixture_free(program);
}

/* A serialising instruction enters an empty ROB and lets nothing in until it has committed: the
 * first add commits in 7, cpuid enters in 7 and commits in 10, the last add enters in 10. */
static void serialising_instruction_runs_alone(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, alu(program, 1, 0, 0));
    execute(program, with_flags(program, operation(program, OP_SYSTEM, 2, 0), INSN_SERIALISING));
    execute(program, alu(program, 3, 0, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].dispatch, 7);
    assert_int_equal(program->lives[1].commit, 10);
    assert_int_equal(program->lives[2].dispatch, 10);
    assert_int_equal(program->lives[2].commit, 13);
    program_fixture_free(program);
}

/* The host of a virtual machine executes CPUID: it enters the empty ROB in 7 and commits in 10 as
 * above, the add behind it is fetched 50 cycles later and commits in 60 + 3 + 3. A chain of them
 * takes, each, the 50 cycles, the way to dispatch, and 3. */
static void host_executes_cpuid(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.cpuid_cycles = 50;
    struct program_fixture *program = program_fixture_new();
    uint32_t cpuid = with_flags(program, operation(program, OP_SYSTEM, 2, 0), INSN_SERIALISING);
    program->insns[cpuid].is_cpuid = true;
    execute(program, alu(program, 1, 0, 0));
    execute(program, cpuid);
    execute(program, alu(program, 3, 0, 0));
    execute(program, cpuid);
    execute(program, cpuid);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].dispatch, 7);
    assert_int_equal(program->lives[1].commit, 10);
    assert_int_equal(program->lives[2].fetch, 60);
    assert_int_equal(program->lives[2].commit, 66);
    assert_int_equal(program->lives[4].commit, program->lives[3].commit + 50 + 3 + 3);
    assert_int_equal(program->statistics.flushes, 3);
    assert_int_equal(program->statistics.system_calls, 0);
    machine.core.cpuid_cycles = 0;
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[2].dispatch, 10);
    program_fixture_free(program);
}

/* Idealisations of latency: a chain of adds in no time commits at the width (4 a cycle), a chain of
 * multiplies likewise. */
static void zero_latencies_collapse_chains(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.pools[2].units = 4;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 8; i++)
        execute(program, alu(program, 1, 1, 0));
    simulate(program, &machine, IDEAL_SHALU);
    assert_int_equal(program->lives[3].issue, 5);
    assert_int_equal(program->lives[3].commit, 6);
    assert_int_equal(program->lives[7].commit, 7);
    program_fixture_free(program);

    program = program_fixture_new();
    for (int i = 0; i < 8; i++)
        execute(program, operation(program, OP_INT_MUL, 1, 1));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[7].commit, 5 + 8 * 3 + 1);
    simulate(program, &machine, IDEAL_LGALU);
    assert_int_equal(program->lives[7].commit, 7);
    program_fixture_free(program);
}

/* Unlimited bandwidth: 100 independent adds behind a ROB of 32: all that fit commit at once. */
static void bandwidth_idealised(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.rob = 200;
    machine.queues[0].entries = 200;
    machine.core.fetch_buffer = 200;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 100; i++)
        execute(program, alu(program, (uint8_t)(1 + i % 20), 0, 0));
    simulate(program, &machine, IDEAL_BW);
    assert_int_equal(program->statistics.cycles, 7);
    program_fixture_free(program);
}

/* Window 20 times: a load of 100 cycles at the head no longer stops 100 adds behind it. */
static void window_idealised(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), 0x100000, 8);
    for (int i = 0; i < 100; i++)
        execute(program, alu(program, (uint8_t)(2 + i % 20), 0, 0));
    simulate(program, &machine, IDEAL_WIN);
    assert_int_equal(program->lives[0].issue, 5);
    /* 1 for the address, 2 for the L1 that misses, 100 for DRAM */
    assert_int_equal(program->lives[0].complete, 5 + 1 + 2 + 100);
    assert_int_equal(program->lives[100].complete, 6 + 25);
    assert_int_equal(program->lives[100].commit, 109 + 25);
    simulate(program, &machine, 0);
    assert_true(program->lives[100].complete > 109);
    program_fixture_free(program);
}

/* Neither the boundaries of batches nor threads change anything. */
static void batches_and_threads_change_nothing(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.branch = (struct machine_branch){
        .direction = DIRECTION_GSHARE, .gshare_entries = 1024, .history = 8, .ras_entries = 8};
    struct program_fixture *program = program_fixture_new();
    uint32_t body[8];
    for (int i = 0; i < 6; i++)
        body[i] = alu(program, (uint8_t)(1 + i % 3), (uint8_t)(1 + i % 2), 0);
    body[6] = load(program, 4, 1);
    body[7] = branch(program, BRANCH_CONDITIONAL, 4);
    for (int i = 0; i < 2000; i++) {
        for (int k = 0; k < 6; k++)
            execute(program, body[k]);
        execute_at(program, body[6], 0x1000000 + (uint64_t)(i * 7919 % 512) * 64, 8);
        execute_taken(program, body[7]);
    }
    simulate(program, &machine, 0);
    uint64_t cycles = program->statistics.cycles;
    static const uint32_t batches[] = {1, 2, 3, 7, 100, 4096};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        simulate_on(program, &machine, 0, batches[i], NULL, NULL);
        assert_int_equal(program->statistics.cycles, cycles);
    }
    uint64_t stalled = program->result.states[STATE_STALLED];
    struct error error;
    struct executor *pipeline = executor_new("pipeline", &error);
    struct executor *attribution = executor_new("attribution", &error);
    assert_non_null(pipeline);
    assert_non_null(attribution);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        simulate_on(program, &machine, 0, batches[i], pipeline, attribution);
        assert_int_equal(program->statistics.cycles, cycles);
        assert_int_equal(program->result.states[STATE_STALLED], stalled);
    }
    executor_free(pipeline);
    executor_free(attribution);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_adds_take_the_width),
        cmocka_unit_test(dependent_adds_take_a_cycle_each),
        cmocka_unit_test(commits_may_lie_far_apart),
        cmocka_unit_test(slow_wakeup_doubles_a_chain),
        cmocka_unit_test(units_limit_issue),
        cmocka_unit_test(oldest_ready_issues_first),
        cmocka_unit_test(divider_goes_to_the_older),
        cmocka_unit_test(rob_limits_dispatch),
        cmocka_unit_test(queue_limits_dispatch),
        cmocka_unit_test(registers_limit_dispatch),
        cmocka_unit_test(misprediction_flushes),
        cmocka_unit_test(flushing_instruction_flushes),
        cmocka_unit_test(system_call_flushes),
        cmocka_unit_test(serialising_instruction_runs_alone),
        cmocka_unit_test(host_executes_cpuid),
        cmocka_unit_test(zero_latencies_collapse_chains),
        cmocka_unit_test(bandwidth_idealised),
        cmocka_unit_test(window_idealised),
        cmocka_unit_test(batches_and_threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
