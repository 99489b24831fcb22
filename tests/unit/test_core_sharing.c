/* Two out-of-order cores that want one line, in exact cycles worked by hand: however far one is
 * computed ahead of the other.
 *
 * The little machine (core_fixture.h): the first µop is fetched in cycle 1, dispatched in 4 and
 * issued in 5. A line comes from memory in 102 cycles, from another core in 40, of which the
 * request takes 20. A store is written a cycle each. */
#include "core_fixture.h"

#include "memory/shared.h"

enum { LINE = 0x20000, OTHER_WORD = LINE + 8 };

static struct machine two_cores(void) {
    struct machine machine = little_machine();
    machine.core.rob = 128;
    machine.core.store_queue = 64;
    machine.queues[0].entries = 128;
    machine.chip.cores = 2;
    machine.chip.clean_transfer = machine.chip.modified_transfer = machine.chip.upgrade = 40;
    return machine;
}

struct side {
    struct program_fixture *program;
    struct core *core;
    enum core_state state;
};

static uint64_t cycle_of(const struct side *side) {
    return side->state == CORE_EMPTY ? UINT64_MAX : core_cycle(side->core);
}

/* The core that is behind goes on until it is `slack` cycles ahead of the other. Then each has come
 * to the commit of its last µop. */
static void run_both(const struct machine *machine, struct side sides[2], uint64_t slack,
                     uint64_t commits[2]) {
    struct error error = {0};
    struct shared_memory *shared = shared_memory_new(machine, 2, 0, &error);
    assert_non_null(shared);
    for (uint32_t i = 0; i < 2; i++) {
        const struct program_fixture *program = sides[i].program;
        const struct core_options options = {.memory = shared_memory_core(shared, i)};
        const struct core_input input = {.code = &program->code,
                                         .insns = program->dynamic,
                                         .accesses = program->accesses,
                                         .insn_count = program->dynamic_count,
                                         .access_count = program->access_count};
        sides[i].core = core_new(machine, &options, &error);
        sides[i].state = CORE_PAUSED;
        if (!sides[i].core || !core_push(sides[i].core, &input, &error))
            fail_msg("%s", error.message);
    }
    while (cycle_of(&sides[0]) != UINT64_MAX || cycle_of(&sides[1]) != UINT64_MAX) {
        struct side *behind = &sides[cycle_of(&sides[1]) < cycle_of(&sides[0])];
        const uint64_t other = cycle_of(&sides[behind == &sides[0]]);
        const uint64_t until = other == UINT64_MAX ? other : other + slack;
        behind->state = core_run(behind->core, until, other, true, &error);
        assert_int_not_equal(behind->state, CORE_FAILED);
    }
    for (uint32_t i = 0; i < 2; i++) {
        commits[i] = core_cycle(sides[i].core);
        core_free(sides[i].core);
    }
    assert_true(shared_memory_consistent(shared));
    shared_memory_free(shared);
}

static void expect(const struct machine *machine, struct side sides[2], uint64_t first,
                   uint64_t second) {
    static const uint64_t SLACKS[] = {1, 3, 10, 20};
    for (unsigned i = 0; i < sizeof SLACKS / sizeof *SLACKS; i++) {
        uint64_t commits[2];
        run_both(machine, sides, SLACKS[i], commits);
        assert_int_equal(commits[0], first);
        assert_int_equal(commits[1], second);
    }
    program_fixture_free(sides[0].program);
    program_fixture_free(sides[1].program);
}

/* So many stores to a word, and a fence that issues when all are written. */
static void add_stores(struct program_fixture *program, uint64_t address, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        execute_at(program, store(program, 0, 0), address, 8);
    execute(program, with_flags(program, alu(program, 0, 0, 0), INSN_FENCE_STORE));
}

/* Two writers in turns. A loads the line, in cycle 5: it is there in 107, complete with the address
 * in 108, and A commits from 109 on. B's first store commits in 7, asks for the line, and has its
 * turn when A has it: in 107, which A learns in 127. B has the line in 147.
 *
 *     A  stores 1 to 18   in 109 to 126; the 19th asks in 127, has its turn in 147
 *     B  stores 1 to 20   in 147 to 166; has lost the line in 167, asks again, its turn is in 187
 *     A  stores 19 to 38  in 187 to 206; asks in 207, its turn is in 227
 *     B  stores 21 to 40  in 227 to 246
 *     A  stores 39 and 40 in 267 and 268
 *
 * B's last store has left in 247: the fence issues in 248 and commits in 250. A's in 269: 272. */
static void two_writers_in_turns(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    struct side sides[2] = {{.program = program_fixture_new()}, {.program = program_fixture_new()}};
    execute_at(sides[0].program, load(sides[0].program, 5, 0), LINE, 8);
    add_stores(sides[0].program, LINE, 40);
    add_stores(sides[1].program, OTHER_WORD, 40);
    expect(&machine, sides, 272, 250);
}

