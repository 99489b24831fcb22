/* Damaged ELF files: a small program with DWARF, every byte of it changed in turn, cut at many
 * lengths, and overwritten at random places with absurd numbers. Whatever is left, an image gives a
 * note or names that hold together, never a crash, and in time. Run it under SANITIZE=1 too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/program.h"
#include "temporary.h"

enum { LOOKUPS = 24, PROBE_SECONDS_MAX = 120 };

static char directory[TEMPORARY_BYTES];
static int file; /* the damaged copy, in memory */
static char path[64];

static const char sample[] =
    "static inline int square(int x) { return x * x + (x >> 3); }\n"
    "static inline int sum(const int *v, int n) {\n"
    "    int s = 0; for (int i = 0; i < n; i++) s += square(v[i]); return s; }\n"
    "__attribute__((noinline)) int work(const int *v, int n) { return sum(v, n) + 1; }\n"
    "void _start(void) { int v[] = {1, 2, 3, 4}; work(v, 4); __builtin_trap(); }\n";

/* Each is built small: a few kilobytes, so that every byte can have its turn. */
static const char *const builds[] = {
    "gcc $flags -gdwarf-5 sample.c -o elf",
    "gcc $flags -gdwarf-4 -gz sample.c -o elf",
    "gcc $flags -fPIC -shared -gdwarf-4 sample.c -o elf",
    ("gcc $flags sample.c -o elf && xz -kf elf && strip elf && "
     "objcopy --add-section .gnu_debugdata=elf.xz elf"),
};

static bool run(const char *command) {
    char line[1024];
    snprintf(line, sizeof line,
             "cd %s && flags='-O2 -nostdlib -nostartfiles -static -Wl,-z,noseparate-code' && %s",
             directory, command);
    return system(line) == 0;
}

static int setup(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(directory, "program-hostile")) ||
        (file = memfd_create("elf", MFD_CLOEXEC)) < 0 || fchmod(file, 0755))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    char source[256];
    snprintf(source, sizeof source, "%s/sample.c", directory);
    FILE *stream = fopen(source, "w");
    if (!stream)
        return -1;
    fputs(sample, stream);
    return fclose(stream);
}

static int teardown(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

/* Asks everything of the file as it is now; true when the function `work` is still found. */
static bool probe(void) {
    alarm(PROBE_SECONDS_MAX);
    struct program *program = program_new();
    uint32_t image = program_add_image(program, path, NULL, 0);
    const char *note = program_image_note(program, image);
    assert_true(!note || (note[0] && !strchr(note, '\n')));
    for (uint64_t i = 0; i < LOOKUPS; i++) {
        struct location location;
        uint64_t address;
        bool found = program_locate(program, image, 0x100 + i * 0x30, &location);
        assert_int_equal(found, location.function != NULL);
        struct program_data data;
        if (program_locate_data(program, image, i * 0x300, &data))
            assert_true(data.section && data.offset < data.size);
        assert_true(!found || location.function_size);
        assert_true(location.file || !location.line);
        assert_in_range(location.inline_count, 0, LOCATION_MAX_INLINE);
        for (uint32_t k = 0; k < location.inline_count; k++)
            assert_non_null(location.inlined[k].function);
        if (location.function_size)
            assert_true(
                program_offset_to_address(program, image, location.function_offset, &address));
    }
    uint64_t offset, size;
    bool found_work = program_find_function(program, image, "work", &offset, &size);
    assert_true(!found_work || size);
    assert_false(program_find_function(program, image, "no such function", &offset, &size));
    program_free(program);
    struct executable executable;
    struct error error = {0};
    if (!executable_identify(path, &executable, &error))
        assert_true(error.message[0] && !strchr(error.message, '\n'));
    return found_work;
}

/* Builds one of the samples and reads it. */
static uint8_t *build(const char *command, size_t *size) {
    char name[256];
    struct stat status;
    assert_true(run(command));
    snprintf(name, sizeof name, "%s/elf", directory);
    int built = open(name, O_RDONLY);
    assert_true(built >= 0 && !fstat(built, &status));
    *size = (size_t)status.st_size;
    uint8_t *bytes = malloc(*size);
    assert_int_equal(read(built, bytes, *size), *size);
    close(built);
    return bytes;
}

static void store(const uint8_t *bytes, size_t size) {
    assert_int_equal(ftruncate(file, (off_t)size), 0);
    assert_int_equal(pwrite(file, bytes, size, 0), size);
}

static void every_byte_changed(void **state) {
    (void)state;
    static const uint8_t flips[] = {0xff, 0x01}; /* in turn */
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        size_t size;
        uint8_t *bytes = build(builds[i], &size);
        store(bytes, size);
        assert_true(probe());
        for (size_t at = 0; at < size; at++) {
            uint8_t changed = bytes[at] ^ flips[at % sizeof flips];
            assert_int_equal(pwrite(file, &changed, 1, (off_t)at), 1);
            probe();
            assert_int_equal(pwrite(file, &bytes[at], 1, (off_t)at), 1);
        }
        free(bytes);
    }
}

static void cut_at_many_lengths(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        size_t size;
        uint8_t *bytes = build(builds[i], &size);
        for (size_t length = 0; length < size; length += length < 128 ? 1 : 13) {
            store(bytes, length);
            probe();
        }
        free(bytes);
    }
}

static uint64_t random_next(uint64_t *state) { /* xorshift64 */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void absurd_numbers_at_random_places(void **state) {
    (void)state;
    uint64_t random = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        size_t size;
        uint8_t *bytes = build(builds[i], &size);
        for (unsigned round = 0; round < 2000; round++) {
            store(bytes, size);
            for (uint64_t count = 1 + random_next(&random) % 8; count; count--) {
                size_t width = (size_t)1 << random_next(&random) % 4;
                off_t at = (off_t)(random_next(&random) % (size - width));
                uint64_t kind = random_next(&random) % 3, value = random_next(&random);
                if (kind == 0)
                    value = 0;
                else if (kind == 1)
                    value = UINT64_MAX >> value % 64;
                assert_int_equal(pwrite(file, &value, width, at), width);
            }
            probe();
        }
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_changed),
        cmocka_unit_test(cut_at_many_lengths),
        cmocka_unit_test(absurd_numbers_at_random_places),
    };
    return cmocka_run_group_tests_name("program, hostile files", tests, setup, teardown);
}
