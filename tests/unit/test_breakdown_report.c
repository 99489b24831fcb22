/* Which sets a breakdown's report shows, what is left as Other, and what it says in words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/breakdown_report.h"

static const char *const NAMES[] = {"a", "b", "c"};
static struct breakdown breakdown;
static struct breakdown_program program;
static struct breakdown_report report;

/* Of 100 cycles:
 *            {}    a    b    ab    c    ac    bc   abc
 *   t       100   90   75    70   99    80    74    50
 *   cost      0   10   25    30    1    20    26    50
 *   icost     0   10   25    -5    1     9     0    10    b the costliest; rest 50 */
static int make(void **state) {
    (void)state;
    static const double cycles[] = {100, 90, 75, 70, 99, 80, 74, 50};
    struct error error;
    assert_true(breakdown_init(&breakdown, 3, NAMES, &error));
    memcpy(breakdown.cycles, cycles, sizeof cycles);
    program = (struct breakdown_program){.name = "p", .label = "p"};
    program.ways[WAY_GRAPH] = &breakdown;
    report = (struct breakdown_report){.programs = &program,
                                       .program_count = 1,
                                       .focus = BREAKDOWN_NO_FOCUS,
                                       .threshold = 0.02,
                                       .largest = 3};
    return 0;
}

static int forget(void **state) {
    (void)state;
    breakdown_report_free(&report);
    breakdown_free(&breakdown);
    return 0;
}

static void expect_rows(uint32_t singles, uint32_t pairs, uint32_t others, const uint32_t *rows) {
    assert_true(breakdown_report_choose(&report));
    assert_int_equal(report.singles, singles);
    assert_int_equal(report.pairs, pairs);
    assert_int_equal(report.others, others);
    for (uint32_t i = 0; i < singles + pairs + others; i++)
        assert_int_equal(report.rows[i], rows[i]);
}

static void expect_rest(double rest) {
    assert_true(fabs(breakdown_rest(&report, &breakdown) - rest) < 1e-9);
}

/* b a c | ab bc | abc ac; the rest is what an ideal machine takes. */
static void the_costliest_is_in_focus(void **state) {
    (void)state;
    expect_rows(3, 2, 2, (uint32_t[]){2, 1, 4, 3, 6, 7, 5});
    assert_int_equal(report.focus, 1);
    expect_rest(0.5);
}

/* b a c | ac ab, of a; no triple is asked for, bc is under the threshold. */
static void focus_and_size_are_chosen(void **state) {
    (void)state;
    report.focus = 0;
    report.largest = 2;
    expect_rows(3, 2, 0, (uint32_t[]){2, 1, 4, 5, 3});
    expect_rest(0.6);
}

static void threshold_and_number_bound_others(void **state) {
    (void)state;
    report.threshold = 0.095;
    expect_rows(3, 2, 1, (uint32_t[]){2, 1, 4, 3, 6, 7});
    breakdown_report_free(&report);
    report.threshold = 0;
    report.top = 1;
    expect_rows(3, 2, 1, (uint32_t[]){2, 1, 4, 3, 6, 7});
}

static void expect_reading(uint32_t count, const char *const *parts) {
    struct report reading = {0};
    assert_true(breakdown_read(&report, &program, &reading));
    assert_int_equal(reading.note_count, count);
    for (uint32_t i = 0; i < count; i++)
        if (!strstr(reading.notes[i], parts[i]))
            fail_msg("%s: no %s", reading.notes[i], parts[i]);
    report_free(&reading);
}

static void pairs_are_read(void **state) {
    (void)state;
    expect_reading(4,
                   (const char *const[]){
                       "b costs most: without it the run takes 25.0 % less time, 1.33 times",
                       "a and b: 30.0 % less time, 1.43 times",
                       "a and c overlap (+9.0 %): alone they save 10.0 and 1.0 %, together 20.0 %",
                       "a and b are in series (-5.0 %): alone they save 10.0 and 25.0 %"});
}

/* Without ab, nothing is told of it, nor of a best pair. */
static void what_was_not_measured_is_not_told(void **state) {
    (void)state;
    breakdown.cycles[3] = NAN;
    expect_reading(2, (const char *const[]){"b costs most", "a and c overlap"});
    expect_rows(3, 2, 1, (uint32_t[]){2, 1, 4, 3, 6, 5});
    expect_rest(1 - 0.25 - 0.10 - 0.01 - 0.09);
}

static void independence_is_told(void **state) {
    (void)state;
    breakdown.cycles[3] = 65;
    breakdown.cycles[5] = 89;
    expect_reading(
        4, (const char *const[]){"b costs most", "best two", "no pair", "a and b are independent"});
}

static void that_nothing_saves_is_told(void **state) {
    (void)state;
    for (uint32_t set = 0; set < 8; set++)
        breakdown.cycles[set] = 100;
    expect_reading(2, (const char *const[]){"removing any one of the causes saves nothing",
                                            "no pair measured interacts by 2.0 %"});
}

/* One cycle that removing any of three removes: pairs have -1, all three 1 - 3 + 3 = +1 of 10.
 * Three that overlap have +1 as well: only of pairs does the sign say how they stand. */
