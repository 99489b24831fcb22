/* Codes of several traces as one, and simulations of regions as one of the whole run, with every
 * figure worked by hand. */
#include "trace_script.h"

#include "attribute/top_down.h"
#include "simulate/combination.h"
#include "simulate/regions.h"
#include "trace/code_union.h"

/* ---- code ---- */

static struct code_image image_of(const char *path, uint8_t build_id) {
    return (struct code_image){.path = (char *)path, .build_id = {build_id}, .build_id_size = 1};
}

static struct static_insn insn_at(uint32_t image, uint64_t offset, uint8_t byte) {
    return (struct static_insn){.image = image, .offset = offset, .length = 1, .bytes = {byte}};
}

/* One trace has b before a, the other a and another build of b. */
static void codes_are_united_by_place(void **state) {
    (void)state;
    struct code_image images1[] = {image_of("/b", 1), image_of("/a", 1)};
    struct code_image images2[] = {image_of("/a", 1), image_of("/b", 2), image_of("/b", 1)};
    struct static_insn insns1[] = {insn_at(0, 0x20, 0x90), insn_at(1, 0x10, 0xc3)};
    struct static_insn insns2[] = {insn_at(0, 0x10, 0xc3), insn_at(1, 0x20, 0x90),
                                   insn_at(2, 0x20, 0x90), insn_at(0, 0x10, 0xcc),
                                   insn_at(0, 0x08, 0xc3), insn_at(0, 0x10, 0xc3)};
    insns2[0].reached = 1;
    struct code code1 = {.insns = insns1, .insn_count = 2, .images = images1, .image_count = 2};
    struct code code2 = {.insns = insns2, .insn_count = 6, .images = images2, .image_count = 3};
    static const uint32_t expected1[] = {0, 1}, expected2[] = {1, 2, 0, 3, 4, 1};
    /* By image (/a, /b of build 1, /b of build 2), offset and bytes. */
    static const uint32_t expected_order[] = {3, 1, 4, 2, 0};
    uint32_t numbers1[2], numbers2[6], order[5];
    struct error error;
    struct code_union *all = code_union_new(ISA_X86_64);
    assert_true(code_union_add(all, &code1, numbers1, &error));
    assert_true(code_union_add(all, &code2, numbers2, &error));
    assert_memory_equal(numbers1, expected1, sizeof expected1);
    assert_memory_equal(numbers2, expected2, sizeof expected2);
    assert_true(code_union_sort(all, order, &error));
    assert_memory_equal(order, expected_order, sizeof expected_order);
    const struct code *code = code_union_code(all);
    assert_int_equal(code->insn_count, 5);
    assert_int_equal(code->image_count, 3);
    assert_string_equal(code->images[code->insns[order[0]].image].path, "/b");
    assert_int_equal(code->images[code->insns[order[0]].image].build_id[0], 1);
    assert_int_equal(code->images[code->insns[order[2]].image].build_id[0], 2);
    assert_int_equal(code->insns[1].reached, 1);
    struct code riscv = {.isa = ISA_RISCV64};
    assert_false(code_union_add(all, &riscv, numbers1, &error));
    code_union_free(all);
}

/* More than the index first has room for, each twice. */
static void codes_may_be_large(void **state) {
    (void)state;
    enum { MANY = 50000 };
    struct code_image image = image_of("/a", 1);
    struct code code = {.insn_count = MANY, .images = &image, .image_count = 1};
    code.insns = calloc(MANY, sizeof *code.insns);
    uint32_t *numbers = calloc(MANY, sizeof *numbers);
    struct error error;
    struct code_union *all = code_union_new(ISA_X86_64);
    for (uint32_t i = 0; i < MANY; i++)
        code.insns[i] = insn_at(0, 7919u * i % 50021, 0x90);
    for (int round = 0; round < 2; round++) {
        assert_true(code_union_add(all, &code, numbers, &error));
        for (uint32_t i = 0; i < MANY; i++)
            assert_int_equal(numbers[i], i);
    }
    assert_int_equal(code_union_code(all)->insn_count, MANY);
    code_union_free(all);
    free(code.insns);
    free(numbers);
}

