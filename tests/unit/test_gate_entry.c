/* An entry of a baseline and a run: what is written of the run, and how the two are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attribute/attribute.h"
#include "attribute/component.h"
#include "report/baseline_fits.h"
#include "report/gate_entry.h"
#include "temporary.h"

static struct error error;
static const char *WORDS[] = {"./prog", "rows.csv", NULL};
static const char *const NO_OPTIONS[] = {NULL};
static const struct baseline_setting SETTING = {"0.1 model 0", "zen4 0", NO_OPTIONS};

#define GOOD(call)                                                                                 \
    do                                                                                             \
        if (!(call))                                                                               \
            fail_msg("%s", error.message);                                                         \
    while (0)

/* One line that takes so many cycles. */
static void fill(struct compared_run *run, uint64_t cycles) {
    struct compared_place place = {.image = "prog",
                                   .function = "work",
                                   .file = "prog.c",
                                   .line = 12,
                                   .text = "inc ecx",
                                   .offset = 0x10,
                                   .cost = {.units = cycles * CYCLE_UNITS, .executions = 1}};
    place.cost.causes[COMPONENT_EXECUTE] = place.cost.units;
    run->title = "prog rows.csv";
    run->machine = "zen4";
    GOOD(compared_run_add(run, &place, &error));
    run->elapsed = cycles;
}

/* The second run took 104 cycles where the first took 100: so far a run may be off. A layout that
 * is not known has no cycles. */
static void what_is_written_of_a_run(void **state) {
    (void)state;
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 32];
    const struct layout_cycles layouts[] = {
        {.known = true, .cycles = 100}, {.cycles = 99}, {.known = true, .cycles = 107}};
    struct gate_entry entry = {.name = "rows"};
    struct gate_run now = {.second = 104, .layouts = layouts, .layout_count = 3};
    fill(&now.first, 100);
    char *text = gate_entry_text(&entry, &SETTING, (char **)WORDS, &now, &error);
    GOOD(text != NULL);
    assert_int_equal(entry.verdict, GATE_WRITTEN);
    assert_int_equal(entry.bytes, strlen(text));
    assert_float_equal(now.first.half_interval, 4, 0);

    assert_non_null(mkdtemp(temporary_name(folder, "gate")));
    snprintf(path, sizeof path, "%s/perf.baseline", folder);
    struct baseline baseline = {0};
    GOOD(baseline_put(path, &entry.name, &text, 1, &error));
    GOOD(baseline_read(&baseline, path, &error));
    const struct baseline_entry *read = baseline_find(&baseline, "rows");
    assert_non_null(read);
    assert_string_equal(read->words[1], "rows.csv");
    assert_int_equal(read->second, 104);
    assert_int_equal(read->layout_count, 3);
    assert_int_equal(read->layouts[0], 100);
    assert_int_equal(read->layouts[1], 0);
    assert_int_equal(read->layouts[2], 107);
    baseline_free(&baseline);
    compared_run_free(&now.first);
    free(text);
    unlink(path);
    rmdir(folder);
}

/* 100 cycles, then 110: 10 % more. */
static void one_run_against_an_entry(void **state) {
    (void)state;
    struct baseline_entry old = {.name = "rows", .words = WORDS};
    struct gate_run now = {0};
    struct gate_entry entry = {.name = "rows"};
    fill(&old.run, 100);
    fill(&now.first, 110);
    GOOD(gate_entry_compare(&entry, &old, &now, 10, &error));
    assert_true(entry.compared);
    assert_float_equal(entry.compare.percent, 10, 1e-9);
    assert_true(compare_is_slower(&entry.compare, 9));
    assert_false(compare_is_slower(&entry.compare, 11));
    assert_int_equal(entry.compare.layout_count, 0);
    assert_null(old.run.places); /* the report's now */
    assert_null(now.first.places);
    compare_report_free(&entry.compare);
}

