/* What a machine's table of instruction forms changes of the pipeline's timing, worked by hand on
 * the little machine (core_fixture.h): a µop dispatched in 4 issues in 5 at the earliest. Its
 * class of multiplications takes 3 cycles at the one unit of `long`, its loads 1 cycle to the
 * address and 2 in the L1. */
#include "graph_times.h"

static struct machine machine; /* too large for a test's frame */
static struct program_fixture *program;

/* The bytes of instructions of x86-64, by the forms of the tables below. */
static const uint8_t IMUL[] = {0x48, 0x0f, 0xaf, 0xc3}; /* imul r64, r64 */
static const uint8_t IMUL_32[] = {0x0f, 0xaf, 0xc3};    /* imul r32, r32 */
static const uint8_t ADD[] = {0x48, 0x01, 0xd8};        /* add r64, r64 */
static const uint8_t ADD_LOAD[] = {0x48, 0x03, 0x03};   /* add r64, m64 */
static const uint8_t ADD_STORE[] = {0x48, 0x01, 0x03};  /* add m64, r64 */
static const uint8_t LOCK_ADD[] = {0xf0, 0x48, 0x01, 0x03};
static const uint8_t MOVUPS_LOAD[] = {0x0f, 0x10, 0x03}; /* movups xmm, m128 */
static const uint8_t DIV[] = {0x48, 0xf7, 0xf3};         /* div r64 */

static void begin(const char *table) {
    struct error error = {0};
    machine = little_machine();
    if (!machine_forms_read(&machine, "table", table, strlen(table), &error))
        fail_msg("%s", error.message);
    program = program_fixture_new();
    program->code.isa = ISA_X86_64;
}

static void end(void) {
    program_fixture_free(program);
}

/* Gives the instruction the form of these bytes. */
#define OF_FORM(insn, form_bytes) of_form(insn, form_bytes, sizeof(form_bytes))
static uint32_t of_form(uint32_t number, const uint8_t *bytes, size_t size) {
    struct static_insn *insn = &program->insns[number];
    insn->form = insn_form_of(ISA_X86_64, bytes, size);
    insn->length = (uint8_t)size;
    insn->operation = program->uops[insn->first_uop + insn->uop_count - 1u].operation;
    return number;
}

/* Two chains of three multiplications. The one whose form has a line takes 5 cycles each, 5 10 15,
 * complete in 20; the other the class's 3. They share the one unit, pipelined: the second chain
 * issues in 6, 9 and 12. */
static void a_form_has_its_own_latency(void **state) {
    (void)state;
    begin("imul r64, r64 5 - -");
    const uint32_t wide = OF_FORM(operation(program, OP_INT_MUL, 1, 1), IMUL);
    const uint32_t narrow = OF_FORM(operation(program, OP_INT_MUL, 2, 2), IMUL_32);
    for (int i = 0; i < 3; i++) {
        execute(program, wide);
        execute(program, narrow);
    }
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(program->lives[2 * i].issue, 5 + 5 * i);
        assert_int_equal(program->lives[2 * i].complete, 10 + 5 * i);
        assert_int_equal(program->lives[2 * i + 1].issue, 6 + 3 * i);
        assert_int_equal(program->lives[2 * i + 1].complete, 9 + 3 * i);
    }
    end();
}

/* A chain of five-cycle multiplications and one of additions of two: under lgalu they take no time,
 * and the multiplications issue as the one unit allows. shalu is of integer operations of a cycle:
 * it leaves both. */
static void idealised_forms_take_no_time(void **state) {
    (void)state;
    begin("imul r64, r64 5 - -\nadd r64, r64 2 - -");
    const uint32_t multiply = OF_FORM(operation(program, OP_INT_MUL, 1, 1), IMUL);
    const uint32_t add = OF_FORM(alu(program, 2, 2, 0), ADD);
    for (int i = 0; i < 3; i++)
        execute(program, multiply);
    for (int i = 0; i < 3; i++)
        execute(program, add);
    simulate(program, &machine, IDEAL_LGALU);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(program->lives[i].issue, 5 + i);
        assert_int_equal(program->lives[i].complete, 5 + i);
    }
    /* Dispatched in 4, 5 and 5. */
    assert_int_equal(program->lives[3].complete, 5);
    assert_int_equal(program->lives[5].complete, 6);
    simulate(program, &machine, IDEAL_SHALU);
    assert_int_equal(program->lives[2].complete, 5 + 3 * 5);
    assert_int_equal(program->lives[5].complete, 5 + 3 * 2);
    end();
}

