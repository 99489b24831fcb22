/* What an image holds, and which functions it has: of a program that is built here with tables of
 * pointers, linked in each way that has its own relocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/program.h"
#include "temporary.h"
#include "util/little_endian.h"

static char directory[TEMPORARY_BYTES];

static const char SOURCE[] =
    "int puts(const char *);\n"
    "int first(void) { return 1; }\n"
    "int second(void) { return 2; }\n"
    "int (*const inner[])(void) = {first, second};\n"
    "int (*const outer)(const char *) = puts;\n"
    "unsigned char text[] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    "char zeros[100000];\n"
    "int main(void) { zeros[text[0]] = 1; return inner[1]() + outer(\"\"); }\n";

static const char *path_of(const char *name) {
    static char path[TEMPORARY_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static bool build(const char *flags, const char *name) {
    char command[1024];
    snprintf(command, sizeof command, "cd %s && gcc -O1 -fno-inline %s -o %s source.c 2>/dev/null",
             directory, flags, name);
    return system(command) == 0;
}

/* What nm says of a program: it is asked once for each. */
static const char *symbols_of(const char *name) {
    static char asked[32], symbols[1 << 16];
    char command[TEMPORARY_BYTES + 40];
    if (!strcmp(asked, name))
        return symbols;
    snprintf(asked, sizeof asked, "%s", name);
    snprintf(command, sizeof command, "nm %s", path_of(name));
    FILE *nm = popen(command, "r");
    assert_non_null(nm);
    symbols[fread(symbols, 1, sizeof symbols - 1, nm)] = 0;
    assert_int_equal(pclose(nm), 0);
    return symbols;
}

/* A line is `ADDRESS KIND NAME`. */
static uint64_t address_of(const char *name, const char *symbol) {
    char ending[64];
    snprintf(ending, sizeof ending, " %s\n", symbol);
    const char *symbols = symbols_of(name), *at = strstr(symbols, ending);
    assert_non_null(at);
    while (at > symbols && at[-1] != '\n')
        at--;
    const uint64_t address = strtoull(at, NULL, 16);
    assert_true(address > 0);
    return address;
}

static uint64_t pointer_at(struct program *program, uint32_t image, uint64_t address) {
    uint8_t bytes[8];
    assert_true(program_read(program, image, address, bytes, sizeof bytes));
    return get_u64(bytes);
}

static void check_pointers(const char *name, bool moves) {
    struct program *program = program_new();
    uint32_t image = program_add_image(program, path_of(name), NULL, 0);
    uint64_t inner = address_of(name, "inner"), first = address_of(name, "first");
    uint8_t bytes[16];
    assert_int_equal(pointer_at(program, image, inner), first);
    assert_int_equal(pointer_at(program, image, inner + 8), address_of(name, "second"));
    /* Parts of them, and both: bytes 2 to 5 of the first. */
    assert_true(program_read(program, image, inner + 2, bytes, 4));
    assert_int_equal(get_u32(bytes), (uint32_t)(first >> 16));
    assert_true(program_read(program, image, inner, bytes, 16));
    assert_int_equal(get_u64(bytes + 8), address_of(name, "second"));
    /* A pointer into another image is known when the program runs. */
    if (moves)
        assert_false(program_read(program, image, address_of(name, "outer"), bytes, 8));
    program_free(program);
}

static void pointers_read_as_linked(void **state) {
    (void)state;
    assert_true(build("-fPIE -pie", "moving"));
    check_pointers("moving", true);
    assert_true(build("-fno-pie -no-pie", "fixed"));
    check_pointers("fixed", false);
    if (build("-fPIE -pie -Wl,-z,pack-relative-relocs", "packed"))
        check_pointers("packed", true);
    else
        print_message("the linker does not pack relocations\n");
}

