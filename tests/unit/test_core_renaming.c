/* Memory renaming and the stack engine, worked by hand on the little machine (core_fixture.h), here
 * of x86-64 and with two stores remembered: a µop dispatched in 4 issues in 5 at the earliest; a
 * multiplication takes 3 cycles; a load completes a cycle after its store has address and data. In
 * all of them a multiplication (5 to 8) makes what is stored, so the load completes in 9 if it
 * forwards; who uses the load issues in 8 if the load is another name for the product, and in 9 if
 * it is not. */
#include "graph_times.h"

enum {
    FAR = 0x40000000,
    PRODUCT = 1,
    VALUE = 2,
    BASE = 3,
    USE = 5,
    OTHER = 6,
    OTHER_BASE = 7,
    RSP = 4
};

static struct machine machine; /* too large for a test's frame */
static struct program_fixture *program;

static void begin(void) {
    machine = little_machine();
    machine.core.memory_renaming = 2;
    program = program_fixture_new();
    program->code.isa = ISA_X86_64;
}

/* The load's user issues in this cycle. */
static void expect_use(uint64_t cycle) {
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[program->life_count - 1].issue, cycle);
    program_fixture_free(program);
}

static uint32_t load_of(uint8_t destination, uint8_t base) {
    const uint32_t number = load(program, destination, base);
    program->insns[number].operation = OP_LOAD;
    return number;
}

static void store_product(uint8_t base) {
    execute(program, operation(program, OP_INT_MUL, PRODUCT, 0));
    execute_at(program, store(program, PRODUCT, base), FAR, 8);
}

/* A load of all of it or of its beginning. */
static void load_and_use(uint8_t base, uint64_t address, uint32_t size) {
    execute_at(program, load_of(VALUE, base), address, size);
    execute(program, alu(program, USE, VALUE, 0));
}

/* Four µops dispatch together in 4. The user depends on the multiplication, not on the load, which
 * completes in 9 as it would without. */
static void a_load_is_another_name_for_what_was_stored(void **state) {
    (void)state;
    begin();
    store_product(BASE);
    load_and_use(BASE, FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[2].complete, 9);
    assert_true(program->lives[2].flags & LIFE_FORWARDED);
    assert_int_equal(program->lives[3].producer[0], program->lives[0].uop);
    expect_use(8);
    begin();
    machine.core.memory_renaming = 0;
    store_product(BASE);
    load_and_use(BASE, FAR, 8);
    expect_use(9);
}

static void narrower_loads_at_the_same_address(void **state) {
    (void)state;
    begin();
    store_product(BASE);
    load_and_use(BASE, FAR, 4);
    expect_use(8);
    begin(); /* another displacement */
    store_product(BASE);
    load_and_use(BASE, FAR + 4, 4);
    expect_use(9);
    begin(); /* extends two bytes */
    store_product(BASE);
    load_and_use(BASE, FAR, 2);
    expect_use(9);
    begin(); /* an operand of two bytes */
    store_product(BASE);
    const uint32_t add = load_of(REG_TEMPORARY, BASE);
    add_uop(program, OP_INT_ALU, USE, REG_TEMPORARY, 0);
    execute_at(program, add, FAR, 2);
    expect_use(8);
}

/* Of loads only those of moves, and of what is stored again. The addition in memory is µop 3. */
static void operands_may_be_left_out(void **state) {
    (void)state;
    begin();
    machine.core.renaming_moves = true;
    store_product(BASE);
    load_and_use(BASE, FAR, 8);
    expect_use(8);
    begin();
    machine.core.renaming_moves = true;
    store_product(BASE);
    uint32_t add = load_of(REG_TEMPORARY, BASE);
    add_uop(program, OP_INT_ALU, USE, REG_TEMPORARY, 0);
    execute_at(program, add, FAR, 8);
    expect_use(9);
    begin();
    machine.core.renaming_moves = true;
    store_product(BASE);
    add = load_of(REG_TEMPORARY, BASE);
    add_uop(program, OP_INT_ALU, REG_TEMPORARY, REG_TEMPORARY, 0);
    struct uop *again = add_uop(program, OP_STORE, 0, BASE, 0);
    again->data = REG_TEMPORARY;
    execute_at(program, add, FAR, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[3].issue, 8);
    program_fixture_free(program);
}