/* Operations of 10 cycles that wait for each other; the first issues in cycle 5. Register 6. */
static void add_chain(struct program_fixture *program, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        execute(program, operation(program, OP_INT_DIV, 6, 6));
}

/* A writer and a reader. B asks for the line in 5, has its turn in 107 and the line in 147; A may
 * write it until 127: stores 1 to 18, as above. The 19th asks in 127, has its turn in 147, takes
 * the line from B in 167 and is written in 187.
 *
 * B's 16 operations end in 165. Behind them, an instruction that serialises is dispatched in 166
 * and commits in 169. Then a load is dispatched in 169 and issues in 170: the line is lost. It
 * asks, has its turn in 187 and the line in 227: it commits in 229.
 *
 * 14 operations end in 145, before the first load, which commits in 149 with three of them; the
 * others do until 152, four a cycle. What serialises is dispatched then and commits in 155, the
 * load issues in 156, while B has the line, and commits in 160.
 *
 * A may write it until 207, when B's second request is there: stores 19 to 38, then 39 and 40 in
 * 267 and 268. Without that all are written by 208, and the fence commits in 212. */
static void a_writer_and_a_reader(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    static const struct {
        unsigned operations;
        uint64_t commits[2];
    } CASES[] = {{16, {272, 229}}, {14, {212, 160}}};
    for (unsigned i = 0; i < 2; i++) {
        struct side sides[2] = {{.program = program_fixture_new()},
                                {.program = program_fixture_new()}};
        struct program_fixture *writer = sides[0].program, *reader = sides[1].program;
        execute_at(writer, load(writer, 5, 0), LINE, 8);
        add_stores(writer, LINE, 40);
        execute_at(reader, load(reader, 5, 0), LINE, 8);
        add_chain(reader, CASES[i].operations);
        execute(reader, with_flags(reader, alu(reader, 0, 6, 0), INSN_SERIALISING));
        execute_at(reader, load(reader, 5, 0), LINE, 8);
        expect(&machine, sides, CASES[i].commits[0], CASES[i].commits[1]);
    }
}

/* A has the line until 127, as above. Behind 15 operations, which end in 155, and an instruction
 * that serialises and commits in 159, a store issues in 160, and a load of the same word: it is
 * forwarded in 162, and commits in 163. Where a forwarded load waits for its line, it asks for it
 * in 160, gets it in 200, is complete in 201 and commits in 202. */
static void a_forwarded_load_awaits_its_line(void **state) {
    (void)state;
    struct machine machine = two_cores();
    for (int awaits = 0; awaits < 2; awaits++) {
        struct side sides[2] = {{.program = program_fixture_new()},
                                {.program = program_fixture_new()}};
        struct program_fixture *first = sides[0].program;
        machine.core.forward_awaits_line = awaits;
        execute_at(first, load(first, 5, 0), LINE, 8);
        add_chain(first, 15);
        execute(first, with_flags(first, alu(first, 0, 6, 0), INSN_SERIALISING));
        execute_at(first, store(first, 0, 0), LINE, 8);
        execute_at(first, load(first, 5, 0), LINE, 8);
        execute_at(sides[1].program, store(sides[1].program, 0, 0), OTHER_WORD, 8);
        expect(&machine, sides, awaits ? 202 : 163, 7);
    }
}

/* A has the line until 127, as above, and B until it has asked again. An instruction that
 * serialises is dispatched in 109 and commits in 112. Two operations of 10 cycles and a load are
 * dispatched then and issue in 113: the operations commit in 124 and 134, and the load, which was
 * complete in 116, would too. But its line was lost in 127. It is flushed at the head, in 135,
 * fetched in 137, dispatched in 140, asks for the line in 141, has its turn in 147 and the line in
 * 187, and commits in 189. With one operation it commits in 124. */
static void a_load_that_loses_its_line_reads_again(void **state) {
    (void)state;
    const struct machine machine = two_cores();
    for (unsigned operations = 1; operations <= 2; operations++) {
        struct side sides[2] = {{.program = program_fixture_new()},
                                {.program = program_fixture_new()}};
        struct program_fixture *first = sides[0].program;
        execute_at(first, load(first, 5, 0), LINE, 8);
        execute(first, with_flags(first, alu(first, 0, 0, 0), INSN_SERIALISING));
        add_chain(first, operations);
        execute_at(first, load(first, 5, 0), LINE, 8);
        execute_at(sides[1].program, store(sides[1].program, 0, 0), OTHER_WORD, 8);
        expect(&machine, sides, operations == 2 ? 189 : 124, 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_writers_in_turns),
        cmocka_unit_test(a_writer_and_a_reader),
        cmocka_unit_test(a_forwarded_load_awaits_its_line),
        cmocka_unit_test(a_load_that_loses_its_line_reads_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
