/* Fetch of code that the op cache has, and of what it has not, worked by hand on the little machine
 * (core_fixture.h), which decodes 2 instructions a cycle; they come 3 cycles later where fetch
 * begins anew, 1 where it goes on behind the op cache. Entries of 8 instructions, one set. */
#include "../core_fixture.h"

static struct machine decoding_machine(uint32_t entries) {
    struct machine machine = little_machine();
    machine.core.decode_width = 2;
    machine.core.decode_restart = 3;
    machine.core.decode_switch = 1;
    machine.branch.op_cache_entries = machine.branch.op_cache_ways = entries;
    machine.branch.op_cache_insns = 8;
    return machine;
}

/* A block of additions and a jump, in a line of its own: its number is that of the first. */
static uint32_t add_block(struct program_fixture *program, uint64_t address, uint32_t additions) {
    const uint32_t first = program->code.insn_count;
    program->address = address;
    for (uint32_t i = 0; i < additions; i++)
        alu(program, 1, 0, 0);
    branch(program, BRANCH_JUMP, 0);
    return first;
}

static void execute_block(struct program_fixture *program, uint32_t first, uint32_t additions) {
    for (uint32_t i = 0; i < additions; i++)
        execute(program, first + i);
    execute_taken(program, first + additions);
}

static void expect_fetched(const struct program_fixture *program, const uint64_t *cycles) {
    for (uint32_t i = 0; i < program->life_count; i++)
        assert_int_equal(program->lives[i].fetch, cycles[i]);
}

/* Three additions and a jump to them, three times: the first time 3 cycles late and 2 a cycle, then
 * 4 a cycle. Where instruction cache misses cost nothing, decoding begins at once; with unlimited
 * bandwidth it is only late. */
static void code_is_decoded_once(void **state) {
    (void)state;
    const struct machine machine = decoding_machine(4);
    struct program_fixture *program = program_fixture_new();
    const uint32_t block = add_block(program, 0x10000, 3);
    for (int time = 0; time < 3; time++)
        execute_block(program, block, 3);
    simulate(program, &machine, 0);
    expect_fetched(program, (const uint64_t[]){4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7});
    assert_int_equal(program->statistics.branch.op_cache_lookups, 3);
    assert_int_equal(program->statistics.branch.op_cache_misses, 1);
    simulate(program, &machine, IDEAL_IMISS);
    expect_fetched(program, (const uint64_t[]){1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4});
    simulate(program, &machine, IDEAL_BW);
    expect_fetched(program, (const uint64_t[]){4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
    program_fixture_free(program);
}

/* A, again from the op cache, B, which is decoded a cycle late, and A again, in the next cycle. */
static void fetch_goes_over_to_the_decoders(void **state) {
    (void)state;
    const struct machine machine = decoding_machine(4);
    struct program_fixture *program = program_fixture_new();
    const uint32_t a = add_block(program, 0x10000, 3), b = add_block(program, 0x10100, 3);
    execute_block(program, a, 3);
    execute_block(program, a, 3);
    execute_block(program, b, 3);
    execute_block(program, a, 3);
    simulate(program, &machine, 0);
    expect_fetched(program, (const uint64_t[]){4, 4, 5, 5, 6, 6, 6, 6, 8, 8, 9, 9, 10, 10, 10, 10});
    assert_int_equal(program->lives[8].fetch_delay_cache, 1);
    program_fixture_free(program);
}

/* One entry, which two blocks of three take from each other: all is decoded, 2 a cycle in the mean.
 * What a jump leaves of a cycle the next one has: 2, 1, 3, 2, 1, 3. */
static void decoding_goes_on_behind_a_jump(void **state) {
    (void)state;
    const struct machine machine = decoding_machine(1);
    struct program_fixture *program = program_fixture_new();
    const uint32_t a = add_block(program, 0x10000, 2), b = add_block(program, 0x10100, 2);
    for (int time = 0; time < 2; time++) {
        execute_block(program, a, 2);
        execute_block(program, b, 2);
    }
    simulate(program, &machine, 0);
    expect_fetched(program, (const uint64_t[]){4, 4, 5, 6, 6, 6, 7, 7, 8, 9, 9, 9});
    program_fixture_free(program);
}

/* 4 a cycle, but of one block of 8 bytes: two. */
static void decoders_take_one_block(void **state) {
    (void)state;
    struct machine machine = decoding_machine(4);
    struct program_fixture *program = program_fixture_new();
    const uint32_t block = add_block(program, 0x10004, 3);
    execute_block(program, block, 3);
    machine.core.decode_width = 4;
    simulate(program, &machine, 0);
    expect_fetched(program, (const uint64_t[]){4, 4, 4, 4});
    machine.core.decode_bytes = 8;
    simulate(program, &machine, 0);
    expect_fetched(program, (const uint64_t[]){4, 5, 5, 6});
    program_fixture_free(program);
}

/* More decoders than fetch takes a cycle: four of five, and one. */
static void decoding_is_no_wider_than_fetch(void **state) {
    (void)state;
    struct machine machine = decoding_machine(4);
    struct program_fixture *program = program_fixture_new();
    const uint32_t block = add_block(program, 0x10000, 4);
    machine.core.decode_width = 8;
    machine.core.decode_restart = 0;
    execute_block(program, block, 4);
    simulate(program, &machine, 0);
    expect_fetched(program, (const uint64_t[]){1, 1, 1, 1, 2});
    program_fixture_free(program);
}

/* A branch that is mispredicted, fetched in 4, has executed in 9; its target is fetched in 10, and
 * as it is decoded in 13. When it is executed again nothing is late: fetched in 14, executed in 19,
 * the target in 20. */
static void mispredictions_wait_for_decoding(void **state) {
    (void)state;
    struct machine machine = decoding_machine(4);
    struct program_fixture *program = program_fixture_new();
    machine.branch.direction = DIRECTION_BIMODAL;
    machine.branch.bimodal_entries = 2;
    const uint32_t conditional = branch(program, BRANCH_CONDITIONAL, 0);
    const uint32_t target = add_block(program, 0x10100, 0);
    execute_taken(program, conditional);
    execute_taken(program, target);
    execute_taken(program, conditional);
    execute_taken(program, target);
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.branch.conditional_wrong, 1);
    expect_fetched(program, (const uint64_t[]){4, 13, 14, 15});
    program_fixture_free(program);
}

/* An L1I of one line, which two lines of code take from each other: when the op cache has both,
 * neither is fetched from there any more. */
static void the_op_cache_spares_the_l1i(void **state) {
    (void)state;
    struct machine machine = decoding_machine(4);
    struct program_fixture *program = program_fixture_new();
    const uint32_t a = add_block(program, 0x10000, 3), b = add_block(program, 0x10100, 3);
    for (int time = 0; time < 8; time++)
        execute_block(program, time % 2 ? b : a, 3);
    machine.l1i = (struct machine_cache){
        .present = true, .size = 64, .ways = 1, .line = 64, .latency = 1, .mshrs = 1};
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.memory.l1i.misses, 2);
    machine.branch.op_cache_entries = 0;
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.memory.l1i.misses, 8);
    program_fixture_free(program);
}

