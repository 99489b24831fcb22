/* Machine files that are wrong or hostile: one line that names file, line, key, value and what is
 * allowed; never a crash, a hang or a wrong machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "machine/machine.h"

#include "unit/machine_files.h"

static void messages_name_line_and_key(void **state) {
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"base = boom-tip\n[core]\nrob = 9999\n",
         ":3: [core] rob = 9999 (reorder buffer): allowed: 8 to 4096 µops, a whole number"},
        {"base = boom-tip\n\n[core]\nrobb = 64\n", ":4: no key robb in [core]; did you mean rob?"},
        {"[core]\nwidth = 4\n",
         ":2: no key width in [core]; keys: see 'culprit machines show zen4'"},
        {"[core]\n = 4\n", ":2: no key '' in [core]"},
        {"base = boom-tip\n[cores]\nrob = 64\n", ":3: no section [cores]; did you mean [core]?"},
        {"base = boom-tip\n[core]\nrob 64\n", ":3: neither [section], key = value nor ; comment"},
        {"base = boom-tip\n[core\nrob = 64\n", ":2: neither"},
        {"base = boom-tip\n  [core]\n  rob = 64\n  rob = 65\n", ":4: [core] rob: given twice"},
        {"base = boom-tip\n[core]\n; a\nrob = 0x40 ; hexadecimal\n", ":4: [core] rob = 0x40"},
        {"[core]\nrob = 64\nbase = boom-tip\n", ":3: no key base in [core]"},
        {"name = x\nbase = boom-tip\n", ":2: base = boom-tip: must come before every other key"},
        {"base = boom-tipp\n",
         ":1: base = boom-tipp: no machine boom-tipp; did you mean boom-tip?"},
        {"base = ../nowhere/x\n", ":1: base = ../nowhere/x: "},
        {"base = boom-tip\n[class.int_alv]\npool = alu\n",
         ":3: [class.int_alv]: no operation class int_alv; did you mean int_alu?"},
        {"base = boom-tip\n[pool.alu]\nqueue = itn\n", "[pool.alu] queue = itn: no such queue"},
        {"base = boom-tip\n[queue.int]\nentries = 0\n", "[pool.alu] queue = int: no such queue"},
        {"base = boom-tip\n[queue.a]\nissue = 1\n[queue.b]\nissue = 1\n", "at most 4 queues"},
        {"name = x\n", "[class.int_alu] pool: not given, and there are no pools; a file that"},
        {"", "begins with 'base = NAME' gives only what differs from that machine"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = write_text("wrong", cases[i].text), *message = load_error(path);
        if (strncmp(message, path, strlen(path)) || !strstr(message, cases[i].message))
            fail_msg("case %zu: %s", i, message);
    }
}

static void unknown_names(void **state) {
    (void)state;
    assert_non_null(strstr(load_error("boom-te"), "no machine boom-te; did you mean boom-tea?"));
    assert_non_null(strstr(load_error("nothing-like-it"), "machines: alpha21164, boom-simpoint"));
    assert_non_null(strstr(load_error(""), "no machine"));
    assert_non_null(strstr(load_error("/nowhere/x.ini"), "No such file or directory"));
}

static void bases_that_never_end(void **state) {
    (void)state;
    write_text("a", "base = b\n");
    write_text("b", "base = c\n");
    assert_non_null(
        strstr(load_error(write_text("c", "base = a\n")), "machine c would be its own base"));
    assert_non_null(strstr(load_error(write_text("self", "base = self\n")),
                           "machine self would be its own base"));
    assert_non_null(strstr(load_error(write_text("itself", "base = ./itself.ini\n")),
                           "the machine would be its own base"));
    assert_non_null(strstr(load_error(write_text("lost", "base = ./nowhere.ini\n")),
                           "nowhere.ini: No such file or directory"));
    for (int i = 0; i < 20; i++) {
        char name[16], text[32];
        snprintf(name, sizeof name, "deep%d", i);
        snprintf(text, sizeof text, "base = deep%d\n", i + 1);
        write_text(name, text);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/deep0.ini", directory);
    assert_non_null(strstr(load_error(path), "more than 8 machines in a chain of bases"));
}

static void what_is_no_text_file(void **state) {
    (void)state;
    assert_non_null(strstr(load_error("/dev/zero"), "not a regular file"));
    assert_non_null(strstr(load_error("/"), "not a regular file"));
    char path[128];
    snprintf(path, sizeof path, "%s/pipe.ini", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_non_null(strstr(load_error(path), "not a regular file"));

    static char big[200000];
    memset(big, '\n', sizeof big);
    assert_non_null(strstr(load_error(write_bytes("big", big, sizeof big)), "larger than 64 KiB"));
    memset(big, 'x', 60000);
    assert_non_null(strstr(load_error(write_bytes("line", big, 60000)), ":1: line longer than"));
    assert_non_null(strstr(load_error(write_bytes("zero", "name = \0x\n", 10)), "zero byte"));
    for (int i = 0; i < 4096; i++)
        big[i] = (char)(i * 2654435761u >> 13);
    load_error(write_bytes("binary", big, 4096));
}

/* As many keys and sections as fit, all of them acceptable by themselves. */
static void many_sections(void **state) {
    (void)state;
    static char text[60000];
    size_t length = 0;
    for (int i = 0; i < 2000; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "[pool.p%d]\nunits = 1\n", i);
    assert_non_null(strstr(load_error(write_text("pools", text)), "too many pools"));
}

