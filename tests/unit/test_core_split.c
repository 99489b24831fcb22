/* Accesses that lie in two lines, and stores of parts of words, on the little machine
 * (core_fixture.h): address generation 1, L1 hit 2 more, forwarding 1 beyond address generation,
 * memory 100 beyond the L1. */
#include "../core_fixture.h"

enum { LINE = 64, FAR = 0x100000 };

/* A load from two lines, of which a store wrote to one: it waits for that line, until 109, and
 * finds then that the other must be brought: 109 + 1 + 2 + 100. */
static void load_from_two_lines_waits_for_one_and_misses_the_other(void **state) {
    (void)state;
    struct machine machine = little_machine();
    struct program_fixture *program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR + LINE - 4, 4);
    execute_at(program, load(program, 2, 0), FAR + LINE - 4, 8);
    simulate(program, &machine, 0);
    assert_int_equal(program->lives[1].complete, 109 + 103);
    assert_int_equal(program->lives[1].psv, PSV_ST_FW | PSV_ST_L1 | PSV_ST_LLC);
    program_fixture_free(program);
}

/* Five stores that hit, two of which issue in a cycle: commits in 7, 7, 8, 8, 9. They are written
 * as they commit, two a cycle, and have left a cycle later. In blocks of 32 bytes a second one in a
 * cycle must lie in the first one's: the stores to bytes 0, 32, 8, 64, 72 are written in 7, 8, 9,
 * 10, 10. One to bytes 28 to 35 lies in two: it is written in 7 and 8 and has left in 9; with the
 * second half the one to byte 40 is written, in 8, and has left in 9 too. The queue of 5 is full:
 * the next five dispatch as these leave, four of them at most in a cycle. One to bytes 60 to 67
 * lies in two lines: where that counts as another write it has both of 7, and the next has 8; as
 * three others, both of 7 and of 8. With blocks it is in 7 and 8 in any case. */
static void stores_of_a_cycle_lie_in_one_block(void **state) {
    (void)state;
    enum { STORES = 5 };
    static const struct {
        uint32_t block, split;
        uint64_t offset[STORES], left[STORES];
    } CASES[] = {{0, 0, {0, 32, 8, 64, 72}, {8, 8, 9, 9, 10}},
                 {32, 0, {0, 32, 8, 64, 72}, {8, 9, 10, 11, 11}},
                 {32, 0, {0, 8, 32, 40, 64}, {8, 8, 9, 9, 10}},
                 {64, 0, {0, 32, 8, 64, 72}, {8, 8, 9, 10, 10}},
                 {32, 0, {28, 40, 48, 64, 96}, {9, 9, 10, 11, 12}},
                 {32, 1, {60, 72, 80, 96, 128}, {9, 9, 10, 11, 12}},
                 {0, 0, {60, 0, 8, 16, 24}, {8, 8, 9, 9, 10}},
                 {0, 1, {60, 0, 8, 16, 24}, {8, 9, 9, 10, 10}},
                 {0, 3, {60, 0, 8, 16, 24}, {9, 10, 10, 11, 11}}};
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct machine machine = little_machine();
        machine.core.store_queue = STORES;
        machine.core.store_drain = 2;
        machine.core.store_block = CASES[i].block;
        machine.core.split_store = CASES[i].split;
        struct program_fixture *program = program_fixture_new();
        for (int k = 0; k < 2 * STORES; k++)
            execute_at(program, store(program, 0, 0), FAR + CASES[i].offset[k % STORES], 8);
        simulate(program, &machine, IDEAL_DMISS);
        for (int k = 0; k < STORES; k++)
            assert_int_equal(program->lives[STORES + k].dispatch, CASES[i].left[k]);
        simulate(program, &machine, IDEAL_DMISS | IDEAL_SPLIT);
        for (int k = 0; k < STORES && !CASES[i].block; k++)
            assert_int_equal(program->lives[STORES + k].dispatch, CASES[6].left[k]);
        program_fixture_free(program);
    }
}

/* Stores by turns, as in a loop, to blocks of 32 bytes: the cycles of a round once the queue is
 * full. A block takes a cycle. A store of a part of a word that was written 4 cycles before or less
 * waits 3 cycles more; after that the words of others are older. Two of a block that follow each
 * other are written in a cycle, and may be all of a word. */
