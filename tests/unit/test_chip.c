/* The chip's timing, cycle by cycle, worked by hand. A schedule has a letter per cycle from 1 on:
 * A, B .. which thread of the core issued, or a dot. Nine dots: the first line of code comes from
 * memory until cycle 10 (chip_fixture.h). */
#include "core/core.h"
#include "unit/chip_fixture.h"

enum { DATA = 0x100000 };

static struct program_fixture *new_program(struct chip_feeder *feeder, uint32_t thread) {
    return feeder->programs[thread] = program_fixture_new();
}

static void alus(struct program_fixture *program, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        execute(program, alu(program, 1, 0, 0));
}

static void load_at(struct program_fixture *program, uint64_t address) {
    execute_at(program, load(program, 1, 2), address, 8);
}

/* An instruction each cycle; at its end the program begins again, its line now in the L1I. */
static void one_thread(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    alus(new_program(&feeder, 0), 4);
    expect(&feeder, &machine, ".........AAAAAAAA", NULL);
    struct chip_thread_statistics first = first_of(&feeder, 0), all = all_of(&feeder, 0);
    assert_int_equal(first.instructions, 4);
    assert_int_equal(first.turns, 4);
    assert_int_equal(first.cycles, 13);
    assert_int_equal(first.l1i_misses, 1);
    assert_int_equal(first.l2_fetch_misses, 1);
    assert_int_equal(first.events[SUSPENDED_FETCH], 1);
    assert_int_equal(first.cycles_in[SUSPENDED_FETCH], 9);
    assert_int_equal(all.instructions, 8);
    assert_int_equal(all.l1i_misses, 1);
    feeder_end(&feeder);
}

/* Both ask for their first line in cycle 0, and one bank serves them: B's is there one later. */
static void two_threads_alternate(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 2);
    struct chip_feeder feeder = {0};
    alus(new_program(&feeder, 0), 4);
    alus(new_program(&feeder, 1), 4);
    expect(&feeder, &machine, ".........ABABABAB", NULL);
    assert_int_equal(first_of(&feeder, 1).cycles, 17);
    assert_int_equal(first_of(&feeder, 1).cycles_in[SUSPENDED_FETCH], 10);
    feeder_end(&feeder);
}

/* A's multiplication issues in 10 and takes 3: A is ready in 13, and the core is B's meanwhile. A's
 * second one issues in 17 (13 and 15 are plain), so B has 18 and 19 and, as it was A's turn, 21. */
static void a_waiting_thread_is_skipped(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 2);
    struct chip_feeder feeder = {0};
    struct program_fixture *a = new_program(&feeder, 0);
    execute(a, operation(a, OP_INT_MUL, 1, 0));
    alus(a, 2);
    alus(new_program(&feeder, 1), 4);
    expect(&feeder, &machine, ".........ABBABABABBAB", NULL);
    assert_int_equal(first_of(&feeder, 0).events[SUSPENDED_LONG], 1);
    assert_int_equal(first_of(&feeder, 0).cycles_in[SUSPENDED_LONG], 2);
    feeder_end(&feeder);
}

/* Loads: from memory (10 to 20), of another line that came with it into the L2 (20 to 24), of one
 * that the L1D has. */
static void latencies(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    struct program_fixture *program = new_program(&feeder, 0);
    load_at(program, DATA);
    load_at(program, DATA + 16);
    load_at(program, DATA);
    alus(program, 1);
    expect(&feeder, &machine, ".........A.........A...AA", NULL);
    struct chip_thread_statistics first = first_of(&feeder, 0);
    struct chip_penalties penalties = chip_penalties(&machine);
    assert_int_equal(first.accesses, 3);
    assert_int_equal(first.l1d_misses, 2);
    assert_int_equal(first.l2_misses, 1);
    assert_int_equal(first.cycles_in[SUSPENDED_L2_MISS], 9);
    assert_int_equal(penalties.memory, 9);
    assert_int_equal(first.cycles_in[SUSPENDED_L2_HIT], 3);
    assert_int_equal(penalties.l2_hit, 3);
    chip_free(feeder.chip);

    /* A hit of three cycles: the third load's successor issues 3 after it. A store that hits does
       not wait. */
    machine.l1d.latency = 3;
    execute_at(program, store(program, 1, 2), DATA, 8);
    alus(program, 1);
    expect(&feeder, &machine, ".........A.........A...A..A...AA", NULL);
    feeder_end(&feeder);
}

