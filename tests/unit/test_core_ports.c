/* Pools that share units, and units for the data of stores, worked by hand on the little machine
 * (core_fixture.h): a µop dispatched in 4 issues in 5 at the earliest. */
#include "core_fixture.h"

/* Two ALUs; multiplications take 3 cycles at alu1, which is pipelined; divisions hold it for 10. */
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

/* ---- units given at dispatch ---- */

/* Multiplications, M, at alu1, and additions at either ALU, of which D read the first product,
 * in 8. Four dispatch in a cycle. Where each ALU has a scheduler of its own, each addition is given
 * the one that was given fewer in that cycle, or alu0. */
static void dispatches(const char *what, uint32_t entries, const uint32_t *cycles) {
    struct machine machine = sharing_machine();
    struct program_fixture *program = program_fixture_new();
    machine.queues[0].unit_entries = entries;
    for (uint8_t i = 0; what[i]; i++)
        execute(program, operation(program, what[i] == 'M' ? OP_INT_MUL : OP_INT_ALU,
                                   (uint8_t)(1 + i), what[i] == 'D'));
    simulate(program, &machine, 0);
    for (uint32_t i = 0; what[i]; i++)
        assert_int_equal(program->lives[i].issue, cycles[i]);
    program_fixture_free(program);
}

/* M alu1, D and the first I alu0, D alu1; then I alu0, D alu1, I alu0, I alu1. So the third I waits
 * until 7 for alu0, behind the second in 6, though alu1 is free in 6 until the last one comes. Else
 * it has alu1 in 6, and the last waits. */
static void a_bound_uop_waits_for_its_own_unit(void **state) {
    (void)state;
    dispatches("MDIDIDII", 0, (const uint32_t[]){5, 8, 5, 8, 6, 9, 6, 7});
    dispatches("MDIDIDII", 24, (const uint32_t[]){5, 8, 5, 8, 6, 9, 7, 6});
}

/* Three multiplications hold alu1 in 5, 6 and 7. What they were given counts in their own cycle
 * alone: of the four additions that dispatch in the next, two are given alu1 and wait for it. */
static void each_cycle_gives_units_anew(void **state) {
    (void)state;
    dispatches("MMMIIIII", 0, (const uint32_t[]){5, 6, 7, 5, 6, 7, 8, 8});
    dispatches("MMMIIIII", 24, (const uint32_t[]){5, 6, 7, 5, 6, 8, 7, 9});
}

/* An addition is given alu0, which nothing else could use, and the multiplication behind it issues
 * beside it; with alu1 given first it has that, and the multiplication waits. */
static void units_given_first(void **state) {
    (void)state;
    for (uint16_t first = 0; first < 2; first++) {
        struct machine machine = sharing_machine();
        struct program_fixture *program = program_fixture_new();
        machine.queues[0].unit_entries = 24;
        machine.given_first.units[0] = (uint16_t)(first << 1);
        execute(program, operation(program, OP_INT_ALU, 1, 0));
        execute(program, operation(program, OP_INT_MUL, 2, 0));
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[0].issue, 5);
        assert_int_equal(program->lives[1].issue, first ? 6 : 5);
        program_fixture_free(program);
    }
}

/* M alu1, D alu0, D alu0, D alu1; they issue in 5, 8, 9 and 8. The fourth D, in the next cycle, is
 * given alu0 again. With two entries its scheduler is full until 8, and what dispatches behind it
 * waits, too, though alu1 has an entry since 5: an addition that reads nothing issues in 9. */
static void a_full_scheduler_holds_dispatch(void **state) {
    (void)state;
    dispatches("MDDDDI", 24, (const uint32_t[]){5, 8, 9, 8, 10, 6});
    dispatches("MDDDDI", 2, (const uint32_t[]){5, 8, 9, 8, 10, 9});
}

/* ---- the data of stores ---- */

/* Data go to `ports`, units of pool `pool`. */
static struct machine with_data_units(uint32_t pool, uint16_t ports) {
    struct machine machine = little_machine();
    if (pool == machine.pool_count)
        machine.pools[machine.pool_count++] = (struct machine_pool){"data", 0, 1, "", {{0}}};
    strcpy(machine.core.store_data, "given below");
    machine.store_data.units[pool] = ports;
    return machine;
}

/* Four stores, ready in 5. Their addresses issue two a cycle, 5 5 6 6; their data one a cycle, 5 6
 * 7 8, and are there a cycle later, in 6 7 8 9. Without units of their own they would be there in 6
 * 6 7 7, with the addresses; and with unlimited bandwidth all in 6. */