/* "1,a6": six cycles from the address to the sum. The addition takes one; address and L1 take 3, so
 * the load has two more: issued in 5 complete in 10, the addition issues in 10, complete in 11. A
 * plain load that says a5 takes 5. The line of the second is fetched by the first, long before it.
 */
static void an_address_latency_is_the_load_s(void **state) {
    (void)state;
    begin("add r64, m64 1,a6 - -\nmovups xmm, m128 a5 - -");
    const uint32_t plain = load(program, 3, 0);
    const uint32_t sum = add_insn(program);
    add_uop(program, OP_LOAD, REG_TEMPORARY, 4, 0)->memory = 0;
    add_uop(program, OP_INT_ALU, 1, 1, REG_TEMPORARY);
    OF_FORM(sum, ADD_LOAD);
    const uint32_t vector = OF_FORM(load(program, REG_VECTOR, 5), MOVUPS_LOAD);
    execute_at(program, plain, 0x1000, 8); /* a miss: 5 + 3 + 100 */
    for (int i = 0; i < 3; i++)
        execute(program, with_flags(program, alu(program, 6, 0, 0), INSN_SERIALISING));
    execute_at(program, sum, 0x1000, 8);
    execute_at(program, vector, 0x1000, 8);
    simulate(program, &machine, 0);
    const struct life *lives = program->lives + 4;
    assert_int_equal(lives[0].complete - lives[0].issue, 5);
    assert_int_equal(lives[1].issue, lives[0].complete);
    assert_int_equal(lives[1].complete - lives[1].issue, 1);
    assert_int_equal(lives[2].complete - lives[2].issue, 5);
    end();
}

/* A load of the form a5 from a store, both issued in 5: the address of the store is there in 6, and
 * so are its data; the load, which takes 1 + 1 from there and two cycles more, has the value in 9.
 */
static void forwarding_takes_as_much_longer(void **state) {
    (void)state;
    begin("movups xmm, m128 a5 - -");
    const uint32_t write = store(program, 2, 0);
    const uint32_t read = OF_FORM(load(program, REG_VECTOR, 0), MOVUPS_LOAD);
    execute_at(program, write, 0x1000, 16);
    execute_at(program, read, 0x1000, 16);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].complete, 6);
    assert_int_equal(program->lives[1].issue, 5);
    assert_int_equal(program->lives[1].complete, 6 + 1 + 2);
    end();
}

/* The latency of a form whose result is stored is its class's: what is measured of it goes through
 * memory. */
static void a_stored_result_has_the_class_s_latency(void **state) {
    (void)state;
    begin("add m64, r64 8 - -");
    const uint32_t sum = add_insn(program);
    add_uop(program, OP_LOAD, REG_TEMPORARY, 0, 0)->memory = 0;
    add_uop(program, OP_INT_ALU, REG_TEMPORARY + 1, REG_TEMPORARY, 1);
    struct uop *write = add_uop(program, OP_STORE, 0, 0, 0);
    write->memory = 0, write->data = REG_TEMPORARY + 1;
    OF_FORM(sum, ADD_STORE);
    program->insns[sum].operation = OP_INT_ALU;
    execute(program, sum);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].complete - program->lives[1].issue, 1);
    end();
}

/* A throughput of 4 at the one unit of `long`: it is taken for four cycles. Of the same form by a
 * table that says 1, which the pipelined unit allows, each takes it for one, though the class says
 * 10. At the four units of `alu`, a throughput of 1 takes each for four cycles; 0.25 for one, and
 * so does 0.3, which is measured so. */
static void throughput_is_how_long_a_unit_is_taken(void **state) {
    (void)state;
    static const struct {
        const char *table;
        uint32_t issue[5];
    } DIVISIONS[] = {{"div r64 10 4 -", {5, 9, 13, 17, 21}},
                     {"div r64 10 1 -", {5, 6, 7, 8, 9}},
                     {"div r64 10 - -", {5, 15, 25, 35, 45}}},
      SUMS[] = {{"add r64, r64 1 1 -", {5, 5, 5, 5, 9}},
                {"add r64, r64 1 0.25 -", {5, 5, 5, 5, 6}},
                {"add r64, r64 1 0.3 -", {5, 5, 5, 5, 6}}};
    for (int table = 0; table < 6; table++) {
        begin(table < 3 ? DIVISIONS[table].table : SUMS[table - 3].table);
        const uint32_t *issue = table < 3 ? DIVISIONS[table].issue : SUMS[table - 3].issue;
        for (uint8_t i = 0; i < 5; i++)
            execute(program, table < 3 ? OF_FORM(operation(program, OP_INT_DIV, 1 + i, 0), DIV)
                                       : OF_FORM(alu(program, 1 + i, 0, 0), ADD));
        simulate(program, &machine, 0);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(program->lives[i].issue, issue[i]);
        end();
    }
}

