/* Pools that share units, and units for the data of stores, worked by hand on the little machine
 * (core_fixture.h): a µop dispatched in 4 issues in 5 at the earliest. */
#include "core_fixture.h"

/* Two ALUs; multiplications take 3 cycles at alu1, which is pipelined; divisions hold it for 10. */
static struct machine sharing_machine(void) {
    struct machine machine = little_machine();
    machine.pools[0].units = 2;
    machine.pools[machine.pool_count] = (struct machine_pool){
        .name = "mul", .queue = 0, .units = 1, .shares = "alu1", .shared = {{2}}};
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
 * in 8. So many dispatch in a cycle. Where each ALU has a scheduler of its own, additions are given
 * alu0 and alu1 by turns. */
static void dispatches_on(struct machine *machine, const char *what, uint32_t entries,
                          const uint32_t *cycles) {
    struct program_fixture *program = program_fixture_new();
    machine->queues[0].unit_entries = entries;
    for (uint8_t i = 0; what[i]; i++)
        execute(program, operation(program, what[i] == 'M' ? OP_INT_MUL : OP_INT_ALU,
                                   (uint8_t)(1 + i), what[i] == 'D'));
    simulate(program, machine, 0);
    for (uint32_t i = 0; what[i]; i++)
        if (program->lives[i].issue != cycles[i])
            fail_msg("%s: µop %u issues in %lu, not %u", what, i, program->lives[i].issue,
                     cycles[i]);
    program_fixture_free(program);
}

static void dispatches(const char *what, uint32_t width, uint32_t entries, const uint32_t *cycles) {
    struct machine machine = sharing_machine();
    machine.core.dispatch_width = width;
    dispatches_on(&machine, what, entries, cycles);
}

/* M alu1, D and the first I alu0, D alu1; then I alu0, D alu1, I alu0, I alu1. So the third I waits
 * until 7 for alu0, behind the second in 6, though alu1 is free in 6 until the last one comes. Else
 * it has alu1 in 6, and the last waits. */
static void a_bound_uop_waits_for_its_own_unit(void **state) {
    (void)state;
    dispatches("MDIDIDII", 4, 0, (const uint32_t[]){5, 8, 5, 8, 6, 9, 6, 7});
    dispatches("MDIDIDII", 4, 24, (const uint32_t[]){5, 8, 5, 8, 6, 9, 7, 6});
}

/* M alu1 and D alu0 have had their turn, so the second D begins new turns, with alu0 again. In the
 * next cycle, of three, D has the turn of alu1; were it a new one it had alu0, behind two others,
 * in
 * 10. Where multiplications alone end turns of alu1, those behind still have alu0 in 5. */
static void turns_go_on_in_the_next_cycle(void **state) {
    (void)state;
    dispatches("MDDDII", 3, 24, (const uint32_t[]){5, 8, 9, 8, 6, 6});
    dispatches("MMMIIIII", 4, 24, (const uint32_t[]){5, 6, 7, 5, 6, 8, 7, 9});
}

/* Behind a system call, for which all wait, schedulers are empty, and turns begin anew: the
 * addition has alu0, also where another one had that before, and the multiplication issues beside
 * it. */
static void turns_begin_anew_when_all_are_empty(void **state) {
    (void)state;
    for (uint32_t others = 0; others < 2; others++) {
        struct machine machine = sharing_machine();
        struct program_fixture *program = program_fixture_new();
        machine.queues[0].unit_entries = 24;
        for (uint32_t i = 0; i < others; i++)
            execute(program, operation(program, OP_INT_ALU, 1, 0));
        execute(program,
                with_flags(program, operation(program, OP_SYSTEM, 2, 0), INSN_SERIALISING));
        execute(program, operation(program, OP_INT_ALU, 3, 0));
        execute(program, operation(program, OP_INT_MUL, 4, 0));
        simulate(program, &machine, 0);
        const struct life *last = &program->lives[program->life_count - 1];
        assert_int_equal(last[0].issue, last[-1].issue);
        program_fixture_free(program);
    }
}

/* A product comes three cycles after its multiplication issues, a sum one. M alu1, I alu0, I alu0,
 * I alu1; then alu0, alu1 by turns. With one result a cycle at alu1 the addition that would issue
 * there in 7, whose sum came in 8 with the product, waits; so does the one behind it. */
static void a_result_waits_for_an_earlier_one(void **state) {
    (void)state;
    struct machine machine = sharing_machine();
    dispatches_on(&machine, "MIIIIIII", 24, (const uint32_t[]){5, 5, 6, 6, 7, 7, 8, 8});
    machine.result_bus.units[0] = 2;
    dispatches_on(&machine, "MIIIIIII", 24, (const uint32_t[]){5, 5, 6, 6, 7, 8, 8, 9});
}

/* A division holds alu1 from 5 to 14, also where that returns one result a cycle: the additions
 * that have their turn there, the second and the fourth, issue in 15 and 16. */
static void a_unit_that_is_not_pipelined_is_held_by_its_own_uop(void **state) {
    (void)state;
    for (uint16_t bus = 0; bus <= 2; bus = (uint16_t)(bus + 2)) {
        static const uint64_t ISSUES[] = {5, 5, 15, 6, 16};
        struct machine machine = sharing_machine();
        struct program_fixture *program = program_fixture_new();
        machine.queues[0].unit_entries = 24;
        machine.result_bus.units[0] = bus;
        execute(program, operation(program, OP_INT_DIV, 1, 0));
        for (uint8_t i = 2; i <= 5; i++)
            execute(program, operation(program, OP_INT_ALU, i, 0));
        simulate(program, &machine, 0);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(program->lives[i].issue, ISSUES[i]);
        program_fixture_free(program);
    }
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
 * given alu0 again, and I alu1. With two entries, of which alu0 has none left, the fourth D goes to
 * alu1, behind the third. The turn of alu0 is I's then: its entry is free in 8, so I dispatches in
 * 8 and, as the second D issues there in 9, issues in 10. */
static void a_crowded_scheduler_is_passed_over_and_a_full_one_awaited(void **state) {
    (void)state;
    dispatches("MDDDDI", 4, 24, (const uint32_t[]){5, 8, 9, 8, 10, 6});
    dispatches("MDDDDI", 4, 2, (const uint32_t[]){5, 8, 9, 8, 9, 10});
}

/* ---- schedulers of several units ---- */

/* Units of branches beside these ALUs, of which some are taken together with them. */
static struct machine branching_machine(uint32_t units, uint16_t beside, uint16_t joint) {
    struct machine machine = sharing_machine();
    struct machine_pool *pool = &machine.pools[machine.pool_count];
    machine.core.dispatch_width = 4;
    machine.queues[0].unit_entries = 24;
    machine.queues[0].issue = 4;
    machine.classes[OP_BRANCH].pool = machine.pool_count++;
    *pool = (struct machine_pool){.name = "branch",
                                  .units = units,
                                  .beside = "alu",
                                  .neighbours = {{beside}},
                                  .together = {{joint}}};
    return machine;
}

/* Multiplications and branches by turns; the unit of branches lies beside alu1. Where what only
 * alu1 can execute takes that, too, the first branch waits for 6, the second multiplication, behind
 * it, for 7. */
static void a_uop_may_take_the_unit_beside_its_own(void **state) {
    (void)state;
    for (uint16_t joint = 0; joint < 2; joint++) {
        static const uint64_t ISSUES[2][4] = {{5, 5, 6, 6}, {5, 6, 7, 8}};
        struct machine machine = branching_machine(1, 2, joint ? 2 : 0);
        struct program_fixture *program = program_fixture_new();
        for (uint8_t i = 0; i < 4; i++)
            execute(program, i % 2 ? branch(program, BRANCH_CONDITIONAL, 0)
                                   : operation(program, OP_INT_MUL, 1 + i, 0));
        simulate(program, &machine, 0);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(program->lives[i].issue, ISSUES[joint][i]);
        program_fixture_free(program);
    }
}

/* Two additions and two branches in a cycle, by turns to alu0 and alu1, each with a unit of
 * branches beside it. A branch waits for 6 where the addition beside it takes its unit: in none of
 * them, at alu1, at both. */
static void units_beside_are_taken_where_they_are_joint(void **state) {
    (void)state;
    static const uint16_t JOINT[] = {0, 2, 3};
    static const uint64_t ISSUES[][4] = {{5, 5, 5, 5}, {5, 5, 5, 6}, {5, 5, 6, 6}};
    for (uint32_t row = 0; row < sizeof JOINT / sizeof *JOINT; row++) {
        struct machine machine = branching_machine(2, 3, JOINT[row]);
        struct program_fixture *program = program_fixture_new();
        for (uint8_t i = 0; i < 4; i++)
            execute(program, i >= 2 ? branch(program, BRANCH_CONDITIONAL, 0)
                                    : operation(program, OP_INT_ALU, 1 + i, 0));
        simulate(program, &machine, 0);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(program->lives[i].issue, ISSUES[row][i]);
        program_fixture_free(program);
    }
}

enum { FAR_LINE = 0x100000 };

/* Two ALUs; the unit of loads lies beside alu0. A scheduler has one entry. */
static struct machine neighbouring_machine(void) {
    struct machine machine = sharing_machine();
    const uint32_t loads = machine.classes[OP_LOAD].pool;
    machine.core.fuse_loads = true;
    machine.queues[0].unit_entries = 1;
    machine.pools[loads].units = 1;
    strcpy(machine.pools[loads].beside, "alu0");
    machine.pools[loads].neighbours.units[0] = 1;
    return machine;
}

/* A load that misses, with its operation; an addition; a load. */
static struct program_fixture *run_neighbours(const struct machine *machine,
                                              enum operation operand) {
    struct program_fixture *program = program_fixture_new();
    const uint32_t insn = load(program, 9, 0);
    add_uop(program, operand, 2, 9, 0);
    execute_at(program, insn, FAR_LINE, 8);
    execute(program, operation(program, OP_INT_ALU, 3, 0));
    execute_at(program, load(program, 4, 0), FAR_LINE, 8);
    simulate(program, machine, 0);
    return program;
}

/* The operation waits for the value, in 8 + latency, in the entry that its load had, at alu0. The
 * addition has alu1; the second load finds alu0's scheduler full until then. With schedulers of its
 * own the unit of loads has an entry in 5. */
static void a_load_and_its_operation_have_one_entry(void **state) {
    (void)state;
    struct machine machine = neighbouring_machine();
    for (int32_t latency = 700; latency > 0; latency -= 300) {
        machine.dram.latency = (uint32_t)latency;
        struct program_fixture *program = run_neighbours(&machine, OP_INT_ALU);
        assert_int_equal(program->lives[0].issue, 5);
        assert_int_equal(program->lives[1].issue, 8 + latency);
        assert_int_equal(program->lives[2].issue, 5);
        assert_int_equal(program->lives[3].dispatch, 8 + latency);
        program_fixture_free(program);
    }
    machine.pools[machine.classes[OP_LOAD].pool].beside[0] = 0;
    machine.pools[machine.classes[OP_LOAD].pool].neighbours.units[0] = 0;
    struct program_fixture *program = run_neighbours(&machine, OP_INT_ALU);
    assert_int_equal(program->lives[1].issue, 108);
    assert_int_equal(program->lives[3].dispatch, 5);
    program_fixture_free(program);
}

/* One ALU, whose scheduler has two entries. The first two additions wait for a load, until 8 + 700,
 * longer than is known by cycle; the third for its entry, and issues behind the second. A load with
 * its operation that waits for the address so long leaves the entry only with the operation, 3
 * cycles later: the addition behind it, which finds it full, dispatches then. */
static void entries_are_held_for_long(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.queues[0].unit_entries = 2;
    machine.dram.latency = 700;
    machine.pools[0].units = 1;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR_LINE, 8);
    for (uint8_t i = 0; i < 3; i++)
        execute(program, operation(program, OP_INT_ALU, 2, 1));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].issue, 708);
    assert_int_equal(program->lives[2].issue, 709);
    assert_int_equal(program->lives[3].dispatch, 708);
    assert_int_equal(program->lives[3].issue, 710);
    program_fixture_free(program);

    machine = neighbouring_machine();
    machine.dram.latency = 700;
    machine.pools[0].units = 1;
    machine.pool_count--; /* that of multiplications, which has alu1 */
    machine.classes[OP_INT_MUL].pool = machine.classes[OP_INT_DIV].pool = 0;
    program = program_fixture_new();
    execute_at(program, load(program, 1, 0), FAR_LINE, 8);
    const uint32_t insn = load(program, 9, 1);
    add_uop(program, OP_INT_ALU, 2, 9, 0);
    execute_at(program, insn, FAR_LINE, 8);
    execute(program, operation(program, OP_INT_ALU, 3, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].issue, 708);
    assert_int_equal(program->lives[2].issue, 711);
    assert_int_equal(program->lives[3].dispatch, 711);
    program_fixture_free(program);
}

