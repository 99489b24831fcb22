/* Lives of the µops of a program in which everything happens that squashes or holds them. */
#include "core_fixture.h"

enum { FAR = 1 << 20 };

static uint32_t random_state;
static uint32_t next_random(uint32_t below) {
    random_state = random_state * 1103515245 + 12345;
    return (random_state >> 16) % below;
}

/* Everything that squashes or delays µops: loads that go ahead of stores to the same few addresses,
 * which wait for divisions; misses, mispredicted branches, system calls. */
static void execute_anything(struct program_fixture *program, uint32_t count) {
    uint32_t divide = operation(program, OP_INT_DIV, 1, 0), add = alu(program, 2, 2, 3);
    uint32_t write = store(program, 2, 1), read = load(program, 3, 0), wide = load(program, 4, 3);
    uint32_t jump = branch(program, BRANCH_CONDITIONAL, 3);
    uint32_t call = with_flags(program, alu(program, 5, 0, 0), INSN_SYSCALL);
    random_state = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = next_random(100);
        uint64_t address = FAR + 8 * next_random(4);
        if (kind < 4)
            execute(program, divide);
        else if (kind < 40)
            execute(program, add);
        else if (kind < 55)
            execute_at(program, write, address, 8);
        else if (kind < 75)
            execute_at(program, read, address, 8);
        else if (kind < 85)
            execute_at(program, wide, FAR + 64 * next_random(4096), 8);
        else if (kind < 99)
            execute(program, jump)->flags |= next_random(2) ? DYN_TAKEN : 0;
        else
            execute(program, call);
    }
}

static struct machine rough_machine(void) {
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_SPECULATE;
    machine.core.store_queue = 6;
    machine.l1d.mshrs = 2;
    machine.branch.direction = DIRECTION_BIMODAL;
    machine.branch.bimodal_entries = 64;
    machine.branch.btb_entries = 64;
    machine.branch.btb_ways = 4;
    return machine;
}

/* Every µop has a life record, whatever squashed it meanwhile, and recording lives takes no cycle
 * (which simulate() checks). */
static void every_uop_has_a_life(void **state) {
    (void)state;
    const struct machine machine = rough_machine();
    struct program_fixture *program = program_fixture_new();
    execute_anything(program, 20000);
    simulate(program, &machine, 0);
    assert_true(program->statistics.ordering_violations > 100);
    assert_true(program->squashed > 1000);
    assert_true(program->statistics.branch.conditional_wrong > 100);
    assert_int_equal(program->life_count, program->statistics.uops);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_uop_has_a_life)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