/* The data lie in the line of the code: the L2 has it. */
static void code_read_as_data(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    struct program_fixture *program = new_program(&feeder, 0);
    load_at(program, program->address + 32);
    alus(program, 1);
    expect(&feeder, &machine, ".........A...A", NULL);
    feeder_end(&feeder);
}

/* The fifth instruction lies in the next line: looked up in 13, there in 17. */
static void next_line_of_code(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    alus(new_program(&feeder, 0), 5);
    expect(&feeder, &machine, ".........AAAA...AAAA", NULL);
    struct chip_thread_statistics first = first_of(&feeder, 0);
    assert_int_equal(first.l1i_misses, 2);
    assert_int_equal(first.l2_fetch_misses, 1);
    assert_int_equal(first.cycles_in[SUSPENDED_FETCH], 9 + 3);
    assert_int_equal(chip_penalties(&machine).fetch, 3);
    feeder_end(&feeder);
}

/* While A's division takes its 10 cycles, its next line is not yet looked up: that happens in 22
 * (13 + 10 - 1), and the line, of the L2, is there in 26. */
static void fetch_after_a_long_operation(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    struct program_fixture *program = new_program(&feeder, 0);
    alus(program, 3);
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    alus(program, 1);
    expect(&feeder, &machine, ".........AAAA............A", NULL);
    feeder_end(&feeder);
}

/* Cores ask for their first lines in cycle 0. One bank that takes a request every 3 cycles: the
 * second core's line is there in 13. Two banks and lines that are neighbours: no wait. */
static void bank_conflicts(void **state) {
    (void)state;
    struct machine machine = little_chip(2, 1);
    struct chip_feeder feeder = {0};
    machine.chip.bank_interval = 3;
    alus(new_program(&feeder, 0), 2);
    struct program_fixture *second = new_program(&feeder, 1);
    second->address += 64;
    alus(second, 2);
    expect(&feeder, &machine, ".........AAAAAA", "............AAA");
    assert_int_equal(first_of(&feeder, 1).cycles_in[SUSPENDED_FETCH], 12);
    chip_free(feeder.chip);
    machine.chip.l2_banks = 2;
    expect(&feeder, &machine, ".........AAAAAA", ".........AAAAAA");
    feeder_end(&feeder);
}

/* A bank that takes a request every 2 cycles: code is there in 10 and, of core 1, in 12. Then each
 * core's load asks in cycle 12; core 0 is served at once (there in 22), core 1 in 14 (24). */
static void who_asks_first(void **state) {
    (void)state;
    struct machine machine = little_chip(2, 1);
    struct chip_feeder feeder = {0};
    machine.chip.bank_interval = 2;
    struct program_fixture *first = new_program(&feeder, 0), *second = new_program(&feeder, 1);
    alus(first, 2);
    load_at(first, DATA);
    alus(first, 1);
    load_at(second, DATA);
    alus(second, 1);
    expect(&feeder, &machine, ".........AAA.........AAAA", "...........A...........AA");
    chip_free(feeder.chip);

    /* Core 0's load in 13: it asks after core 1's in 12, which holds the bank until 14. */
    program_fixture_free(first);
    first = new_program(&feeder, 0);
    alus(first, 3);
    load_at(first, DATA);
    expect(&feeder, &machine, ".........AAAA..........AAA", "...........A.........AAAAA");
    feeder_end(&feeder);
}