/* ---- simulations ---- */

/* 10 instructions in 7 cycles of two slots, of two static ones. */
static void make_part(struct simulation *part) {
    static const struct pics_cell cells[] = {{0, 0, 1000}, {0, 64, 2000}, {1, 0, 2880}};
    static const struct pics_cell slots[] = {
        {0, SLOT_RETIRING, 6}, {0, SLOT_L1, 3}, {1, SLOT_RETIRING, 5}};
    *part = (struct simulation){.simulated = 10,
                                .instructions = 10,
                                .uops = 11,
                                .cycles = 7,
                                .states = {4, 2, 1, 0},
                                .counted = {.cycles = 7, .instructions = 10, .uops = 11},
                                .cell_count = 3,
                                .slot_count = 3,
                                .execution_count = 2,
                                .thread_count = 1};
    part->counted.loads = 3;
    part->counted.stores = 1;
    part->cells = malloc(sizeof cells);
    memcpy(part->cells, cells, sizeof cells);
    part->slots = malloc(sizeof slots);
    memcpy(part->slots, slots, sizeof slots);
    part->executions = malloc(2 * sizeof *part->executions);
    part->executions[0] = 6;
    part->executions[1] = 4;
    part->threads = calloc(1, sizeof *part->threads);
    part->threads[0] = (struct simulation_thread){.instructions = 10, .cycles = 7};
}

/* Times 2.5: cycles 17.5, to the nearest 18. States: 4, 6, 7 of 7 become 10.3, 15.4, 18 of 18,
 * whole parts 10, 15, 18. Cells: 1000, 3000, 5880 of 5880 become 2571.4, 7714.3, 15120 of 18 × 840.
 * Slots 6, 9 and 14 of 14: 15.4, 23.1 and 36 of 18 × 2.
 * Executions 6 and 10 of 10: 15 and 25. µops 27.5: 28; loads 7.5: 8; stores 2.5: 3. */
