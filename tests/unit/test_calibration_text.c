/* What a calibration prints, on a page of 80 columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "report/calibration_report.h"

/* Also where the processor's own name for itself is as long as it can be. */
static void the_title_fits_the_page(void **state) {
    (void)state;
    static char text[4096];
    struct calibrate_run run = {.parts_run = 3, .part_count = 21, .partial = true};
    snprintf(run.processor.brand, sizeof run.processor.brand, "%s",
             "Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00 GHz");
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    calibration_text(&run, file);
    fclose(file);
    assert_non_null(strstr(text, "culprit calibrate: Intel(R) Xeon(R) Platinum 8480+"));
    assert_non_null(strstr(text, "parts, 0.0 s)"));
    assert_non_null(strstr(text, "interrupted"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
}

/* A line of "a figure" with this value and spread. */
static void assert_row(double value, double spread, const char *row) {
    static char text[4096];
    struct finding finding = {
        .part = "width", .what = "a figure", .unit = "per cycle", .value = value, .spread = spread};
    struct calibrate_run run = {.calibration = {.findings = &finding, .count = 1}};
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    calibration_text(&run, file);
    fclose(file);
    const char *line = strstr(text, "a figure");
    assert_non_null(line);
    assert_memory_equal(line, row, strlen(row));
}

/* Units stand below each other however small a figure or its spread is. */
static void small_figures_fit_their_columns(void **state) {
    (void)state;
    assert_row(7.973, 0.013,
               "a figure                                   7.973 +- 0.013  per cycle\n");
    assert_row(7.973, 0.00062,
               "a figure                                   7.973 +- 0.0006 per cycle\n");
    assert_row(0.0007213, 0.00001,
               "a figure                                  0.0007 +- 0.0001 per cycle\n");
    assert_row(-0.000013, 0,
               "a figure                                       0           per cycle\n");
    assert_row(-0.000013, 412.3,
               "a figure                                       0 +- 412    per cycle\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_title_fits_the_page),
                                       cmocka_unit_test(small_figures_fit_their_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