/* A return that its stack does not know, in 11: its successor issues in 11 + 1 + 1 + 2. */
static void mispredicted_branch(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    machine.branch.direction = DIRECTION_BIMODAL;
    machine.branch.bimodal_entries = 16;
    struct program_fixture *program = new_program(&feeder, 0);
    alus(program, 1);
    execute_taken(program, branch(program, BRANCH_RETURN, 1));
    alus(program, 1);
    expect(&feeder, &machine, ".........AA...AAA", NULL);
    struct chip_thread_statistics first = first_of(&feeder, 0);
    assert_int_equal(first.events[SUSPENDED_BRANCH], 1);
    assert_int_equal(first.cycles_in[SUSPENDED_BRANCH], 3);
    assert_int_equal(chip_penalties(&machine).mispredict, 3);
    chip_free(feeder.chip);

    /* Instruction by instruction: the branch learns of its successor from the next push. */
    feeder.batch = 1;
    expect(&feeder, &machine, ".........AA...AAA", NULL);
    feeder_end(&feeder);
}

/* A jump whose target the BTB does not know (a bubble of 2), then, in the next round, one that it
 * knows (a bubble of 1). */
static void late_and_taken_branches(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL,
                                             .bimodal_entries = 16,
                                             .btb_entries = 4,
                                             .btb_ways = 2,
                                             .ras_entries = 4,
                                             .btb_miss_penalty = 2,
                                             .taken_bubble = 1};
    struct program_fixture *program = new_program(&feeder, 0);
    execute_taken(program, branch(program, BRANCH_JUMP, 0));
    alus(program, 1);
    expect(&feeder, &machine, ".........A..AA.AA.A", NULL);
    feeder_end(&feeder);
}

/* A system call in 10 (7 cycles and 2 to issue), a flushing instruction in 19 (3 and 2). */
static void system_events(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    struct program_fixture *program = new_program(&feeder, 0);
    execute(program, with_flags(program, operation(program, OP_SYSTEM, 0, 0), INSN_SYSCALL));
    execute(program, with_flags(program, operation(program, OP_SYSTEM, 0, 0), INSN_FLUSHING));
    alus(program, 1);
    expect(&feeder, &machine, ".........A........A....AA", NULL);
    assert_int_equal(first_of(&feeder, 0).cycles_in[SUSPENDED_SYSTEM], 8 + 4);
    assert_int_equal(chip_penalties(&machine).system_call, 8);
    assert_int_equal(chip_penalties(&machine).flush, 4);
    feeder_end(&feeder);
}

/* ITLB: looked up in 0 and once more in 5, so that the line is there in 15. DTLB: the load takes a
 * turn in 15 and another in 20, when it goes to memory, until 30. In the second round both pages
 * are known and all hits. */
static void translation(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    machine.itlb = machine.dtlb = (struct machine_tlb){.entries = 2};
    struct program_fixture *program = new_program(&feeder, 0);
    load_at(program, DATA);
    alus(program, 1);
    expect(&feeder, &machine, "..............A....A.........AAA", NULL);
    struct chip_thread_statistics first = first_of(&feeder, 0);
    assert_int_equal(first.instructions, 2);
    assert_int_equal(first.turns, 3);
    assert_int_equal(first.accesses, 1);
    assert_int_equal(first.events[SUSPENDED_TRANSLATION], 2);
    assert_int_equal(first.cycles_in[SUSPENDED_TRANSLATION], 5 + 4);
    feeder_end(&feeder);
}

/* One entry for two threads, whose pages push each other out: each waits once per access (5
 * cycles), then goes on. A's load takes 10 and 15, B's 11 and 16, both from memory. */
static void threads_contend_for_the_tlb(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 2);
    struct chip_feeder feeder = {0};
    machine.dtlb.entries = 1;
    load_at(new_program(&feeder, 0), DATA);
    load_at(new_program(&feeder, 1), DATA);
    expect(&feeder, &machine, ".........AB...AB........AB...ABAB...AB", NULL);
    feeder_end(&feeder);
}