/* 48 8b 03: mov rax, [rbx], and an operation right behind it. */
static void overwrite_with(const uint8_t operation_bytes[3], uint64_t issues) {
    begin();
    machine.core.renaming_overwritten = true;
    store_product(BASE);
    const uint32_t loads = load_of(VALUE, BASE);
    memcpy(program->insns[loads].bytes, (uint8_t[]){0x48, 0x8b, 0x03}, 3);
    execute_at(program, loads, FAR, 8);
    const uint32_t overwrites = alu(program, VALUE, VALUE, OTHER);
    memcpy(program->insns[overwrites].bytes, operation_bytes, 3);
    execute(program, overwrites);
    expect_use(issues);
}

/* Not where the operation behind the load overwrites what it loaded, for the two are one. */
static void what_is_overwritten_at_once_is_loaded(void **state) {
    (void)state;
    overwrite_with((uint8_t[]){0x48, 0x01, 0xc8}, 9); /* add rax, rcx */
    overwrite_with((uint8_t[]){0x48, 0x33, 0xc1}, 9); /* xor rax, rcx, the other way round */
    overwrite_with((uint8_t[]){0x48, 0xf7, 0xd8}, 9); /* neg rax */
    overwrite_with((uint8_t[]){0x48, 0xf7, 0xd0}, 8); /* not rax */
    overwrite_with((uint8_t[]){0x48, 0x01, 0xc0}, 8); /* add rax, rax */
    overwrite_with((uint8_t[]){0x01, 0xc8, 0x00}, 8); /* add eax, ecx */
    overwrite_with((uint8_t[]){0x48, 0x01, 0xc1}, 8); /* add rcx, rax */
    overwrite_with((uint8_t[]){0x49, 0x01, 0xc8}, 8); /* add r8, rcx */
    overwrite_with((uint8_t[]){0x48, 0x03, 0x01}, 8); /* add rax, [rcx], by its bytes */
    overwrite_with((uint8_t[]){0x48, 0x39, 0xc8}, 8); /* cmp rax, rcx */
    begin();                                          /* with something between */
    machine.core.renaming_overwritten = true;
    store_product(BASE);
    const uint32_t loads = load_of(VALUE, BASE);
    memcpy(program->insns[loads].bytes, (uint8_t[]){0x48, 0x8b, 0x03}, 3);
    execute_at(program, loads, FAR, 8);
    execute(program, alu(program, OTHER_BASE, 0, 0));
    const uint32_t overwrites = alu(program, VALUE, VALUE, OTHER);
    memcpy(program->insns[overwrites].bytes, (uint8_t[]){0x48, 0x01, 0xc8}, 3);
    execute(program, overwrites);
    expect_use(8);
}

static void with_index(uint32_t insn) {
    struct uop *uop = &program->uops[program->insns[insn].first_uop];
    uop->source[uop->source_count++] = OTHER;
}

/* Only by the stack pointer, as Zen 3 has it, and by nothing else beside it. */
static void only_the_stack_may_be_renamed(void **state) {
    (void)state;
    begin();
    machine.core.renaming_stack = true;
    store_product(RSP);
    load_and_use(RSP, FAR, 8);
    expect_use(8);
    begin();
    machine.core.renaming_stack = true;
    store_product(BASE);
    load_and_use(BASE, FAR, 8);
    expect_use(9);
    for (int index = 0; index < 2; index++) {
        begin();
        machine.core.renaming_stack = index;
        execute(program, operation(program, OP_INT_MUL, PRODUCT, 0));
        const uint32_t put = store(program, PRODUCT, RSP);
        with_index(put);
        execute_at(program, put, FAR, 8);
        const uint32_t get = load_of(VALUE, RSP);
        with_index(get);
        execute_at(program, get, FAR, 8);
        execute(program, alu(program, USE, VALUE, 0));
        expect_use(index ? 9 : 8);
    }
}

