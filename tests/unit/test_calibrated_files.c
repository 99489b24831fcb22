/* Where a table of instruction forms lies beside a machine file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "study/calibrated_files.h"
#include "temporary.h"

/* Where forms go for this name in a folder of its own; "": there is no table. */
static bool open_in_folder(const char *name, bool wanted, char forms[PATH_MAX],
                           struct error *error) {
    static struct calibrate_run run;
    static struct calibrated_files files;
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 32];
    run = (struct calibrate_run){0};
    files = (struct calibrated_files){0};
    run.parts[0] = calibrate_part_find(wanted ? "forms" : "width");
    run.part_count = 1;
    assert_non_null(run.parts[0]);
    assert_non_null(mkdtemp(temporary_name(folder, "calibrated")));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const bool good = calibrated_files_open(&files, &run, path, error);
    const char *slash = strrchr(files.forms_path, '/');
    snprintf(forms, PATH_MAX, "%s", files.forms.file && slash ? slash + 1 : "");
    calibrated_files_discard(&files);
    assert_int_equal(rmdir(folder), 0); /* nothing is left in it */
    return good;
}

static void forms_lie_beside_the_machine(void **state) {
    (void)state;
    char forms[PATH_MAX];
    struct error error;
    assert_true(open_in_folder("host.ini", true, forms, &error));
    assert_string_equal(forms, "host.forms");
    assert_true(open_in_folder("host.v2", true, forms, &error));
    assert_string_equal(forms, "host.v2.forms");
}

static void there_is_no_table_unless_forms_are_measured(void **state) {
    (void)state;
    char forms[PATH_MAX];
    struct error error;
    assert_true(open_in_folder("host.ini", false, forms, &error));
    assert_string_equal(forms, "");
}

/* A machine file names its table in a line, where these end it. */
static void a_name_that_no_file_can_hold_is_refused(void **state) {
    (void)state;
    char forms[PATH_MAX];
    struct error error;
    assert_false(open_in_folder("a;b.ini", true, forms, &error));
    assert_non_null(strstr(error.message, "cannot name a table of forms beside it"));
    assert_true(open_in_folder("a;b.ini", false, forms, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_lie_beside_the_machine),
        cmocka_unit_test(there_is_no_table_unless_forms_are_measured),
        cmocka_unit_test(a_name_that_no_file_can_hold_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