/* The entry has two layouts, the run three: two are compared. */
static void layouts_that_both_have(void **state) {
    (void)state;
    uint64_t cycles[] = {100, 200};
    const struct layout_cycles layouts[] = {{.known = true, .cycles = 110},
                                            {.known = true, .cycles = 220},
                                            {.known = true, .cycles = 1}};
    struct baseline_entry old = {.words = WORDS, .layouts = cycles, .layout_count = 2};
    struct gate_run now = {.layouts = layouts, .layout_count = 3};
    struct gate_entry entry = {.name = "rows"};
    fill(&old.run, 100);
    fill(&now.first, 110);
    GOOD(gate_entry_compare(&entry, &old, &now, 10, &error));
    assert_int_equal(entry.compare.layout_count, 2);
    assert_int_equal(entry.compare.layouts[0][1].cycles, 200);
    assert_int_equal(entry.compare.layouts[1][1].cycles, 220);
    assert_float_equal(entry.compare.percent, 10, 1e-9);
    compare_report_free(&entry.compare);
}

static void which_entry_a_command_has(void **state) {
    (void)state;
    static const char *OTHER[] = {"./prog", "other.csv", NULL},
                      *MOVED[] = {"/b/prog", "rows.csv", NULL};
    struct baseline_entry entry = {.name = "rows", .words = WORDS};
    assert_true(baseline_entry_is_of(&entry, "b", (char **)WORDS, 0, &error));
    assert_true(baseline_entry_is_of(&entry, "b", (char **)MOVED, 0, &error));
    assert_false(baseline_entry_is_of(&entry, "b", (char **)OTHER, 0, &error));
    assert_non_null(strstr(error.message, "b: 'rows' is of a command with other arguments"));
    assert_false(baseline_entry_is_of(&entry, "b", (char **)WORDS, 3, &error));
    assert_string_equal(error.message,
                        "b: 'rows' has 1 layout: write it anew with --update --layouts 3");
    entry.layout_count = 3;
    assert_true(baseline_entry_is_of(&entry, "b", (char **)WORDS, 3, &error));
    assert_true(baseline_entry_is_of(&entry, "b", (char **)WORDS, 2, &error));
}

static void which_entries_are_run(void **state) {
    (void)state;
    struct baseline_entry entries[] = {{.name = "a"}, {.name = "b"}};
    char text[] = "there is a file";
    struct baseline baseline = {.text = text, .entries = entries, .count = 2};
    struct gate_report report = {.path = "p"};
    GOOD(gate_entries_list(&report, &baseline, NULL, false, &error));
    assert_int_equal(report.count, 2);
    assert_string_equal(report.entries[1].name, "b");
    free(report.entries);
    report.entries = NULL;
    GOOD(gate_entries_list(&report, &baseline, "b", false, &error));
    assert_int_equal(report.count, 1);
    assert_string_equal(report.entries[0].name, "b");
    free(report.entries);
    report.entries = NULL;
    assert_false(gate_entries_list(&report, &baseline, "c", false, &error));
    assert_string_equal(error.message, "p: it has no entry 'c' (write it with --update)");
    GOOD(gate_entries_list(&report, &baseline, "c", true, &error));
    free(report.entries);
    report.entries = NULL;
    baseline.count = 0;
    assert_false(gate_entries_list(&report, &baseline, NULL, false, &error));
    baseline.text = NULL;
    assert_false(gate_entries_list(&report, &baseline, NULL, false, &error));
    assert_non_null(strstr(error.message, "p: no such file"));
}

static void what_is_not_written_says_so(void **state) {
    (void)state;
    struct gate_entry entry = {.verdict = GATE_WRITTEN, .compared = true};
    assert_true(gate_entry_withdraw(&entry));
    assert_int_equal(entry.verdict, GATE_UNKNOWN);
    assert_false(entry.compared);
    assert_string_equal(entry.error.message, "not written, since another could not be");

    struct gate_entry broken = {.verdict = GATE_UNKNOWN};
    error_set(&broken.error, "no such program");
    assert_false(gate_entry_withdraw(&broken));
    assert_string_equal(broken.error.message, "no such program");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_of_a_run), cmocka_unit_test(one_run_against_an_entry),
        cmocka_unit_test(layouts_that_both_have),   cmocka_unit_test(which_entry_a_command_has),
        cmocka_unit_test(which_entries_are_run),    cmocka_unit_test(what_is_not_written_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