/* Two entries of a line; the second is gone when fetch comes from the first to it, as is the line
 * from an L1I of one: what is decoded is fetched there, though the line has begun. */
static void decoders_need_the_line(void **state) {
    (void)state;
    struct machine machine = decoding_machine(2);
    struct program_fixture *program = program_fixture_new();
    const uint32_t conditional = branch(program, BRANCH_CONDITIONAL, 0);
    const uint32_t a = add_block(program, program->address, 9), b = add_block(program, 0x10100, 3);
    execute(program, conditional);
    execute_block(program, a, 9);
    execute_taken(program, conditional); /* the first entry alone */
    execute_block(program, b, 3);
    execute(program, conditional);
    execute_block(program, a, 9);
    machine.l1i = (struct machine_cache){
        .present = true, .size = 64, .ways = 1, .line = 64, .latency = 1, .mshrs = 1};
    simulate(program, &machine, 0);
    assert_int_equal(program->statistics.branch.op_cache_misses, 4);
    assert_int_equal(program->statistics.memory.l1i.misses, 3);
    program_fixture_free(program);
}

/* What was executed before has left its entries, with compares fused as in simulation, and is
 * not counted. */
static void warming_fills_the_op_cache(void **state) {
    (void)state;
    enum { PLAIN, FUSED, NO_ADDITION, MACHINE_DOES_NOT, CASES };
    for (int which = PLAIN; which < CASES; which++) {
        struct machine machine = decoding_machine(4);
        struct program_fixture *program = program_fixture_new();
        const uint32_t block = add_block(program, 0x10000, 9);
        machine.core.fuse_compare_branch = which != MACHINE_DOES_NOT;
        if (which == NO_ADDITION)
            program->uops[block + 3].operation = OP_INT_MUL;
        if (which != PLAIN) { /* ten instructions, of which two may be one: of eight and one */
            with_flags(program, block + 3, INSN_SETS_FLAGS_FOR_FUSION);
            program->uops[block + 4] = program->uops[block + 9];
            program->insns[block + 4].branch = BRANCH_CONDITIONAL;
            with_flags(program, block + 4, INSN_FUSES_WITH_FLAGS);
        }
        execute_block(program, block, 9);
        execute_block(program, block, 9);
        const struct core_options options = {.ideal = 0};
        struct core_statistics statistics;
        struct error error;
        struct core *core = core_new(&machine, &options, &error);
        const struct core_input first = {
            .code = &program->code, .insns = program->dynamic, .insn_count = 10};
        const struct core_input second = {
            .code = &program->code, .insns = program->dynamic + 10, .insn_count = 10};
        assert_true(core_warm(core, &first, &error));
        assert_true(core_push(core, &second, &error));
        assert_true(core_finish(core, &error));
        core_statistics(core, &statistics);
        assert_int_equal(statistics.branch.op_cache_lookups, 2);
        assert_int_equal(statistics.branch.op_cache_misses, 0);
        core_free(core);
        program_fixture_free(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_decoded_once),
        cmocka_unit_test(fetch_goes_over_to_the_decoders),
        cmocka_unit_test(decoding_goes_on_behind_a_jump),
        cmocka_unit_test(decoders_take_one_block),
        cmocka_unit_test(decoding_is_no_wider_than_fetch),
        cmocka_unit_test(mispredictions_wait_for_decoding),
        cmocka_unit_test(the_op_cache_spares_the_l1i),
        cmocka_unit_test(decoders_need_the_line),
        cmocka_unit_test(warming_fills_the_op_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