/* An access that crosses a line takes two turns: from memory (10 to 20), then from the L2. So does
 * an instruction with two accesses. An instruction that crosses a line of code needs both. */
static void several_turns(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    struct program_fixture *program = new_program(&feeder, 0);
    execute_at(program, load(program, 1, 2), DATA + 12, 8);
    struct dynamic_insn *both = execute_at(program, load(program, 1, 2), DATA, 8);
    program->accesses[program->access_count++] =
        (struct memory_access){.address = DATA + 8, .size_bytes = 8, .is_store = true};
    both->memory_count = 2;
    alus(program, 1);
    expect(&feeder, &machine, ".........A.........A...AAA", NULL);
    struct chip_thread_statistics first = first_of(&feeder, 0);
    assert_int_equal(first.instructions, 3);
    assert_int_equal(first.turns, 5);
    assert_int_equal(first.accesses, 4);
    chip_free(feeder.chip);

    program_fixture_free(program);
    program = new_program(&feeder, 0);
    program->address += 14; /* 2 bytes before the next line, which is there in 10 + 4 - 1 */
    alus(program, 1);
    expect(&feeder, &machine, "............A", NULL);
    feeder_end(&feeder);
}

/* A repeated string instruction of 1 GB is not laid out before it runs. */
static void a_long_repetition(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    struct program_fixture *program = new_program(&feeder, 0);
    struct dynamic_insn *dynamic = execute_at(program, store(program, 1, 2), DATA, 1 << 30);
    dynamic->flags |= DYN_REP;
    feeder_begin(&feeder, &machine);
    run_to(&feeder, 10 + 1000 * 22); /* 64 bytes in 10 + 3 × 4 cycles */
    assert_int_equal(all_of(&feeder, 0).turns, 4001);
    assert_int_equal(all_of(&feeder, 0).instructions, 0);
    feeder_end(&feeder);
}

/* Four threads whose loads come from the L2 in 4 cycles keep the core busy. Their code is there in
 * 10 to 13 (one bank), their first loads come from memory, 10 later. */
static void four_threads_hide_misses(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 4);
    struct chip_feeder feeder = {0};
    for (uint32_t i = 0; i < 4; i++) {
        struct program_fixture *program = new_program(&feeder, i);
        for (uint32_t k = 0; k < 4; k++)
            load_at(program, DATA + 16 * k);
    }
    expect(&feeder, &machine, ".........ABCD......ABCDABCDABCD", NULL);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(first_of(&feeder, i).cycles, 28 + i);
    feeder_end(&feeder);
}

/* Three threads that are always ready have the same share, whoever starts late. */
static void turns_go_round(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 3);
    struct chip_feeder feeder = {0};
    for (uint32_t i = 0; i < 3; i++) {
        struct program_fixture *program = new_program(&feeder, i);
        program->address += 16 * i; /* another set of the L1I, which has two ways */
        alus(program, 1 + i);
    }
    feeder_begin(&feeder, &machine);
    run_to(&feeder, 9 + 3000);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(all_of(&feeder, i).turns, 1000);
    feeder_end(&feeder);
}

/* An L1D of one line: alone, A misses once; with B, which uses another line, every access of both
 * goes to the L2, 4 cycles each. */
static void threads_contend_for_the_l1(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 2);
    struct chip_feeder feeder = {0};
    machine.l1d.size = 16;
    machine.l1d.ways = 1;
    for (uint32_t i = 0; i < 2; i++) {
        struct program_fixture *program = new_program(&feeder, i);
        for (uint32_t k = 0; k < 4; k++)
            load_at(program, DATA);
    }
    expect(&feeder, &machine, ".........AB........AB..AB..AB", NULL);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(first_of(&feeder, i).l1d_misses, 4);
        assert_int_equal(first_of(&feeder, i).l2_misses, 1);
    }
    chip_free(feeder.chip);

    program_fixture_free(feeder.programs[1]);
    feeder.programs[1] = NULL;
    expect(&feeder, &machine, ".........A.........AAAAA", NULL);
    assert_int_equal(first_of(&feeder, 0).l1d_misses, 1);
    assert_int_equal(all_of(&feeder, 1).turns, 0);
    feeder_end(&feeder);
}