/* A compare with memory that fuses with its branch leaves the load alone: that chooses among the
 * units of loads, and its entry is free in 5. The branch, which waits until 108, has alu0, whose
 * turn it is, and dispatches in 5 when that entry is free; the addition alu1. */
static void a_load_whose_compare_fuses_is_alone(void **state) {
    (void)state;
    struct machine machine = neighbouring_machine();
    struct program_fixture *program = program_fixture_new();
    machine.core.fuse_compare_branch = true;
    const uint32_t compare = load(program, 9, 0);
    add_uop(program, OP_INT_ALU, 2, 9, 0);
    execute_at(program, with_flags(program, compare, INSN_SETS_FLAGS_FOR_FUSION), FAR_LINE, 8);
    execute(program,
            with_flags(program, branch(program, BRANCH_CONDITIONAL, 2), INSN_FUSES_WITH_FLAGS));
    execute(program, operation(program, OP_INT_ALU, 3, 0));
    simulate(program, &machine, 0);
    assert_int_equal(program->life_count, 3);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[1].dispatch, 5);
    assert_int_equal(program->lives[1].issue, 108);
    assert_int_equal(program->lives[2].issue, 6);
    program_fixture_free(program);
}

/* A multiplication goes to alu1, which is not beside the load: its entry is its own. So the load's
 * is free in 5, and the addition, which has alu0, takes it: it dispatches in 5, the second load,
 * behind it there, in 6. */
