/* Which files can be read, and which can run. */
#include "program_fixture.h"

static void unusable_images_have_a_note_and_a_number(void **state) {
    (void)state;
    static const uint8_t build_id[] = {1, 2, 3, 4};
    write_text("text", "not ELF at all, but long enough\n", 0644);
    write_text("empty", "", 0644);
    struct program *program = program_new();
    struct location location;
    static const struct {
        const char *path, *note;
    } cases[] = {{"missing", "No such file"},
                 {"text", "not an ELF file"},
                 {"empty", "empty"},
                 {"", "not a regular file"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t image = add(program, cases[i].path);
        assert_int_equal(image, i);
        assert_non_null(strstr(program_image_note(program, image), cases[i].note));
        assert_false(program_locate(program, image, 0, &location));
    }
    uint32_t changed = program_add_image(program, in_directory("sample"), build_id, 4);
    assert_non_null(strstr(program_image_note(program, changed), "build id differs"));
    assert_int_not_equal(add(program, "sample"), changed);
    uint32_t anonymous = program_add_image(program, "[heap]", NULL, 0);
    assert_non_null(program_image_note(program, anonymous));
    assert_string_equal(program_image_name(program, anonymous), "[heap]");
    program_free(program);
}

static void check_error(const char *name, const char *expected) {
    struct executable executable;
    struct error error;
    assert_false(executable_identify(in_directory(name), &executable, &error));
    if (!strstr(error.message, expected))
        fail_msg("\"%s\" does not say \"%s\"", error.message, expected);
    assert_null(strchr(error.message, '\n'));
}

static void executables_are_identified(void **state) {
    (void)state;
    struct executable executable;
    struct error error;
    assert_true(executable_identify(in_directory("sample"), &executable, &error));
    assert_int_equal(executable.kind, EXECUTABLE_X86_64);
    assert_true(executable.dynamic);
    assert_false(executable.set_user_id);
    assert_true(run("cp sample setuid && chmod 4755 setuid && gcc -static sample.c -o static"));
    assert_true(executable_identify(in_directory("setuid"), &executable, &error));
    assert_true(executable.set_user_id);
    assert_true(executable_identify(in_directory("static"), &executable, &error));
    assert_false(executable.dynamic);
    write_text("script", "#! /bin/sh  -e -u \necho\n", 0755);
    assert_true(executable_identify(in_directory("script"), &executable, &error));
    assert_int_equal(executable.kind, EXECUTABLE_SCRIPT);
    assert_string_equal(executable.interpreter, "/bin/sh");
    assert_string_equal(executable.interpreter_argument, "-e -u");
    char **arguments = calloc(3, sizeof *arguments);
    arguments[0] = strdup("as it was called");
    arguments[1] = strdup("file");
    assert_true(executable_interpret(&executable, "/path/script", &arguments));
    const char *expected[] = {"/bin/sh", "-e -u", "/path/script", "file"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(arguments[i], expected[i]);
        free(arguments[i]);
    }
    assert_null(arguments[4]);
    free(arguments);
    write_text("plain", "echo hello\n", 0755);
    assert_true(executable_identify(in_directory("plain"), &executable, &error));
    assert_int_equal(executable.kind, EXECUTABLE_NOT_EXECUTABLE);
    unsigned char arm[64] = "\177ELF\2\1\1";
    arm[16] = 2;   /* ET_EXEC */
    arm[18] = 183; /* EM_AARCH64 */
    write_file("arm", arm, sizeof arm, 0755);
    assert_true(executable_identify(in_directory("arm"), &executable, &error));
    assert_int_equal(executable.kind, EXECUTABLE_OTHER_MACHINE);
    assert_string_equal(executable.machine, "AArch64");
    arm[4] = 1;  /* ELFCLASS32 */
    arm[18] = 3; /* EM_386 */
    write_file("i386", arm, sizeof arm, 0755);
    assert_true(executable_identify(in_directory("i386"), &executable, &error));
    assert_int_equal(executable.kind, EXECUTABLE_X86_32);
    if (have("riscv64-linux-gnu-gcc")) {
        assert_true(run("riscv64-linux-gnu-gcc -static sample.c -o kind.rv"));
        assert_true(executable_identify(in_directory("kind.rv"), &executable, &error));
        assert_int_equal(executable.kind, EXECUTABLE_RISCV64);
    }
}

static void what_cannot_run_is_refused_with_the_reason(void **state) {
    (void)state;
    char long_line[400] = "#!/";
    memset(long_line + 3, 'x', sizeof long_line - 4);
    write_text("long", long_line, 0755);
    write_text("blank", "#!  \n", 0755);
    write_text("unrunnable", "#!/bin/sh\n", 0644);
    write_text("nothing", "", 0755);
    write_text("short", "\177ELF\2\1", 0755);
    assert_true(run("gcc -c sample.c -o object && chmod +x object && "
                    "head -c 100 sample > cut && chmod +x cut && mkfifo pipe"));
    check_error("absent", "No such file");
    check_error("", "directory");
    check_error("nothing", "empty");
    check_error("long", "too long");
    check_error("blank", "no interpreter");
    check_error("unrunnable", "not executable");
    check_error("short", "truncated");
    check_error("cut", "truncated");
    check_error("object", "object file");
    check_error("pipe", "not a regular file");
    if (geteuid() == 0) {
        print_message("running as root: unreadable files cannot be tested\n");
        return;
    }
    write_text("secret", "#!/bin/sh\n", 0111);
    check_error("secret", "permission denied");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unusable_images_have_a_note_and_a_number),
        cmocka_unit_test(executables_are_identified),
        cmocka_unit_test(what_cannot_run_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests_name("program files", tests, setup, teardown);
}