static void signs_of_pairs_alone_are_read(void **state) {
    (void)state;
    const struct machine machine = {.name = "m", .clock_ghz = 1};
    const char *const descriptions[] = {"", "", ""};
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    breakdown.cycles[0] = 10;
    for (uint32_t set = 1; set < 8; set++)
        breakdown.cycles[set] = 9;
    report.report.machine = &machine;
    report.descriptions = descriptions;
    assert_true(breakdown_report_choose(&report));
    const struct page page = page_of(file, false);
    breakdown_text(&report, &page);
    fclose(file);
    assert_non_null(strstr(text, "-10.0        -1  in series: removing one is enough\n"));
    assert_non_null(
        strstr(text, "10.0         1  together more than its smaller sets add up to\n"));
    assert_null(strstr(text, "overlap"));
    free(text);
}

/* c costs 1 by the graph, 40 by multisim, which is read then; all else is the same, or not
 * simulated. What the graph says of ac is not told, as it is off in c; nor which two are best. */
static void the_reference_is_told(void **state) {
    (void)state;
    static const double cycles[] = {100, 90, 75, 70, 60, NAN, NAN, NAN};
    struct breakdown reference;
    struct error error;
    double difference;
    assert_true(breakdown_init(&reference, 3, NAMES, &error));
    memcpy(reference.cycles, cycles, sizeof cycles);
    program.ways[WAY_MULTISIM] = &reference;
    assert_true(breakdown_report_choose(&report));
    assert_int_equal(breakdown_report_farthest(&report, &program, WAY_GRAPH, &difference), 4);
    assert_true(fabs(difference + 0.39) < 1e-9);
    expect_reading(
        2, (const char *const[]){"c costs most: without it the run takes 40.0 %", "in series"});
    assert_true(breakdown_source(&program, 3) == &reference);
    assert_true(breakdown_source(&program, 5) == &breakdown);
    assert_false(breakdown_trusted(&program, 5, 0.02));
    /* Without b, ab is the graph's, whose a is right. */
    reference.cycles[2] = NAN;
    expect_reading(2, (const char *const[]){"c costs most: without it the run takes 40.0 %",
                                            "a and b are in series (-5.0 %, by the graph alone)"});
    reference.cycles[4] = 99;
    assert_int_equal(breakdown_report_farthest(&report, &program, WAY_GRAPH, &difference), 0);
    breakdown_free(&reference);
}

/* A check of a and of ac makes one column: ac is 0 there, 9 by the graph; what else there is of
 * the graph has a ~, and abc, which has ac in it, is in doubt. */
static void a_check_is_one_column(void **state) {
    (void)state;
    static const double cycles[] = {100, 90, NAN, NAN, 99, 89, NAN, NAN};
    const struct machine machine = {.name = "m", .clock_ghz = 1};
    const char *const descriptions[] = {"first", "", ""};
    struct breakdown reference;
    struct error error;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_true(breakdown_init(&reference, 3, NAMES, &error));
    memcpy(reference.cycles, cycles, sizeof cycles);
    program.ways[WAY_MULTISIM] = &reference;
    report.report.machine = &machine;
    report.descriptions = descriptions;
    report.checked = true;
    report.focus = 0;
    assert_true(breakdown_report_choose(&report));
    const struct page page = page_of(file, false);
    breakdown_text(&report, &page);
    fclose(file);
    assert_non_null(strstr(text, " 10.0        10  first\n"));
    assert_non_null(strstr(text, " ~25.0        25\n"));
    assert_non_null(strstr(text, " ~-5.0        -5  in series"));
    assert_non_null(strstr(text, "  0.0         0\n"));
    assert_non_null(strstr(text, "doubtful: the graph is off in its smaller sets\n"));
    assert_null(strstr(text, "overlap"));
    assert_null(strstr(text, "error"));
    free(text);
    breakdown_free(&reference);
}

/* A change is not a cause that goes: b is made half. */
static void changes_are_not_called_removals(void **state) {
    (void)state;
    report.changed = 1 << 1;
    expect_reading(
        4, (const char *const[]){"b saves most: with this change the run takes 25.0 % less time",
                                 "the best two to change together are a and b", "a and c overlap",
                                 "are the same cycles, which either saves"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_costliest_is_in_focus, make, forget),
        cmocka_unit_test_setup_teardown(a_check_is_one_column, make, forget),
        cmocka_unit_test_setup_teardown(changes_are_not_called_removals, make, forget),
        cmocka_unit_test_setup_teardown(focus_and_size_are_chosen, make, forget),
        cmocka_unit_test_setup_teardown(threshold_and_number_bound_others, make, forget),
        cmocka_unit_test_setup_teardown(pairs_are_read, make, forget),
        cmocka_unit_test_setup_teardown(what_was_not_measured_is_not_told, make, forget),
        cmocka_unit_test_setup_teardown(independence_is_told, make, forget),
        cmocka_unit_test_setup_teardown(that_nothing_saves_is_told, make, forget),
        cmocka_unit_test_setup_teardown(signs_of_pairs_alone_are_read, make, forget),
        cmocka_unit_test_setup_teardown(the_reference_is_told, make, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