/* By one register or none, as Golden Cove has it, and not by an index. */
static void without_an_index(void **state) {
    (void)state;
    for (int index = 0; index < 2; index++) {
        begin();
        machine.core.renaming_base = true;
        execute(program, operation(program, OP_INT_MUL, PRODUCT, 0));
        const uint32_t put = store(program, PRODUCT, BASE), get = load_of(VALUE, BASE);
        if (index) {
            with_index(put);
            with_index(get);
        }
        execute_at(program, put, FAR, 8);
        execute_at(program, get, FAR, 8);
        execute(program, alu(program, USE, VALUE, 0));
        expect_use(index ? 9 : 8);
    }
    begin();
    machine.core.renaming_base = true;
    store_product(0);
    load_and_use(0, FAR, 8);
    expect_use(8);
}

/* Bytes that are extended by zeros may be renamed, a word may not, nor what extends a sign. */
static void bytes_may_be_renamed(void **state) {
    (void)state;
    static const uint8_t MOVSX[] = {0x48, 0x0f, 0xbe, 0x03}; /* movsx rax, byte [rbx] */
    for (uint32_t size = 1; size <= 2; size++)
        for (int bytes = 0; bytes < 2; bytes++) {
            begin();
            machine.core.renaming_bytes = bytes;
            store_product(BASE);
            load_and_use(BASE, FAR, size);
            expect_use(bytes && size == 1 ? 8 : 9);
        }
    begin();
    machine.core.renaming_bytes = true;
    store_product(BASE);
    const uint32_t get = load_of(VALUE, BASE);
    memcpy(program->insns[get].bytes, MOVSX, sizeof MOVSX);
    execute_at(program, get, FAR, 1);
    execute(program, alu(program, USE, VALUE, 0));
    expect_use(9);
}

/* What is changed in memory by a register is not renamed where only constants are: the addition
 * issues when the load has completed. */
static void what_a_register_changes_in_memory(void **state) {
    (void)state;
    for (int constants = 0; constants < 2; constants++)
        for (int by_register = 0; by_register < 2; by_register++) {
            begin();
            machine.core.renaming_constants = constants;
            store_product(BASE);
            const uint32_t add = load_of(REG_TEMPORARY, BASE);
            add_uop(program, OP_INT_ALU, REG_TEMPORARY, REG_TEMPORARY, by_register ? OTHER : 0);
            struct uop *again = add_uop(program, OP_STORE, 0, BASE, 0);
            again->data = REG_TEMPORARY;
            execute_at(program, add, FAR, 8);
            simulate(program, &machine, 0);
            assert_int_equal(program->lives[3].issue, constants && by_register ? 9 : 8);
            program_fixture_free(program);
        }
}

/* A division holds back the load until the store has left the queue. */
static void only_what_is_in_the_queue(void **state) {
    (void)state;
    for (int queue = 0; queue < 2; queue++) {
        begin();
        machine.core.renaming_queue = queue;
        machine.core.rob = 8;
        store_product(BASE);
        for (int i = 0; i < 64; i++)
            execute(program, operation(program, OP_INT_MUL, OTHER, OTHER));
        load_and_use(BASE, FAR, 8);
        simulate(program, &machine, 0);
        const uint64_t loaded = program->lives[program->life_count - 2].uop;
        const uint64_t product = program->lives[0].uop;
        assert_int_equal(program->lives[program->life_count - 1].producer[0],
                         queue ? loaded : product);
        program_fixture_free(program);
    }
}

/* Lives remember more stores than the queue has entries, which must change nothing: here two, and
 * one or three others behind the one that is read, which by another register are not remembered. */
static void a_store_that_left_the_queue_is_none(void **state) {
    (void)state;
    for (uint32_t others = 1; others <= 3; others += 2) {
        begin();
        machine.core.renaming_stack = true;
        machine.core.store_queue = 2;
        store_product(RSP);
        const uint32_t other = store(program, OTHER, BASE);
        for (uint32_t i = 1; i <= others; i++)
            execute_at(program, other, FAR + 64 * i, 8);
        load_and_use(RSP, FAR, 8);
        simulate(program, &machine, 0);
        const uint64_t loaded = program->lives[program->life_count - 2].uop;
        const uint64_t product = program->lives[0].uop;
        assert_int_equal(program->lives[program->life_count - 1].producer[0],
                         others < machine.core.store_queue ? product : loaded);
        program_fixture_free(program);
    }
}

