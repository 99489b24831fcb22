/* Samples for tests of the program room, built by real compilers into a temporary directory; what
 * is found in them is compared with what their source says. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/program.h"
#include "temporary.h"

static char directory[TEMPORARY_BYTES];

static inline const char *in_directory(const char *name) {
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline void write_file(const char *name, const void *bytes, size_t size, mode_t mode) {
    const char *path = in_directory(name);
    unlink(path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static inline void write_text(const char *name, const char *text, mode_t mode) {
    write_file(name, text, strlen(text), mode);
}

/* Runs a shell command in the temporary directory; true when it succeeds. */
__attribute__((format(printf, 1, 2))) static inline bool run(const char *format, ...) {
    char command[1024];
    int length = snprintf(command, sizeof command, "cd %s && ", directory);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);
    return system(command) == 0;
}

static inline bool have(const char *tool) {
    if (run("command -v %s >/dev/null 2>&1", tool))
        return true;
    print_message("missing: %s\n", tool);
    return false;
}

/* Lines are counted by the tests: `square` is inlined into `sum_squares`, that into `work`. */
static const char c_sample[] = "static inline int square(int x) {\n"                    /* 1 */
                               "    return x * x + (x >> 3);\n"                         /* 2 */
                               "}\n"                                                    /* 3 */
                               "static inline int sum_squares(const int *v, int n) {\n" /* 4 */
                               "    int s = 0;\n"                                       /* 5 */
                               "    for (int i = 0; i < n; i++)\n"                      /* 6 */
                               "        s += square(v[i]);\n"                           /* 7 */
                               "    return s;\n"                                        /* 8 */
                               "}\n"                                                    /* 9 */
                               "__attribute__((noinline)) int work(const int *v, int n) {\n"
                               "    return sum_squares(v, n) + 1;\n" /* 11 */
                               "}\n"
                               "int puts(const char *);\n"
                               "int main(int argc, char **argv) {\n"
                               "    int v[4] = {argc, 2, 3, 4};\n"
                               "    puts(argv[0]);\n"
                               "    return work(v, 4);\n"
                               "}\n";

static inline int setup(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(directory, "program")))
        return -1;
    write_text("sample.c", c_sample, 0644);
    return run("gcc -g -O2 sample.c -o sample") ? 0 : -1;
}

static inline int teardown(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static inline uint32_t add(struct program *program, const char *name) {
    return program_add_image(program, in_directory(name), NULL, 0);
}

/* Checks `work` of the C sample in an image with DWARF: every instruction names it, and some
 * belong to square inlined into sum_squares inlined into work. */
static inline void check_sample(struct program *program, uint32_t image) {
    uint64_t offset, size;
    unsigned inlined = 0;
    assert_true(program_find_function(program, image, "work", &offset, &size));
    assert_true(size > 8 && size < 1000);
    for (uint64_t at = offset; at < offset + size; at++) {
        struct location location;
        assert_true(program_locate(program, image, at, &location));
        assert_string_equal(location.function, "work");
        assert_int_equal(location.function_offset, offset);
        assert_int_equal(location.function_size, size);
        assert_non_null(location.file);
        assert_string_equal(location.file, "sample.c");
        assert_in_range(location.line, 1, 12);
        assert_int_equal(location.function_line, 10);
        if (location.line == 2) {
            inlined++;
            assert_int_equal(location.inline_count, 2);
            assert_string_equal(location.inlined[0].function, "square");
            assert_string_equal(location.inlined[0].file, "sample.c");
            assert_int_equal(location.inlined[0].line, 7);
            assert_int_equal(location.inlined[0].function_line, 1);
            assert_string_equal(location.inlined[1].function, "sum_squares");
            assert_int_equal(location.inlined[1].line, 11);
            assert_int_equal(location.inlined[1].function_line, 4);
        }
    }
    assert_true(inlined > 4);
}