static void stores_of_parts_of_words(void **state) {
    (void)state;
    enum { MOST = 8, ROUNDS = 40 };
    static const struct {
        uint64_t cycles;
        unsigned count;
        struct {
            uint64_t offset;
            uint32_t bytes;
        } stores[MOST];
    } CASES[] = {
        {2, 2, {{0, 4}, {64, 4}}},
        {5, 2, {{0, 8}, {64, 1}}}, /* the second waits in each round */
        {5, 2, {{0, 1}, {64, 1}}}, /* the first does, and the second's word is then 6 cycles old */
        {7, 4, {{0, 8}, {64, 1}, {128, 8}, {192, 8}}},
        {5, 5, {{0, 8}, {64, 1}, {128, 8}, {192, 8}, {256, 8}}},
        {5, 1, {{30, 4}}}, /* parts of two blocks */
        {5, 2, {{64, 2}, {0, 8}}},
        {2, 3, {{64, 2}, {66, 2}, {0, 8}}},                                       /* a whole word */
        {5, 3, {{64, 2}, {68, 2}, {0, 8}}},                                       /* parts of two */
        {6, 6, {{64, 1}, {0, 8}, {68, 1}, {0, 8}, {72, 1}, {0, 8}}},              /* other words */
        {7, 7, {{64, 1}, {0, 8}, {64, 8}, {0, 8}, {256, 8}, {320, 8}, {384, 8}}}, /* whole */
        {10, 7, {{64, 8}, {0, 8}, {64, 1}, {0, 8}, {256, 8}, {320, 8}, {384, 8}}}};
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct machine machine = little_machine();
        machine.core.store_queue = 12;
        machine.core.store_drain = 4;
        machine.core.store_block = 32;
        machine.core.partial_store = 3;
        machine.core.partial_store_recent = 4;
        struct program_fixture *program = program_fixture_new();
        for (unsigned k = 0; k < ROUNDS * CASES[i].count; k++)
            execute_at(program, store(program, 0, 0),
                       FAR + CASES[i].stores[k % CASES[i].count].offset,
                       CASES[i].stores[k % CASES[i].count].bytes);
        simulate(program, &machine, IDEAL_DMISS);
        const struct life *last = &program->lives[(ROUNDS - 1) * CASES[i].count];
        const uint64_t cycles = (last->dispatch - last[-10 * (int)CASES[i].count].dispatch);
        if (cycles != 10 * CASES[i].cycles)
            fail_msg("case %u: %llu cycles for 10 rounds", i, (unsigned long long)cycles);
        program_fixture_free(program);
    }
}

/* Four loads for two units, all ready in 5, the first and third from the last four bytes of a line
 * and the first four of the next. The first has a unit in 5 and 6, so the second has the other in
 * 5, and the third that in 6 and 7; the fourth issues in 7, beside it. They are complete 3 cycles
 * after issue, those in two lines 4. Otherwise two issue in 5 and two in 6, as where splits cost
 * nothing. Where units do not count, all issue in 5; where the L1 takes no time, nor does its
 * second access: 1 cycle. */
static void loads_in_two_lines(void **state) {
    (void)state;
    enum { LOADS = 4 };
    static const struct {
        uint32_t split, ideal;
        uint64_t issue[LOADS], complete[LOADS];
    } CASES[] = {
        {0, 0, {5, 5, 6, 6}, {8, 8, 9, 9}},        {1, 0, {5, 5, 6, 7}, {9, 8, 10, 10}},
        {3, 0, {5, 5, 6, 7}, {11, 8, 12, 10}},     {1, IDEAL_SPLIT, {5, 5, 6, 6}, {8, 8, 9, 9}},
        {1, IDEAL_BW, {5, 5, 5, 5}, {9, 8, 9, 8}}, {1, IDEAL_DL1, {5, 5, 6, 7}, {6, 6, 7, 8}}};
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct machine machine = little_machine();
        machine.core.split_load = CASES[i].split;
        struct program_fixture *program = program_fixture_new();
        for (int k = 0; k < LOADS; k++)
            execute_at(program, load(program, (uint8_t)(1 + k), 0), FAR + (k % 2 ? 0 : 60), 8);
        simulate(program, &machine, IDEAL_DMISS | CASES[i].ideal);
        for (int k = 0; k < LOADS; k++) {
            assert_int_equal(program->lives[k].issue, CASES[i].issue[k]);
            assert_int_equal(program->lives[k].complete, CASES[i].complete[k]);
        }
        program_fixture_free(program);
    }
}

/* A chain of loads in two lines: the first brings both, 100 cycles beyond its 1 + 2 + 1; each of
 * the others takes 4. A store to both lines hands its eight bytes to a load as it does in one. */
static void chains_of_loads_in_two_lines(void **state) {
    (void)state;
    struct machine machine = little_machine();
    machine.core.split_load = 1;
    struct program_fixture *program = program_fixture_new();
    for (int i = 0; i < 5; i++)
        execute_at(program, load(program, 1, 1), FAR + 60, 8);
    simulate(program, &machine, 0);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(program->lives[i].complete, 109 + 4 * i);
    program_fixture_free(program);
    program = program_fixture_new();
    execute_at(program, store(program, 0, 0), FAR + 60, 8);
    execute_at(program, load(program, 2, 0), FAR + 60, 8);
    simulate(program, &machine, IDEAL_DMISS);
    assert_true(program->lives[1].flags & LIFE_FORWARDED);
    assert_int_equal(program->lives[1].complete, 7);
    program_fixture_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_from_two_lines_waits_for_one_and_misses_the_other),
        cmocka_unit_test(stores_of_a_cycle_lie_in_one_block),
        cmocka_unit_test(stores_of_parts_of_words),
        cmocka_unit_test(loads_in_two_lines),
        cmocka_unit_test(chains_of_loads_in_two_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