static void data_and_code_read_as_in_the_file(void **state) {
    (void)state;
    static const uint8_t TEXT[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct program *program = program_new();
    assert_true(build("-fPIE -pie", "plain"));
    uint32_t image = program_add_image(program, path_of("plain"), NULL, 0);
    uint8_t bytes[64], expected[64];
    assert_true(program_read(program, image, address_of("plain", "text"), bytes, sizeof TEXT));
    assert_memory_equal(bytes, TEXT, sizeof TEXT);
    uint64_t offset, size, address;
    assert_true(program_find_function(program, image, "main", &offset, &size));
    assert_true(size <= sizeof bytes);
    int file = open(path_of("plain"), O_RDONLY);
    assert_int_equal(pread(file, expected, size, (off_t)offset), size);
    close(file);
    assert_true(program_offset_to_address(program, image, offset, &address));
    assert_true(program_read(program, image, address, bytes, size));
    assert_memory_equal(bytes, expected, size);
    /* What is not in the file, in part or at all; no image. */
    assert_false(program_read(program, image, address_of("plain", "zeros") + 5000, bytes, 8));
    assert_false(program_read(program, image, UINT64_MAX - 3, bytes, 8));
    assert_false(program_read(program, image, address, bytes, SIZE_MAX));
    assert_false(program_read(program, image + 1, address, bytes, 8));
    program_free(program);
}

/* Objects by their symbols, also where the file has no bytes of them; else by their section. */
static void data_have_names(void **state) {
    (void)state;
    struct program *program = program_new();
    struct program_data data;
    assert_true(build("-fPIE -pie", "named"));
    const uint32_t image = program_add_image(program, path_of("named"), NULL, 0);
    const uint64_t zeros = address_of("named", "zeros"), main = address_of("named", "main");
    assert_true(program_locate_data(program, image, zeros + 99999, &data));
    assert_string_equal(data.symbol, "zeros");
    assert_string_equal(data.section, ".bss");
    assert_int_equal(data.offset, 99999);
    assert_int_equal(data.size, 100000);
    assert_true(program_locate_data(program, image, address_of("named", "text") + 3, &data));
    assert_string_equal(data.symbol, "text");
    assert_int_equal(data.offset, 3);
    assert_true(program_locate_data(program, image, main, &data));
    assert_null(data.symbol);
    assert_string_equal(data.section, ".text");
    assert_false(program_locate_data(program, image, UINT64_MAX, &data));
    assert_false(program_locate_data(program, image + 1, zeros, &data));
    program_free(program);
}

static void a_file_that_changed_is_not_read(void **state) {
    (void)state;
    struct program *program = program_new();
    assert_true(build("-fPIE -pie", "changing"));
    uint64_t text = address_of("changing", "text");
    uint32_t image = program_add_image(program, path_of("changing"), NULL, 0);
    uint8_t bytes[8];
    assert_int_equal(truncate(path_of("changing"), 1000), 0);
    assert_false(program_read(program, image, text, bytes, sizeof bytes));
    program_free(program);
}

struct visits {
    uint64_t last;
    unsigned count, most, named;
    bool first;
};

static bool visit(void *context, const struct program_function *function) {
    struct visits *visits = context;
    assert_true(visits->count == 0 || function->address > visits->last);
    assert_true(function->size > 0);
    visits->last = function->address;
    visits->named += function->name != NULL;
    if (function->name && !strcmp(function->name, "first")) {
        visits->first = true;
        assert_int_equal(function->address, address_of("visited", "first"));
    }
    return ++visits->count < visits->most;
}

static void each_function_is_visited_once(void **state) {
    (void)state;
    struct program *program = program_new();
    assert_true(build("-fno-pie -no-pie", "visited"));
    uint32_t image = program_add_image(program, path_of("visited"), NULL, 0);
    struct visits visits = {.most = 10000}, few = {.most = 2}, none = {.most = 10000};
    program_each_function(program, image, visit, &visits);
    assert_true(visits.first && visits.count > 5 && visits.named > 4);
    program_each_function(program, image, visit, &few);
    assert_int_equal(few.count, 2);
    program_each_function(program, image + 1, visit, &none);
    assert_int_equal(none.count, 0);
    program_free(program);
}

static int make_source(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(directory, "contents")))
        return -1;
    FILE *file = fopen(path_of("source.c"), "w");
    return !file || fputs(SOURCE, file) < 0 || fclose(file) != 0;
}

static int remove_directory(void **state) {
    (void)state;
    char command[TEMPORARY_BYTES + 16];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_read_as_linked),
        cmocka_unit_test(data_and_code_read_as_in_the_file),
        cmocka_unit_test(data_have_names),
        cmocka_unit_test(a_file_that_changed_is_not_read),
        cmocka_unit_test(each_function_is_visited_once),
    };
    return cmocka_run_group_tests(tests, make_source, remove_directory);
}