static void an_operation_of_other_units_has_its_own_entry(void **state) {
    (void)state;
    const struct machine machine = neighbouring_machine();
    struct program_fixture *program = run_neighbours(&machine, OP_INT_MUL);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[1].issue, 108);
    assert_int_equal(program->lives[2].dispatch, 5);
    assert_int_equal(program->lives[2].issue, 6);
    assert_int_equal(program->lives[3].dispatch, 6);
    program_fixture_free(program);
}

/* ---- the data of stores ---- */

/* Data go to `ports`, units of pool `pool`. */
static struct machine with_data_units(uint32_t pool, uint16_t ports) {
    struct machine machine = little_machine();
    if (pool == machine.pool_count)
        machine.pools[machine.pool_count++] = (struct machine_pool){.name = "data", .units = 1};
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
        cmocka_unit_test(turns_go_on_in_the_next_cycle),
        cmocka_unit_test(turns_begin_anew_when_all_are_empty),
        cmocka_unit_test(a_result_waits_for_an_earlier_one),
        cmocka_unit_test(a_unit_that_is_not_pipelined_is_held_by_its_own_uop),
        cmocka_unit_test(units_given_first),
        cmocka_unit_test(a_crowded_scheduler_is_passed_over_and_a_full_one_awaited),
        cmocka_unit_test(a_uop_may_take_the_unit_beside_its_own),
        cmocka_unit_test(units_beside_are_taken_where_they_are_joint),
        cmocka_unit_test(a_load_and_its_operation_have_one_entry),
        cmocka_unit_test(entries_are_held_for_long),
        cmocka_unit_test(a_load_whose_compare_fuses_is_alone),
        cmocka_unit_test(an_operation_of_other_units_has_its_own_entry),
        cmocka_unit_test(data_take_units),
        cmocka_unit_test(forwarding_needs_both_halves),
        cmocka_unit_test(data_take_units_of_loads),
        cmocka_unit_test(each_half_has_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
