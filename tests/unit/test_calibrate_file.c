/* The machine file of a calibration: which of its figures are the measured ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/figure.h"
#include "calibrate/machine_file.h"

static struct machine machine;
static struct calibration calibration;
static const char *forms;       /* the table's name; NULL: none */
static struct host_meter meter; /* nothing is measured with it */
static const struct calibrate_part part = {.name = "test"};

static int start(void **state) {
    (void)state;
    struct error error = {0};
    calibration = (struct calibration){.meter = &meter, .part = &part};
    forms = NULL;
    return !machine_load("zen4", &machine, &error);
}

static int end(void **state) {
    (void)state;
    calibration_free(&calibration);
    return 0;
}

static void found(const char *key, double value, enum finding_state state) {
    calibration_found(&calibration, &(struct finding){.key = key,
                                                      .what = "a figure",
                                                      .unit = strstr(key, "size") ? "bytes" : "",
                                                      .value = value,
                                                      .state = state});
}

/* The file as text; free it. */
static char *file(void) {
    char *text = NULL;
    size_t size;
    struct error error = {0};
    FILE *stream = open_memstream(&text, &size);
    if (!calibration_write(&calibration, &machine, "a test", "", forms, stream, &error))
        fail_msg("%s", error.message);
    fclose(stream);
    return text;
}

/* The line of a key in a section, from the key to its end. */
static void assert_line(const char *text, const char *section, const char *line) {
    char head[64], copy[160];
    snprintf(head, sizeof head, "[%s]\n", section);
    const char *begin = strstr(text, head);
    snprintf(copy, sizeof copy, "\n%s\n", line);
    const char *stop = begin ? strstr(begin + 1, "\n[") : NULL;
    const char *at = begin ? strstr(begin, copy) : NULL;
    if (!at || (stop && at > stop))
        fail_msg("[%s] has no line '%s' in\n%s", section, line, text);
}

/* zen4: a load takes a cycle for its address and l1d.latency = 3. 14 cycles from the L2 are an
 * l2.latency of 13, so 16 are one of 15. Memory behind the LLC's 47, at 5 GHz and DRAM's 2.6:
 * (40 + 40 + 40) × 5 / 2.6 = 230.8, so 231, and a line of 64 bytes at 83.2 GB/s takes 3.8, so 4:
 * 1 + 47 + 150 + 231 + 4 = 433. */
static void figures_are_made_of_keys(void **state) {
    (void)state;
    double value;
    assert_true(figure_value(&machine, "l2.load_to_use", &value));
    assert_float_equal(value, 14, 0);
    assert_true(figure_key_value(&machine, "l2.load_to_use", 16.2, &value));
    assert_float_equal(value, 15, 0);
    assert_true(figure_value(&machine, "memory.load_to_use", &value));
    assert_float_equal(value, 433, 0);
    assert_true(figure_key_value(&machine, "memory.load_to_use", 500, &value));
    assert_float_equal(value, 150 + 67, 0);
    assert_string_equal(figure_key(&machine, "memory.load_to_use"), "dram.base_latency");
    assert_false(figure_key_value(&machine, "memory.load_to_use", 100, &value));
    assert_true(figure_value(&machine, "memory.bandwidth", &value));
    assert_float_equal(value, 83.2 / 5, 1e-9);
    /* 2K targets; of 1300, the next power of two is 1K: 2^10.34. */
    assert_true(figure_value(&machine, "branch.indirect_targets", &value));
    assert_float_equal(value, 2048, 0);
    assert_true(figure_key_value(&machine, "branch.indirect_targets", 1300, &value));
    assert_float_equal(value, 1024, 1e-9);
    /* Of 640 entries in 5 ways 3 for other pages. 448, halfway to 4 ways, and 384 are 3; all are no
     * limit. */
    machine.branch.btb_entries = 640;
    machine.branch.btb_ways = 5;
    machine.branch.btb_far_ways = 3;
    assert_true(figure_value(&machine, "branch.far_jumps", &value));
    assert_float_equal(value, 384, 0);
    assert_true(figure_key_value(&machine, "branch.far_jumps", 448, &value));
    assert_float_equal(value, 3, 0);
    assert_true(figure_key_value(&machine, "branch.far_jumps", 383, &value));
    assert_float_equal(value, 3, 0);
    assert_true(figure_key_value(&machine, "branch.far_jumps", 640, &value));
    assert_float_equal(value, 0, 0);
    /* A walk with two reads of the L2, of 13 cycles each; three where a cache of the host's
     * directory has too few entries. */
    machine.page_walk = 30;
    assert_true(figure_value(&machine, "tlb.walk", &value));
    assert_float_equal(value, 30, 0);
    machine.walk_level = 2;
    machine.host_tables = true;
    assert_true(figure_value(&machine, "tlb.walk", &value));
    assert_float_equal(value, 30 + 2 * 13, 0);
    machine.directory_entries = 64;
    assert_true(figure_value(&machine, "tlb.walk", &value));
    assert_float_equal(value, 30 + 3 * 13, 0);
    assert_true(figure_key_value(&machine, "tlb.walk", 48, &value));
    assert_float_equal(value, 48 - 3 * 13, 0);
    assert_string_equal(figure_key(&machine, "tlb.walk"), "tlb.page_walk");
    machine.dram.banked = false;
    machine.dram.latency = 200;
    assert_true(figure_value(&machine, "memory.load_to_use", &value));
    assert_float_equal(value, 1 + 47 + 200, 0);
    assert_false(figure_value(&machine, "core.rob", &value));
    assert_null(figure_key(&machine, "core.rob"));
}