/* Every byte of `name` changed in turn: a machine that passes the check, or an error of a line. */
static void flip_bytes(const char *name, uint8_t change) {
    char path[256], flipped[64], bytes[1 << 14];
    struct error error = {0};
    assert_true(machine_find(name, path, sizeof path, &error));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, 100, sizeof bytes - 1);
    int memory = memfd_create("flipped", 0);
    assert_true(memory >= 0);
    assert_int_equal(pwrite(memory, bytes, size, 0), size);
    snprintf(flipped, sizeof flipped, "/proc/self/fd/%d", memory);
    static struct machine machine;
    for (size_t i = 0; i < size; i++) {
        char byte = (char)(bytes[i] ^ change);
        assert_int_equal(pwrite(memory, &byte, 1, (off_t)i), 1);
        error.message[0] = 0;
        if (machine_load(flipped, &machine, &error))
            assert_true(machine_check(&machine, &error));
        else
            assert_true(error.message[0] && !strpbrk(error.message, "\n\r\x1b"));
        assert_int_equal(pwrite(memory, &bytes[i], 1, (off_t)i), 1);
    }
    close(memory);
}

static void flipped_bytes(void **state) {
    (void)state;
    flip_bytes("boom-tea", 0x01);
    flip_bytes("boom-tea", 0x10);
    flip_bytes("boom-tea", 0x80);
    flip_bytes("fields2004", 0x1e);
}

/* How far programs were from a processor holds of the machine itself: not of one that has it as
 * base, nor of one with another figure. */
static void what_was_checked_is_this_machine(void **state) {
    (void)state;
    struct machine first, derived;
    struct error error;
    assert_true(machine_load(write_text("checked-first", "base = boom-tip\nchecked = 9 programs\n"),
                             &first, &error));
    assert_string_equal(first.checked, "9 programs");
    assert_true(machine_load(
        write_text("checked-derived", "base = ./checked-first.ini\n[core]\nrob = 64\n"), &derived,
        &error));
    assert_string_equal(derived.checked, "");
    assert_true(machine_set(&derived, "checked=of its own", &error));
    assert_string_equal(derived.checked, "of its own");
    assert_false(machine_set(&first, "core.rob=1", &error));
    assert_string_equal(first.checked, "9 programs");
    assert_true(machine_set(&first, "core.rob=64", &error));
    assert_string_equal(first.checked, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_line_and_key),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(bases_that_never_end),
        cmocka_unit_test(what_is_no_text_file),
        cmocka_unit_test(many_sections),
        cmocka_unit_test(flipped_bytes),
        cmocka_unit_test(what_was_checked_is_this_machine),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