static void finished_when_each_has_run(void **state) {
    (void)state;
    struct machine machine = little_chip(2, 2);
    struct chip_feeder feeder = {0};
    alus(new_program(&feeder, 0), 2);
    alus(new_program(&feeder, 3), 30);
    feeder_begin(&feeder, &machine);
    uint64_t cycle = 0;
    while (!run_to(&feeder, cycle))
        cycle++;
    assert_int_equal(cycle, first_of(&feeder, 3).cycles);
    assert_int_equal(first_of(&feeder, 0).instructions, 2);
    assert_int_equal(first_of(&feeder, 3).instructions, 30);
    assert_true(all_of(&feeder, 0).instructions > 2);
    feeder_end(&feeder);
}

static bool nothing(void *context, uint32_t thread, struct error *error) {
    return chip_push(*(struct chip **)context, thread,
                     &(struct core_input){NULL, NULL, NULL, 0, 0, 0}, true, error);
}

static bool refuse(void *context, uint32_t thread, struct error *error) {
    (void)context;
    return error_set(error, "no more of thread %u", thread);
}

static void what_is_refused(void **state) {
    (void)state;
    struct error error;
    struct chip *chip = NULL;
    bool finished;
    struct machine machine = little_chip(1, 1);
    chip = chip_new(&machine, NULL, (struct chip_source){nothing, &chip}, &error);
    assert_false(chip_run(chip, 10, &finished, &error));
    assert_string_equal(error.message, "the program of hardware thread 0 has no instructions");
    chip_free(chip);
    chip = chip_new(&machine, NULL, (struct chip_source){refuse, NULL}, &error);
    assert_false(chip_run(chip, 10, &finished, &error));
    assert_string_equal(error.message, "no more of thread 0");
    chip_free(chip);
    machine.core.in_order = false;
    assert_null(chip_new(&machine, NULL, (struct chip_source){refuse, NULL}, &error));
    assert_non_null(strstr(error.message, "in_order = yes"));
}

/* Accesses that are not there, or named twice. */
static void hostile_input(void **state) {
    (void)state;
    struct machine machine = little_chip(1, 1);
    struct chip_feeder feeder = {0};
    struct program_fixture *program = new_program(&feeder, 0);
    load_at(program, DATA);
    load_at(program, DATA);
    feeder_begin(&feeder, &machine);
    struct error error;
    program->dynamic[1].memory = 0;
    program->dynamic[1].memory_count = 2;
    assert_false(feed(&feeder, 0, &error));
    program->dynamic[1].memory_count = 3;
    assert_false(feed(&feeder, 0, &error));
    program->dynamic[1].memory_count = 1;
    program->dynamic[1].insn = 9;
    assert_false(feed(&feeder, 0, &error));
    feeder_end(&feeder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread),
        cmocka_unit_test(two_threads_alternate),
        cmocka_unit_test(a_waiting_thread_is_skipped),
        cmocka_unit_test(latencies),
        cmocka_unit_test(code_read_as_data),
        cmocka_unit_test(next_line_of_code),
        cmocka_unit_test(fetch_after_a_long_operation),
        cmocka_unit_test(bank_conflicts),
        cmocka_unit_test(who_asks_first),
        cmocka_unit_test(mispredicted_branch),
        cmocka_unit_test(late_and_taken_branches),
        cmocka_unit_test(system_events),
        cmocka_unit_test(translation),
        cmocka_unit_test(threads_contend_for_the_tlb),
        cmocka_unit_test(several_turns),
        cmocka_unit_test(a_long_repetition),
        cmocka_unit_test(four_threads_hide_misses),
        cmocka_unit_test(turns_go_round),
        cmocka_unit_test(threads_contend_for_the_l1),
        cmocka_unit_test(finished_when_each_has_run),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(hostile_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