static void data_take_units(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const uint32_t complete[3][4] = {{6, 7, 8, 9}, {6, 6, 7, 7}, {6, 6, 6, 6}};
        const struct machine machine = kind == 1 ? little_machine() : with_data_units(3, 1);
        struct program_fixture *program = program_fixture_new();
        for (uint32_t i = 0; i < 4; i++)
            execute_at(program, store(program, 0, 0), 0x1000 + 8 * i, 8);
        simulate(program, &machine, kind == 2 ? IDEAL_BW : 0);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(program->lives[i].complete, complete[kind][i]);
            assert_int_equal(program->lives[i].issue, kind == 2 ? 5 : 5 + i / 2);
        }
        program_fixture_free(program);
    }
}

/* A store of a product, which is there in 8: the address issues in 5, the data in 8, and are there
 * in 9. A load of them issues in 8, so that its address is there in 9 too, and has the value in 10.
 * Where the address is what takes so long, the data are there in 6 and wait for it: the store is
 * complete in 9 again, and so the load in 10. */
static void forwarding_needs_both_halves(void **state) {
    (void)state;
    for (int late_address = 0; late_address < 2; late_address++) {
        const struct machine machine = with_data_units(3, 1);
        struct program_fixture *program = program_fixture_new();
        execute(program, operation(program, OP_INT_MUL, 1, 0));
        execute_at(program, store(program, late_address ? 0 : 1, late_address ? 1 : 0), 0x1000, 8);
        execute_at(program, load(program, 2, 0), 0x1000, 8);
        simulate(program, &machine, 0);
        assert_int_equal(program->lives[1].issue, late_address ? 8 : 5);
        assert_int_equal(program->lives[1].complete, 9);
        assert_int_equal(program->lives[2].issue, 8);
        assert_int_equal(program->lives[2].complete, 10);
        program_fixture_free(program);
    }
}

/* Data at mem1: a store's address takes mem0, its data mem1, both in 5. The load behind it finds no
 * unit until 6. */
static void data_take_units_of_loads(void **state) {
    (void)state;
    const struct machine machine = with_data_units(1, 2);
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), 0x1000, 8);
    execute_at(program, load(program, 2, 0), 0x2000, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[0].complete, 6);
    assert_int_equal(program->lives[1].issue, 6);
    program_fixture_free(program);
}

/* Each half has an entry of its queue until it issues. A multiplication, two stores of its result
 * and an addition come together in 4. The first two take three entries. In 5 the multiplication
 * and the address have issued and one entry is taken, by the data, until 8. The second store waits
 * until then even if there are four, since one is not enough, and takes two. With four entries the
 * addition has the last, in 5; with three it waits until that store's address issues, in 6. The
 * data go in 8 and 9. */
static void each_half_has_an_entry(void **state) {
    (void)state;
    for (uint32_t entries = 3; entries <= 4; entries++) {
        struct machine machine = with_data_units(3, 1);
        machine.queues[0].entries = entries;
        struct program_fixture *program = program_fixture_new();
        execute(program, operation(program, OP_INT_MUL, 1, 0));
        execute_at(program, store(program, 1, 0), 0x1000, 8);
        execute_at(program, store(program, 1, 0), 0x2000, 8);
        execute(program, alu(program, 2, 0, 0));
        simulate(program, &machine, 0);
        const struct life *lives = program->lives;
        assert_int_equal(lives[1].dispatch, 4);
        assert_int_equal(lives[2].dispatch, 5);
        assert_int_equal(lives[2].issue, 6);
        assert_int_equal(lives[3].dispatch, entries == 3 ? 6 : 5);
        assert_int_equal(lives[1].complete, 9);
        assert_int_equal(lives[2].complete, 10);
        program_fixture_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_taken_by_one_is_not_free_for_the_other),
        cmocka_unit_test(a_unit_that_is_not_pipelined_is_held),
        cmocka_unit_test(unlimited_units_are_not_shared),
        cmocka_unit_test(a_bound_uop_waits_for_its_own_unit),
        cmocka_unit_test(each_cycle_gives_units_anew),
        cmocka_unit_test(units_given_first),
        cmocka_unit_test(a_full_scheduler_holds_dispatch),
        cmocka_unit_test(data_take_units),
        cmocka_unit_test(forwarding_needs_both_halves),
        cmocka_unit_test(data_take_units_of_loads),
        cmocka_unit_test(each_half_has_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