static void names_must_be_the_same(void **state) {
    (void)state;
    begin(); /* another register that holds the same address */
    store_product(BASE);
    load_and_use(OTHER, FAR, 8);
    expect_use(9);
    begin(); /* the register is written; the load, µop 4, dispatches in 5 and issues in 6: it has
                its address in 7, before the data come */
    store_product(BASE);
    execute(program, alu(program, BASE, BASE, 0));
    load_and_use(BASE, FAR, 8);
    expect_use(9);
    begin(); /* the load writes its own base, and is used after that */
    store_product(BASE);
    execute_at(program, load_of(BASE, BASE), FAR, 8);
    execute(program, alu(program, USE, BASE, 0));
    expect_use(9);
    begin(); /* no register: an address relative to the instruction */
    store_product(0);
    load_and_use(0, FAR, 8);
    expect_use(9);
}

/* By another register the load is predicted if it read from the store as many back the last time,
 * as the second of two rounds shows: its user issues as soon as the product is there, else a cycle
 * later. With another load in between an entry for one alone is lost, two are not; nor is the
 * prediction right where a store is between that was not there before. */
static void a_forward_is_predicted_by_the_last_time(void **state) {
    (void)state;
    static const struct {
        uint32_t entries;
        bool another_load, another_store, renamed;
    } CASES[] = {{0, false, false, false}, {1, false, false, true},
                 {1, true, false, false},  {2, true, false, true},
                 {2, false, true, false},  {65, false, false, true}, /* each load has its own */
                 {65, true, false, true},  {65, false, true, false}};
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        begin();
        machine.core.predicted_forwards = CASES[i].entries;
        const uint32_t product = operation(program, OP_INT_MUL, PRODUCT, 0);
        const uint32_t put = store(program, PRODUCT, BASE), get = load_of(VALUE, OTHER_BASE);
        const uint32_t other = load_of(OTHER, OTHER_BASE), more = store(program, OTHER, BASE);
        const uint32_t use = alu(program, USE, VALUE, 0);
        for (int round = 0; round < 2; round++) {
            execute(program, product);
            execute_at(program, put, FAR, 8);
            if (CASES[i].another_store && round)
                execute_at(program, more, FAR + 64, 8);
            execute_at(program, get, FAR, 8);
            execute(program, use);
            if (CASES[i].another_load)
                execute_at(program, other, FAR, 8);
        }
        simulate(program, &machine, 0);
        uint32_t made = 0, used = 0;
        for (uint32_t k = 0; k < program->life_count; k++) {
            made = program->lives[k].insn == product ? k : made;
            used = program->lives[k].insn == use ? k : used;
        }
        assert_int_equal(program->lives[used].issue,
                         program->lives[made].complete + !CASES[i].renamed);
        program_fixture_free(program);
    }
}

/* Gives the instruction the use of the stack pointer of these bytes. */
static uint32_t with_bytes(uint32_t number, const uint8_t *bytes, size_t size) {
    struct insn insn;
    assert_true(insn_decode(ISA_X86_64, bytes, size, &insn));
    program->insns[number].length = (uint8_t)size;
    program->insns[number].stack_use = insn.stack_use & 0xf;
    return number;
}
#define WITH_BYTES(number, bytes) with_bytes(number, bytes, sizeof(bytes))

/* The stack pointer may have by a constant: add rsp, 8. Not otherwise: lea rsp, [rsp + 8]. */
static void the_stack_pointer_may_have_stepped(void **state) {
    (void)state;
    static const uint8_t ADD[] = {0x48, 0x83, 0xc4, 0x08};
    for (int steps = 0; steps < 2; steps++) {
        begin();
        store_product(RSP);
        const uint32_t add = alu(program, RSP, RSP, 0);
        if (steps)
            WITH_BYTES(add, ADD);
        execute(program, add);
        load_and_use(RSP, FAR, 8);
        expect_use(steps ? 8 : 9);
    }
}

/* Of three stores the first is no longer remembered; stores of vector registers do not count. The
 * load is the µop 4 or 5, which dispatches in 5 and issues in 6, as above. */