static void parts_are_scaled(void **state) {
    (void)state;
    struct simulation part;
    struct error error;
    make_part(&part);
    assert_true(simulation_scale(&part, 25, &error));
    static const uint64_t states[] = {10, 5, 3, 0}, units[] = {2571, 5143, 7406};
    static const uint64_t slots[] = {15, 8, 13};
    assert_int_equal(part.cycles, 18);
    assert_memory_equal(part.states, states, sizeof states);
    for (int i = 0; i < 3; i++)
        assert_int_equal(part.cells[i].units, units[i]);
    assert_int_equal(part.slot_count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(part.slots[i].units, slots[i]);
    assert_int_equal(part.executions[0], 15);
    assert_int_equal(part.executions[1], 10);
    assert_int_equal(part.threads[0].instructions, 25);
    assert_int_equal(part.threads[0].cycles, 18);
    assert_int_equal(part.uops, 28);
    assert_int_equal(part.counted.loads, 8);
    assert_int_equal(part.counted.stores, 3);
    assert_int_equal(part.counted.cycles, 18);
    assert_int_equal(part.counted.instructions, 25);
    assert_int_equal(part.simulated, 10);
    simulation_free(&part);
}

static void scaling_refuses(void **state) {
    (void)state;
    struct simulation part = {0};
    struct error error;
    assert_false(simulation_scale(&part, 5, &error));
    make_part(&part);
    assert_false(simulation_scale(&part, UINT64_MAX, &error));
    simulation_free(&part);
}

static const struct pics_cell *cell_of(const struct simulation *simulation, uint32_t insn,
                                       uint32_t psv) {
    for (uint64_t i = 0; i < simulation->cell_count; i++)
        if (simulation->cells[i].insn == insn && simulation->cells[i].psv == psv)
            return &simulation->cells[i];
    fail_msg("no cell %u/%u", insn, psv);
    return NULL;
}

/* The part above as 25 instructions of thread 0, and as it is of thread 2, where its instruction 1
 * is the other's 0; in either order. Together 35 instructions in 25 cycles; for 70, twice that. */
static void parts_are_summed(void **state) {
    (void)state;
    static const uint32_t numbers[2][2] = {{0, 1}, {5, 0}};
    static const uint32_t order[] = {3, 2, 9, 9, 9, 0};
    static const uint64_t stands_for[] = {25, 10};
    for (unsigned first = 0; first < 2; first++)
        for (uint64_t times = 1; times < 3; times++) {
            struct combination *combination = combination_new();
            struct simulation part, sum;
            struct error error;
            for (unsigned i = 0; i < 2; i++) {
                unsigned which = i ^ first;
                make_part(&part);
                assert_true(combination_add(combination, &part, numbers[which], NULL, which,
                                            2 * which, stands_for[which], &error));
                simulation_free(&part);
            }
            assert_true(combination_finish(combination, 35 * times, NULL, order, &sum, &error));
            assert_int_equal(sum.executed, 35 * times);
            assert_int_equal(sum.instructions, 35 * times);
            assert_int_equal(sum.cycles, 25 * times);
            assert_int_equal(sum.simulated, 20);
            assert_int_equal(sum.states[0], 14 * times);
            assert_int_equal(sum.states[2], 4 * times);
            assert_int_equal(sum.counted.loads, 11 * times);
            assert_int_equal(sum.counted.cycles, 25 * times);
            assert_int_equal(sum.cell_count, 5);
            assert_int_equal(sum.cells[0].insn, 0);
            assert_int_equal(cell_of(&sum, 0, 0)->units, 1000 * times);
            assert_int_equal(cell_of(&sum, 0, 64)->units, 2000 * times);
            assert_int_equal(cell_of(&sum, 2, 0)->units, 7406 * times);
            assert_int_equal(cell_of(&sum, 3, 0)->units, (2571 + 2880) * times);
            static const struct pics_cell slots[] = {{0, SLOT_RETIRING, 6},
                                                     {0, SLOT_L1, 3},
                                                     {2, SLOT_RETIRING, 13},
                                                     {3, SLOT_RETIRING, 20},
                                                     {3, SLOT_L1, 8}};
            assert_int_equal(sum.slot_count, 5);
            for (unsigned i = 0; i < 5; i++) {
                assert_int_equal(sum.slots[i].insn, slots[i].insn);
                assert_int_equal(sum.slots[i].psv, slots[i].psv);
                assert_int_equal(sum.slots[i].units, slots[i].units * times);
            }
            assert_int_equal(sum.execution_count, 4);
            assert_int_equal(sum.executions[0], 6 * times);
            assert_int_equal(sum.executions[2], 10 * times);
            assert_int_equal(sum.executions[3], (15 + 4) * times);
            assert_int_equal(sum.thread_count, 3);
            assert_int_equal(sum.threads[0].cycles, 18 * times);
            assert_int_equal(sum.threads[1].cycles, 0);
            assert_int_equal(sum.threads[2].cycles, 7 * times);
            assert_int_equal(sum.threads[2].process, 1);
            simulation_free(&sum);
            combination_free(combination);
        }
}

/* Weights of 0.3, 0.3 and 0.4 of 99 instructions: 29.7, 59.4 and 99 so far. */
static void shares_sum_to_the_run(void **state) {
    (void)state;
    struct region regions[] = {{.weight = 0.3}, {.weight = 0.3}, {.weight = 0.4}};
    struct region_list list = {.instructions = 99, .regions = regions, .region_count = 3};
    uint64_t *shares = region_list_shares(&list);
    assert_int_equal(shares[0], 29);
    assert_int_equal(shares[1], 30);
    assert_int_equal(shares[2], 40);
    free(shares);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_united_by_place), cmocka_unit_test(codes_may_be_large),
        cmocka_unit_test(parts_are_scaled),          cmocka_unit_test(scaling_refuses),
        cmocka_unit_test(parts_are_summed),          cmocka_unit_test(shares_sum_to_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
