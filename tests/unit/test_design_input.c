/* What is swept: the programs of a file, with its machines and settings, or one command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "study/design_input.h"
#include "temporary.h"

static void write_file(char path[TEMPORARY_BYTES], const char *text) {
    const int descriptor = mkstemp(temporary_name(path, "design"));
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
    close(descriptor);
}

static void a_file_names_programs_and_settings(void **state) {
    (void)state;
    static struct design_input input;
    struct design design = {0};
    struct error error = {0};
    const struct input_options options = {.limit = 1000, .thread = -1};
    char path[TEMPORARY_BYTES];
    write_file(path, "[program zip]\ncommand = gzip -9c  /bin/sh\n"
                     "[program old]\ncommand = old.ctrace\n"
                     "[sweep]\nmachine = zen4, zen5\ncost = core.rob/128\n"
                     "[set]\nl2.size = 512K, 1M\n");
    if (!design_input_file(&input, &design, path, &options, &error))
        fail_msg("%s", error.message);
    assert_int_equal(design.program_count, 2);
    assert_string_equal(design.programs[0].name, "zip");
    assert_string_equal(design.programs[0].input.command[0], "gzip");
    assert_string_equal(design.programs[0].input.command[2], "/bin/sh");
    assert_null(design.programs[0].input.command[3]);
    assert_int_equal(design.programs[0].input.limit, 1000);
    assert_string_equal(design.programs[1].input.trace, "old.ctrace");
    assert_null(design.programs[1].input.command);
    assert_int_equal(design.machines.count, 2);
    assert_int_equal(design.axis_count, 1);
    assert_string_equal(design.cost, "core.rob/128");
    design_free(&design);
    design_input_free(&input);
    unlink(path);
}

/* What the command line says comes first. */
static void machines_and_cost_that_are_there_stay(void **state) {
    (void)state;
    static struct design_input input;
    struct design design = {.cost = "1"};
    struct error error = {0};
    const struct input_options options = {0};
    char path[TEMPORARY_BYTES];
    write_file(path, "[program a]\ncommand = a\n[sweep]\nmachine = zen4\ncost = 2\n");
    assert_true(design_add_machines(&design, "boom-tea", &error));
    assert_true(design_input_file(&input, &design, path, &options, &error));
    assert_int_equal(design.machines.count, 1);
    assert_string_equal(design.machines.values[0], "boom-tea");
    assert_string_equal(design.cost, "1");
    design_free(&design);
    design_input_free(&input);
    unlink(path);
}

static void a_file_without_programs_is_an_error(void **state) {
    (void)state;
    static struct design_input input;
    struct design design = {0};
    struct error error = {0};
    const struct input_options options = {0};
    char path[TEMPORARY_BYTES];
    write_file(path, "[sweep]\nmachine = zen4\n");
    assert_false(design_input_file(&input, &design, path, &options, &error));
    assert_non_null(strstr(error.message, "there is no [program NAME] in it"));
    design_free(&design);
    design_input_free(&input);
    unlink(path);
}

static void one_command_is_named_by_its_words(void **state) {
    (void)state;
    static struct design_input input;
    struct design design = {0};
    struct error error = {0};
    char zip[] = "gzip", option[] = "-9", file[] = "a b";
    char *command[] = {zip, option, file, NULL};
    const struct input_options options = {.command = command};
    assert_true(design_input_command(&input, &design, &options, &error));
    assert_int_equal(design.program_count, 1);
    assert_string_equal(design.programs[0].name, "gzip -9 'a b'");
    assert_ptr_equal(design.programs[0].input.command, command);
    design_free(&design);
    design_input_free(&input);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_names_programs_and_settings),
                                       cmocka_unit_test(machines_and_cost_that_are_there_stay),
                                       cmocka_unit_test(a_file_without_programs_is_an_error),
                                       cmocka_unit_test(one_command_is_named_by_its_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
