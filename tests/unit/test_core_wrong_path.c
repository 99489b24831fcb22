/* Loads down wrong paths, worked by hand on the little machine (core_fixture.h).
 *
 *     divide     a
 *     branch     a, to join
 *     add        b        (the branch not taken)
 *   join:
 *     load       from c
 *     load       from b
 *     flush
 *
 * The branch, two bits, is taken, not taken and taken, each time mispredicted. The third time it is
 * known what comes behind it either way: the wrong path has the addition, and
 * then meets the right one. So the load from c issues there, that from b does not, as the right
 * path has another b. */
#include "../core_fixture.h"

enum {
    A = 1,
    B = 2,
    C = 5,
    FIRST = 0x40000000,
    NEW = 0x40010000,
    OTHER = 0x40020000,
    JOIN = 0x10040,
    APART = 0x20040
};

struct times {
    struct life branch, from_c, from_b;
};

static struct machine wrong_path_machine(uint32_t uops) {
    struct machine machine = little_machine();
    machine.core.wrong_path = uops;
    machine.branch.direction = DIRECTION_BIMODAL;
    machine.branch.bimodal_entries = 16;
    return machine;
}

/* The times of the last round. `late`: c is divided, too. */
static struct times times_of(const struct machine *machine, uint32_t ideal, bool late) {
    static const bool TAKEN[] = {true, false, true};
    struct program_fixture *program = program_fixture_new();
    const uint32_t divide = operation(program, OP_INT_DIV, A, 0);
    const uint32_t divide_c = operation(program, OP_INT_DIV, C, 0);
    const uint32_t by = branch(program, BRANCH_CONDITIONAL, A);
    if (machine->l1i.present)
        program->address = APART;
    const uint32_t add = alu(program, B, 0, 0);
    program->address = machine->l1i.present ? JOIN : program->address;
    const uint32_t from_c = load(program, 3, C), from_b = load(program, 4, B);
    const uint32_t flush = with_flags(program, alu(program, 7, 0, 0), INSN_FLUSHING);
    for (unsigned round = 0; round < 3; round++) {
        execute(program, divide);
        if (late)
            execute(program, divide_c);
        execute(program, by)->flags |= TAKEN[round] ? DYN_TAKEN : 0;
        if (!TAKEN[round])
            execute(program, add);
        execute_at(program, from_c, round == 2 ? NEW : FIRST, 8);
        execute_at(program, from_b, round == 2 ? OTHER : FIRST, 8);
        execute(program, flush);
    }
    simulate(program, machine, ideal);
    const struct life *last = &program->lives[program->life_count - 2];
    const struct times times = {.branch = last[-2], .from_c = last[-1], .from_b = last[0]};
    assert_int_equal(times.branch.insn, by);
    program_fixture_free(program);
    return times;
}

/* Down the wrong path the load is fetched in the cycle behind the branch, with the addition, and on
 * the right path in the cycle behind the branch's execution: so much sooner its line is asked for,
 * and so much sooner it is there. A line that is asked for after the branch has executed is none:
 * the branch takes 4 + 10 + 1 cycles from its fetch. */
static void a_load_is_earlier_by_the_branch(void **state) {
    (void)state;
    struct machine machine = wrong_path_machine(0);
    const struct times without = times_of(&machine, 0, false);
    machine = wrong_path_machine(32);
    const struct times with = times_of(&machine, 0, false);
    assert_int_equal(with.branch.fetch, without.branch.fetch);
    assert_int_equal(with.branch.complete - with.branch.fetch, 15);
    assert_int_equal(with.from_c.issue, without.from_c.issue);
    assert_int_equal(with.from_c.complete, without.from_c.complete - 15);
    assert_int_equal(with.from_b.complete, without.from_b.complete);
}

/* Of one µop alone, the addition, nothing follows; nor where branches are predicted right. */
static void as_far_as_it_goes(void **state) {
    (void)state;
    for (uint32_t uops = 0; uops <= 2; uops++) {
        const struct machine none = wrong_path_machine(0), machine = wrong_path_machine(uops);
        const struct times without = times_of(&none, 0, false), with = times_of(&machine, 0, false);
        assert_int_equal(without.from_c.complete - with.from_c.complete, uops == 2 ? 15 : 0);
        const struct times right = times_of(&none, IDEAL_BMISP, false);
        const struct times still = times_of(&machine, IDEAL_BMISP, false);
        assert_int_equal(right.from_c.complete, still.from_c.complete);
    }
}

/* The load's address comes from a division behind the branch's, on the same unit: when it is there,
 * the branch has executed. */
static void an_address_that_comes_too_late(void **state) {
    (void)state;
    const struct machine none = wrong_path_machine(0), machine = wrong_path_machine(32);
    const struct times without = times_of(&none, 0, true), with = times_of(&machine, 0, true);
    assert_true(with.from_c.issue > with.branch.complete);
    assert_int_equal(with.from_c.complete, without.from_c.complete);
}

/* An instruction cache of two lines: the addition's drives out that of the loads, which the right
 * path then has to fetch from memory again. */
static void lines_of_code_are_fetched(void **state) {
    (void)state;
    struct machine machine = wrong_path_machine(0);
    machine.l1i.present = true;
    machine.l1i.size = 128;
    machine.l1i.mshrs = 4;
    const struct times without = times_of(&machine, 0, false);
    machine.core.wrong_path = 32;
    const struct times with = times_of(&machine, 0, false);
    assert_int_equal(with.branch.fetch, without.branch.fetch);
    assert_int_equal(with.from_c.fetch, without.from_c.fetch + 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_earlier_by_the_branch),
        cmocka_unit_test(as_far_as_it_goes),
        cmocka_unit_test(lines_of_code_are_fetched),
        cmocka_unit_test(an_address_that_comes_too_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
