/* Pools that share units, worked by hand on the little machine (core_fixture.h) with two ALUs: a
 * µop dispatched in 4 issues in 5 at the earliest. Multiplications take 3 cycles at alu1, which is
 * pipelined; divisions hold it for 10. */
#include "core_fixture.h"

static struct machine sharing_machine(void) {
    struct machine machine = little_machine();
    machine.pools[0].units = 2;
    machine.pools[machine.pool_count] = (struct machine_pool){"mul", 0, 1, "alu1", {{2}}};
    machine.classes[OP_INT_MUL].pool = machine.classes[OP_INT_DIV].pool = machine.pool_count++;
    return machine;
}

static struct program_fixture *run(const char *what, uint32_t ideal) {
    struct program_fixture *program = program_fixture_new();
    const struct machine machine = sharing_machine();
    for (uint8_t i = 0; what[i]; i++)
        execute(program, operation(program,
                                   what[i] == 'm'   ? OP_INT_MUL
                                   : what[i] == 'd' ? OP_INT_DIV
                                                    : OP_INT_ALU,
                                   (uint8_t)(1 + i), 0));
    simulate(program, &machine, ideal);
    return program;
}

static void issues(const char *what, const uint32_t *cycles) {
    struct program_fixture *program = run(what, 0);
    for (uint32_t i = 0; what[i]; i++)
        if (program->lives[i].issue != cycles[i])
            fail_msg("%s: µop %u issues in %lu, not %u", what, i, program->lives[i].issue,
                     cycles[i]);
    program_fixture_free(program);
}

/* Three independent operations, all ready in 5, at two units. After a multiplication one ALU is
 * left. An older addition takes the ALU that multiplies nothing, so that a multiplication goes
 * beside it; behind two of them it waits. Multiplications go one a cycle, and additions beside
 * them. */
static void a_unit_taken_by_one_is_not_free_for_the_other(void **state) {
    (void)state;
    issues("maa", (const uint32_t[]){5, 5, 6});
    issues("ama", (const uint32_t[]){5, 5, 6});
    issues("aam", (const uint32_t[]){5, 5, 6});
    issues("mmaa", (const uint32_t[]){5, 6, 5, 6});
}

/* A division holds alu1 from 5 to 14: additions go one a cycle until then, two from 15 on. A
 * multiplication behind them has alu1 in 15, beside one addition. */
static void a_unit_that_is_not_pipelined_is_held(void **state) {
    (void)state;
    issues("daaaaaaaaaaaaa", (const uint32_t[]){5, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 16});
    issues("dam", (const uint32_t[]){5, 5, 15});
}

/* With unlimited bandwidth nobody waits for a unit. */
static void unlimited_units_are_not_shared(void **state) {
    (void)state;
    struct program_fixture *program = run("mmmaaaddd", IDEAL_BW);
    for (uint32_t i = 0; i < program->life_count; i++)
        assert_int_equal(program->lives[i].issue, program->lives[0].issue);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_taken_by_one_is_not_free_for_the_other),
        cmocka_unit_test(a_unit_that_is_not_pipelined_is_held),
        cmocka_unit_test(unlimited_units_are_not_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
