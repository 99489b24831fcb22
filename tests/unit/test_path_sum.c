/* Call paths of two regions as one tree, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulate/path_sum.h"

static const uint8_t NOP[] = {0x90};

/* Instructions at these offsets of one file. */
static void make_code(struct code *code, struct code_image *image, struct static_insn *insns,
                      const uint64_t *offsets, uint32_t count) {
    *image = (struct code_image){.path = "/script", .kind = CODE_IMAGE_FILE};
    for (uint32_t i = 0; i < count; i++) {
        insns[i] = (struct static_insn){.offset = offsets[i], .address = offsets[i], .length = 1};
        memcpy(insns[i].bytes, NOP, sizeof NOP);
    }
    *code = (struct code){
        .isa = ISA_X86_64, .insns = insns, .insn_count = count, .images = image, .image_count = 1};
}

/* thread ─► m ─► f: m at offset 0x100, called nowhere; f at 0x200, called from `site`. */
static void make_result(struct call_path_result *result, uint32_t m, uint32_t f, uint32_t site,
                        const uint64_t units[3], uint64_t instructions) {
    *result = (struct call_path_result){
        .paths = calloc(3, sizeof *result->paths),
        .count = 3,
        .functions = calloc(2, sizeof *result->functions),
        .function_count = 2,
        .cells = calloc(3, sizeof *result->cells),
        .cell_count = 3,
    };
    result->paths[0] = (struct call_path){
        .parent = PATH_NONE, .site = 0, .function = PATH_NONE, .kind = PATH_THREAD};
    result->paths[1] = (struct call_path){.parent = 0,
                                          .site = PATH_NONE,
                                          .function = 0,
                                          .kind = PATH_START,
                                          .units = units[0],
                                          .instructions = instructions};
    result->paths[2] = (struct call_path){.parent = 1,
                                          .site = site,
                                          .function = 1,
                                          .kind = PATH_CALL,
                                          .units = units[1] + units[2],
                                          .instructions = instructions,
                                          .calls = 3};
    result->functions[0] = (struct call_path_function){.offset = 0x100, .insn = m};
    result->functions[1] = (struct call_path_function){.offset = 0x200, .insn = f};
    result->cells[0] = (struct pics_cell){1, 0, units[0]};
    result->cells[1] = (struct pics_cell){2, 0, units[1]};
    result->cells[2] = (struct pics_cell){2, 5, units[2]};
}

/* 10 units and 4 instructions that stand for 25 and 6: running totals are 3, 6, 10 of 10, of which
 * 7.5, 15 and 25 are left, cut to whole ones; three calls are 4.5, so 5. */
static void scaled(void **state) {
    (void)state;
    struct call_path_result result;
    make_result(&result, 0, 1, 2, (uint64_t[]){3, 3, 4}, 2);
    path_result_scale(&result, &(struct path_scale){10, 25, 4, 6});
    assert_int_equal(result.cells[0].units, 7);
    assert_int_equal(result.cells[1].units, 8);
    assert_int_equal(result.cells[2].units, 10);
    assert_int_equal(result.paths[1].units, 7);
    assert_int_equal(result.paths[2].units, 18);
    assert_int_equal(result.paths[1].instructions, 3);
    assert_int_equal(result.paths[2].instructions, 3);
    assert_int_equal(result.paths[2].calls, 5);
    call_path_result_free(&result);
}

/* The first region has m and its call but, of f, only what the run that began it knows; the second
 * has f, and knows m and the call from there. As one: m calls f from one place. */
static void summed(void **state) {
    (void)state;
    struct error error;
    struct code_image images[3];
    struct static_insn insns[3][3];
    struct code base, one, two;
    make_code(&base, &images[0], insns[0], (uint64_t[]){0x208, 0x104, 0x108}, 3); /* f, m, site */
    make_code(&one, &images[1], insns[1], (uint64_t[]){0x100, 0x108}, 2);         /* m, site */
    make_code(&two, &images[2], insns[2], (uint64_t[]){0x200}, 1);                /* f */
    struct code_union *all = code_union_new(ISA_X86_64);
    struct path_sum *sum = path_sum_new();
    struct call_path_result parts[2], result;
    uint32_t numbers[3];
    make_result(&parts[0], 0, 0 | PATH_BASE_INSN, 1, (uint64_t[]){1, 2, 3}, 10);
    make_result(&parts[1], 1 | PATH_BASE_INSN, 0, 2 | PATH_BASE_INSN, (uint64_t[]){10, 20, 30}, 5);
    assert_true(code_union_add(all, &one, numbers, &error));
    assert_true(path_result_renumber(&parts[0], all, &one, numbers, &base, 7, &error));
    assert_true(path_sum_add(sum, &parts[0], code_union_code(all), NULL));
    assert_true(code_union_add(all, &two, numbers, &error));
    assert_true(path_result_renumber(&parts[1], all, &two, numbers, &base, 7, &error));
    assert_true(path_sum_add(sum, &parts[1], code_union_code(all), NULL));
    const uint32_t count = code_union_code(all)->insn_count;
    assert_int_equal(count, 5); /* 0x100, 0x104, 0x108, 0x200, 0x208 */
    uint32_t order[5];
    assert_true(code_union_sort(all, order, &error));
    assert_true(path_sum_finish(sum, order, &result));
    assert_int_equal(result.count, 3);
    assert_int_equal(result.function_count, 2);
    assert_int_equal(result.paths[0].site, 7);
    assert_int_equal(result.paths[1].units, 11);
    assert_int_equal(result.paths[2].units, 55);
    assert_int_equal(result.paths[2].instructions, 15);
    assert_int_equal(result.paths[2].calls, 6);
    const struct code *code = code_union_code(all);
    assert_int_equal(code->insns[result.paths[2].site].offset, 0x108);
    assert_int_equal(code->insns[result.functions[1].insn].offset, 0x208);
    assert_int_equal(result.cell_count, 3);
    assert_int_equal(result.cells[2].units, 33);
    assert_int_equal(result.cells[2].psv, 5);
    call_path_result_free(&result);
    for (int i = 0; i < 2; i++)
        call_path_result_free(&parts[i]);
    path_sum_free(sum);
    code_union_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scaled), cmocka_unit_test(summed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
