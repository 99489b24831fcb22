/* Loads of what a store wrote, whole or in part, on the little machine (core_fixture.h): address
 * generation 1, L1 hit 2 more, forwarding 1 beyond address generation, memory 100 beyond the L1. */
#include "../core_fixture.h"

enum { LINE = 64, FAR = 0x100000 };

/* A load of what a store just wrote: both issue in 5 (address 6, data there): complete in 6, the
 * load gets its data one cycle beyond its own address, in 7. */
static void store_forwards(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR, 8);
    execute_at(program, load(program, 2, 0), FAR + 4, 4);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].complete, 6);
    assert_true(program->lives[1].flags & LIFE_FORWARDED);
    assert_int_equal(program->lives[1].complete, 7);
    assert_int_equal(program->lives[1].store_producer, 0);
    assert_int_equal(program->statistics.forwarded, 1);
    program_fixture_free(program);
}

/* Store data later than its address: a multiply (5 to 8) gives the data; the load forwards at 8
 * + 1.
 */
static void forwarding_waits_for_data(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute_at(program, store(program, 1, 0), FAR, 8);
    execute_at(program, load(program, 2, 0), FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].issue, 5);
    assert_int_equal(program->lives[1].complete, 8);
    assert_int_equal(program->lives[2].complete, 9);
    program_fixture_free(program);
}

/* An instruction that reads and writes its operand, of a load and a store: the load has the read
 * alone, and the store before it forwards to that as in store_forwards(). */
static void read_of_a_read_and_written_operand_is_forwarded(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR, 8);
    uint32_t both = load(program, 2, 0);
    struct uop *write = add_uop(program, OP_STORE, 0, 0, 0);
    write->memory = 0;
    write->data = 2;
    struct dynamic_insn *dynamic = execute_at(program, both, FAR, 8);
    program->accesses[program->access_count++] =
        (struct memory_access){.address = FAR, .size_bytes = 8, .is_store = true};
    dynamic->memory_count = 2;
    simulate(program, &machine, 0);
    assert_true(program->lives[1].flags & LIFE_FORWARDED);
    assert_int_equal(program->lives[1].psv, 0);
    assert_int_equal(program->lives[1].complete, 7);
    assert_int_equal(program->lives[2].complete, 7); /* its data are there when the load has them */
    program_fixture_free(program);
}

/* A store that covers half of a load: the load waits until the store is in the cache. The store
 * commits in 7, is written from 8 on (the drain follows commit in a cycle, so in 7), misses:
 * 7 + 2 + 100 = 109; then the load issues and hits: 109 + 1 + 2. */
static void partial_overlap_waits_for_the_cache(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR + 4, 4);
    uint32_t read = load(program, 2, 0);
    execute_at(program, read, FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].commit, 7);
    assert_int_equal(program->lives[1].complete, 109 + 3);
    assert_int_equal(program->lives[1].psv, PSV_ST_FW);
    assert_false(program->lives[1].flags & LIFE_FORWARDED);
    /* Stalled from 8 to 112, committed alone in 113. */
    assert_int_equal(units_of(golden_profile(program->golden), read, PSV_ST_FW), 106 * CYCLE_UNITS);
    simulate(program, &machine, IDEAL_STFWD); /* as store_forwards() */
    assert_int_equal(program->lives[1].complete, 7);
    assert_int_equal(program->lives[1].psv, 0);
    assert_true(program->lives[1].flags & LIFE_FORWARDED);
    program_fixture_free(program);
}

/* The same, which takes 13 cycles to find out. A load that comes when the store is in the cache
 * does not: it follows 120 dependent additions, from 5 to 125, where its address comes from. */
static void a_failed_forward_takes_longer(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.failed_forward = 13;
    machine.core.rob = machine.queues[0].entries = 200;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR + 4, 4);
    execute_at(program, load(program, 2, 0), FAR, 8);
    for (int i = 0; i < 120; i++)
        execute(program, operation(program, OP_INT_ALU, 1, 1));
    execute_at(program, load(program, 3, 1), FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].complete, 109 + 13 + 3);
    assert_int_equal(program->lives[1].psv, PSV_ST_FW);
    assert_int_equal(program->lives[122].complete, 125 + 3);
    assert_int_equal(program->lives[122].psv, 0);
    program_fixture_free(program);
}

/* Two stores to two lines, each of which holds half of a load: the load waits for the younger,
 * which leaves the queue last. Both commit in 7, are written from 7 and 8, and are there in 109 and
 * 110; then the load hits both lines: 110 + 3. Idealised, the younger forwards: stores issue in 5,
 * the load in 6 for want of a third port: 6 + 1 + 1. */
static void load_waits_for_all_stores_it_overlaps(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR + LINE - 4, 4);
    execute_at(program, store(program, 0, 0), FAR + LINE, 4);
    execute_at(program, load(program, 2, 0), FAR + LINE - 4, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].commit, 7);
    assert_int_equal(program->lives[2].stores_back, 1);
    assert_int_equal(program->lives[2].complete, 110 + 3);
    assert_int_equal(program->lives[2].psv, PSV_ST_FW);
    simulate(program, &machine, IDEAL_STFWD);
    assert_int_equal(program->lives[2].complete, 8);
    program_fixture_free(program);
}

/* The event is of a load that waited for nothing else: here the address comes from a division (5 to
 * 15) long after the store has been written, in 8. */
static void wait_that_costs_nothing_is_no_event(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.disambiguation = DISAMBIGUATE_PERFECT;
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR + 4, 4);
    execute(program, operation(program, OP_INT_DIV, 1, 0));
    execute_at(program, load(program, 2, 1), FAR, 8);
    simulate(program, &machine, IDEAL_DMISS);
    assert_int_equal(program->lives[2].issue, 15);
    assert_int_equal(program->lives[2].complete, 18);
    assert_int_equal(program->lives[2].psv, 0);
    program_fixture_free(program);
}

/* Idealised, a load that a store covers in part waits for its data as one that it covers does: a
 * multiply (5 to 8) gives them; 8 + 1. */
static void ideal_forwarding_waits_for_data(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute(program, operation(program, OP_INT_MUL, 1, 0));
    execute_at(program, store(program, 1, 0), FAR + 4, 4);
    execute_at(program, load(program, 2, 0), FAR, 8);
    simulate(program, &machine, IDEAL_STFWD);
    assert_int_equal(program->lives[2].complete, 9);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_forwards),
        cmocka_unit_test(forwarding_waits_for_data),
        cmocka_unit_test(read_of_a_read_and_written_operand_is_forwarded),
        cmocka_unit_test(partial_overlap_waits_for_the_cache),
        cmocka_unit_test(a_failed_forward_takes_longer),
        cmocka_unit_test(load_waits_for_all_stores_it_overlaps),
        cmocka_unit_test(wait_that_costs_nothing_is_no_event),
        cmocka_unit_test(ideal_forwarding_waits_for_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
