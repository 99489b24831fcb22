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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_title_fits_the_page)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
