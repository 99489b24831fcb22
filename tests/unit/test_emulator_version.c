/* The version of an emulator: out of its file, by its answer, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "temporary.h"
#include "trace/qemu/emulator_version.h"

static const char QEMU[] = "qemu-x86_64";

static void assert_version(const char *bytes, size_t size, const char *wanted) {
    char path[TEMPORARY_BYTES], version[EMULATOR_VERSION_BYTES] = "";
    int file = mkstemp(temporary_name(path, "emulator"));
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(fchmod(file, 0700), 0);
    close(file);
    emulator_version(path, QEMU, version);
    unlink(path);
    assert_string_equal(version, wanted);
}

static void assert_version_of(const char *text, const char *wanted) {
    assert_version(text, strlen(text), wanted);
}

static void its_file_has_it(void **state) {
    (void)state;
    static const char BYTES[] = "\177ELF\0a version 1\0qemu-x86_64 version 7.2.22 (Debian)\n\0";
    assert_version(BYTES, sizeof BYTES, "qemu 7.2.22");
    assert_version_of("qemu-x86_64 version 10.0", "qemu 10.0"); /* to the end of the file */
    assert_version_of("qemu-riscv64 version 10.0", "qemu");
}

/* The script's own text lacks the words. */
static void it_answers(void **state) {
    (void)state;
    assert_version_of(
        "#!/bin/sh\n[ \"$1\" = --version ] && printf 'qemu-%s version 8.1\\n' x86_64\n",
        "qemu 8.1");
}

static void it_does_not_say(void **state) {
    (void)state;
    char long_line[400] = "#!/bin/sh\nprintf %0300d 1\n";
    assert_version_of(long_line, "qemu");
    assert_version_of("#!/bin/sh\nexit 1\n", "qemu");
    assert_version_of("qemu-x86_64 version ", "qemu");
    assert_version_of("", "qemu");
    char version[EMULATOR_VERSION_BYTES];
    emulator_version("/no/such/emulator", QEMU, version);
    assert_string_equal(version, "qemu");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_file_has_it),
        cmocka_unit_test(it_answers),
        cmocka_unit_test(it_does_not_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
