/* The result of a region as a file: what is read is what was written, and damage is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "simulate/region_result.h"

/* Three instructions in 10 cycles: instruction 0 twice, 2 once. */
static struct simulation an_example(void) {
    struct simulation simulation = {.executed = 3,
                                    .simulated = 3,
                                    .warmed = 100,
                                    .instructions = 3,
                                    .uops = 4,
                                    .cycles = 10,
                                    .cell_count = 2,
                                    .slot_count = 1,
                                    .execution_count = 3};
    static const char *const NAMES[] = {"dl1", "win"};
    struct error error;
    simulation.states[0] = 7;
    simulation.states[STATE_COUNT - 1] = 3;
    simulation.counted.loads = 5;
    simulation.cells = calloc(2, sizeof *simulation.cells);
    simulation.cells[0] = (struct pics_cell){0, 0, 4 * CYCLE_UNITS + 1};
    simulation.cells[1] = (struct pics_cell){2, 7, 6 * CYCLE_UNITS - 1};
    simulation.slots = calloc(1, sizeof *simulation.slots);
    simulation.slots[0] = (struct pics_cell){2, 1, 60};
    simulation.executions = calloc(3, sizeof *simulation.executions);
    simulation.executions[0] = 2;
    simulation.executions[2] = 1;
    assert_true(breakdown_init(&simulation.breakdown, 2, NAMES, &error));
    for (int set = 0; set < 4; set++)
        simulation.breakdown.cycles[set] = 10.25 - set;
    simulation.breakdown.instructions = 3;
    return simulation;
}

static void what_is_read_was_written(void **state) {
    (void)state;
    char folder[] = "/tmp/culprit-result-XXXXXX", path[64];
    struct simulation written = an_example(), read;
    const struct code code = {.insn_count = 9, .image_count = 2, .mapping_count = 4};
    struct region_code_extent extent;
    struct error error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.region", folder);
    assert_true(region_result_write(path, &written, &code, &error));
    assert_true(region_result_read(path, &read, &extent, &error));
    assert_int_equal(extent.insns, 9);
    assert_int_equal(extent.mappings, 4);
    assert_int_equal(read.warmed, 100);
    assert_int_equal(read.cycles, 10);
    assert_memory_equal(read.states, written.states, sizeof read.states);
    assert_memory_equal(&read.counted, &written.counted, sizeof read.counted);
    assert_memory_equal(read.cells, written.cells, 2 * sizeof *read.cells);
    assert_memory_equal(read.slots, written.slots, sizeof *read.slots);
    assert_memory_equal(read.executions, written.executions, 3 * sizeof *read.executions);
    assert_string_equal(read.breakdown.names[1], "win");
    assert_memory_equal(read.breakdown.cycles, written.breakdown.cycles, 4 * sizeof(double));
    assert_int_equal(read.threads[0].cycles, 10);
    simulation_free(&read);

    /* Cut anywhere, or with any byte changed, it is no result. */
    FILE *file = fopen(path, "r+");
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    for (long at = size - 1; at >= 0; at -= 7) {
        fseek(file, at, SEEK_SET);
        const int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 4, file);
        fflush(file);
        assert_false(region_result_read(path, &read, &extent, &error));
        simulation_free(&read);
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
        fflush(file);
    }
    for (long left = size - 1; left > 0; left -= 11) {
        assert_int_equal(ftruncate(fileno(file), left), 0);
        assert_false(region_result_read(path, &read, &extent, &error));
        simulation_free(&read);
    }
    fclose(file);
    unlink(path);
    rmdir(folder);
    simulation_free(&written);
}

/* Whole, but its parts do not sum to its cycles, or name what there is not. */
static void what_does_not_add_up_is_refused(void **state) {
    (void)state;
    char folder[] = "/tmp/culprit-result-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.region", folder);
    for (int what = 0; what < 6; what++) {
        struct simulation wrong = an_example(), read;
        const struct code code = {.insn_count = what == 5 ? 2 : 9};
        struct region_code_extent extent;
        struct error error;
        wrong.states[1] += what == 0;
        wrong.cells[1].units += what == 1;
        wrong.executions[1] += what == 2;
        wrong.cells[1].psv = what == 3 ? 1 << 20 : 7;
        wrong.slots[0].psv = what == 4 ? 1000 : 1;
        assert_true(region_result_write(path, &wrong, &code, &error));
        assert_false(region_result_read(path, &read, &extent, &error));
        simulation_free(&read);
        simulation_free(&wrong);
    }
    unlink(path);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_was_written),
        cmocka_unit_test(what_does_not_add_up_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