static void each_line_says_where_its_figure_is_from(void **state) {
    (void)state;
    found("core.rob", 400, FINDING_MEASURED);
    found("core.load_queue", 0, FINDING_UNKNOWN);
    found("l2.load_to_use", 16.2, FINDING_MEASURED);
    found("branch.far_bubble", 0, FINDING_MEASURED);
    char *text = file();
    assert_line(text, "branch", "far_bubble           = 0          ; measured");
    assert_line(text, "core", "rob                  = 400        ; measured");
    assert_line(text, "core",
                "load_queue           = 88         ; not measurable here; published (zen4)");
    assert_line(text, "core", "store_queue          = 64         ; published (zen4)");
    assert_null(strstr(text, "host       ; published")); /* its name is nobody's figure */
    assert_line(text, "l2", "latency              = 15         ; measured: l2.load_to_use 16.2");
    free(text);
}

static void large_figures_have_no_exponents(void **state) {
    (void)state;
    calibration_found(&calibration, &(struct finding){.key = "chip.wake_latency",
                                                      .what = "a figure",
                                                      .unit = "ns",
                                                      .value = 26845.3,
                                                      .spread = 412.4});
    found("branch.indirect_targets", 12345.6, FINDING_MEASURED);
    char *text = file();
    assert_line(text, "chip", "wake_latency         = 26845      ; measured: 26845, +- 412");
    assert_line(text, "branch",
                "indirect_entries     = 16K        ; measured: branch.indirect_targets 12346");
    free(text);
}

/* 48 KiB in 8 ways of 64 bytes would be 96 sets, no power of two; in 12 ways they are 64. */
static void figures_that_are_good_together_are_taken_together(void **state) {
    (void)state;
    found("l1d.size", 48 << 10, FINDING_MEASURED);
    found("l1d.ways", 12, FINDING_MEASURED);
    char *text = file();
    assert_line(text, "l1d", "size                 = 48K        ; measured");
    assert_line(text, "l1d", "ways                 = 12         ; measured");
    free(text);
}

/* Without the ways the size is none that the machine could have, but the latency is. */
static void what_no_machine_can_have_is_left_out(void **state) {
    (void)state;
    found("l1d.size", 48 << 10, FINDING_MEASURED);
    found("l1d.load_to_use", 5, FINDING_MEASURED);
    char *text = file();
    assert_line(text, "l1d",
                "size                 = 32K        ; measured 48K, which other figures here do not "
                "allow; published (zen4)");
    assert_line(text, "l1d", "latency              = 4          ; measured: l1d.load_to_use 5");
    free(text);
}

/* A figure that is none of the machine's keys is named: it is of another unit. */
static void what_is_left_out_has_its_name(void **state) {
    (void)state;
    found("l2.load_to_use", 3, FINDING_MEASURED);
    char *text = file();
    assert_line(
        text, "l2",
        "latency              = 13         ; measured: l2.load_to_use 3, which other figures "
        "here do not allow; published (zen4)");
    free(text);
}

/* The table is named at the top, before any section. */
static void a_table_of_forms_is_named(void **state) {
    (void)state;
    char *text = file();
    assert_null(strstr(text, "measured"));
    free(text);
    forms = "mine.forms";
    text = file();
    assert_non_null(strstr(text, "\nforms                = mine.forms ; measured\n"));
    assert_true(strstr(text, "mine.forms") < strstr(text, "[core]"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figures_are_made_of_keys, start, end),
        cmocka_unit_test_setup_teardown(each_line_says_where_its_figure_is_from, start, end),
        cmocka_unit_test_setup_teardown(large_figures_have_no_exponents, start, end),
        cmocka_unit_test_setup_teardown(figures_that_are_good_together_are_taken_together, start,
                                        end),
        cmocka_unit_test_setup_teardown(what_no_machine_can_have_is_left_out, start, end),
        cmocka_unit_test_setup_teardown(what_is_left_out_has_its_name, start, end),
        cmocka_unit_test_setup_teardown(a_table_of_forms_is_named, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