static void so_many_stores_are_remembered(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        begin();
        store_product(BASE);
        for (int others = kind ? 2 : 1; others; others--)
            execute_at(program, store(program, kind == 2 ? REG_VECTOR : OTHER, BASE),
                       FAR + 64u * (unsigned)others, 8);
        load_and_use(BASE, FAR, 8);
        expect_use(kind == 1 ? 9 : 8);
    }
}

/* A younger store to the same address by another register: the load reads that, and is no other
 * name. Its data are another product, made from 6 to 9; the load forwards them in 10. */
static void another_store_between(void **state) {
    (void)state;
    begin();
    store_product(BASE);
    execute(program, operation(program, OP_INT_MUL, OTHER, 0));
    execute_at(program, store(program, OTHER, OTHER_BASE), FAR, 8);
    load_and_use(BASE, FAR, 8);
    expect_use(10);
}

/* ---- the stack engine ---- */

/* push rax; add rsp, 8; add rsp, 8: the first addition has a µop before it, which issues in 5 like
 * the push, so the additions issue in 6 and 7; the first is of two µops. lea and what addresses by
 * the stack pointer need none: push rax; lea rsp, [rsp + 8] issues in 5; and after that, or without
 * a push, nor does the addition. */
static void an_operation_behind_a_push_needs_a_uop_more(void **state) {
    (void)state;
    static const uint8_t PUSH[] = {0x50}, ADD[] = {0x48, 0x83, 0xc4, 0x08};
    static const uint8_t LEA[] = {0x48, 0x8d, 0x64, 0x24, 0x08};
    for (int kind = 0; kind < 3; kind++) {
        begin();
        machine.core.stack_sync = kind != 2;
        const uint32_t push = WITH_BYTES(store(program, 0, RSP), PUSH);
        const uint32_t lea = WITH_BYTES(alu(program, RSP, RSP, 0), LEA);
        const uint32_t add = WITH_BYTES(alu(program, RSP, RSP, 0), ADD);
        execute_at(program, push, FAR, 8);
        execute(program, kind == 1 ? lea : add);
        execute(program, add);
        simulate(program, &machine, 0);
        const bool more = kind == 0;
        assert_int_equal(program->life_count, more ? 4 : 3);
        assert_int_equal(program->statistics.instructions, 3);
        assert_int_equal(program->lives[1].issue, 5);
        assert_int_equal(program->lives[2].issue, 6);
        if (more) {
            assert_int_equal(program->lives[1].insn, add);
            assert_false(program->lives[1].flags & LIFE_LAST);
            assert_true(program->lives[1].flags & LIFE_FIRST);
            assert_false(program->lives[2].flags & LIFE_FIRST);
            assert_int_equal(program->lives[3].issue, 7);
        }
        program_fixture_free(program);
    }
}

/* ---- the dependence graph ---- */

static void the_graph_has_the_times_of_the_run(void **state) {
    (void)state;
    begin();
    for (int round = 0; round < 3; round++) {
        store_product(BASE);
        load_and_use(BASE, FAR, 8);
        execute(program, operation(program, OP_INT_MUL, OTHER, VALUE));
    }
    expect_graph_times(program, &machine);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_another_name_for_what_was_stored),
        cmocka_unit_test(narrower_loads_at_the_same_address),
        cmocka_unit_test(operands_may_be_left_out),
        cmocka_unit_test(what_is_overwritten_at_once_is_loaded),
        cmocka_unit_test(a_forward_is_predicted_by_the_last_time),
        cmocka_unit_test(only_the_stack_may_be_renamed),
        cmocka_unit_test(without_an_index),
        cmocka_unit_test(bytes_may_be_renamed),
        cmocka_unit_test(what_a_register_changes_in_memory),
        cmocka_unit_test(only_what_is_in_the_queue),
        cmocka_unit_test(a_store_that_left_the_queue_is_none),
        cmocka_unit_test(names_must_be_the_same),
        cmocka_unit_test(the_stack_pointer_may_have_stepped),
        cmocka_unit_test(so_many_stores_are_remembered),
        cmocka_unit_test(another_store_between),
        cmocka_unit_test(an_operation_behind_a_push_needs_a_uop_more),
        cmocka_unit_test(the_graph_has_the_times_of_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