/* Atomic additions, of which the table says that one takes 8 cycles, come one after the other as
 * they are executed at the head. The first one's load, a miss, completes in 108, the sum issues
 * then, its store completes in 109, commits in 110 and is done in 111, so that the next load issues
 * in 112 and each later one 7 after the one before. The one ALU is not taken for 8 by the sum of
 * 115: the addition behind each is dispatched in 110 and 117, and issues a cycle later. */
static void what_is_executed_at_the_head_takes_no_unit(void **state) {
    (void)state;
    begin("lock add m64, r64 - 8 -\nadd r64, r64 1 - alu0");
    machine.pools[0].units = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t sum = with_flags(program, add_insn(program),
                                        INSN_ATOMIC | INSN_FENCE_LOAD | INSN_FENCE_STORE);
        add_uop(program, OP_LOAD, REG_TEMPORARY, 0, 0)->memory = 0;
        add_uop(program, OP_INT_ALU, REG_TEMPORARY + 1, REG_TEMPORARY, 1);
        struct uop *write = add_uop(program, OP_STORE, 0, 0, 0);
        write->memory = 0, write->data = REG_TEMPORARY + 1;
        OF_FORM(sum, LOCK_ADD);
        program->insns[sum].operation = OP_INT_ALU;
        execute_at(program, sum, 0x1000, 8);
        execute(program, OF_FORM(alu(program, 5, 0, 0), ADD));
    }
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const struct life *lives = program->lives + 4 * (size_t)i;
        assert_int_equal(lives[1].issue, 108 + 7 * i);
        assert_int_equal(lives[2].commit, 110 + 7 * i);
        assert_int_equal(lives[0].issue, i ? 105 + 7 * i : 5);
        assert_int_equal(lives[3].issue, i ? 104 + 7 * i : 5);
    }
    end();
}

/* At one ALU: a multiplication that the table sends there takes it from an addition, which issues
 * in
 * 6. The other multiplication has a unit of its own. */
static void a_form_has_its_own_ports(void **state) {
    (void)state;
    begin("imul r64, r64 - - alu0");
    machine.pools[0].units = 1;
    execute(program, OF_FORM(operation(program, OP_INT_MUL, 1, 0), IMUL));
    execute(program, alu(program, 2, 0, 0));
    execute(program, OF_FORM(operation(program, OP_INT_MUL, 3, 0), IMUL_32));
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[0].issue, 5);
    assert_int_equal(program->lives[0].complete, 8);
    assert_int_equal(program->lives[1].issue, 6);
    assert_int_equal(program->lives[2].issue, 5);
    end();
}

/* ---- the dependence graph ---- */

/* The graph has the times of the run: of a chain through a multiplication, a load of a form that
 * hits, and one that is forwarded. */
static void the_graph_has_the_latency_of_the_form(void **state) {
    (void)state;
    begin("imul r64, r64 5 - -\nmovups xmm, m128 a5 - -\nadd r64, r64 2 2 -");
    const uint32_t multiply = OF_FORM(operation(program, OP_INT_MUL, 1, 1), IMUL);
    const uint32_t write = store(program, 1, 0);
    const uint32_t read = OF_FORM(load(program, REG_VECTOR, 0), MOVUPS_LOAD);
    const uint32_t use = operation(program, OP_FP_ADD, REG_VECTOR + 1, REG_VECTOR);
    for (int i = 0; i < 20; i++) {
        execute(program, multiply);
        execute_at(program, write, 0x1000, 16);
        execute_at(program, read, i % 2 ? 0x1000 : 0x1010, 16);
        execute(program, use);
        execute(program, OF_FORM(alu(program, 7, 6, 0), ADD));
    }
    expect_graph_times(program, &machine);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_has_its_own_latency),
        cmocka_unit_test(idealised_forms_take_no_time),
        cmocka_unit_test(an_address_latency_is_the_load_s),
        cmocka_unit_test(forwarding_takes_as_much_longer),
        cmocka_unit_test(a_stored_result_has_the_class_s_latency),
        cmocka_unit_test(throughput_is_how_long_a_unit_is_taken),
        cmocka_unit_test(what_is_executed_at_the_head_takes_no_unit),
        cmocka_unit_test(a_form_has_its_own_ports),
        cmocka_unit_test(the_graph_has_the_latency_of_the_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
