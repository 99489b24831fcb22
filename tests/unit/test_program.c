/* The program room against real compilers: samples are built into a temporary directory, and what
 * is found is compared with what the sample's source says. */
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

#include "program/demangle.h"
#include "program/program.h"
#include "program/span.h"
#include "temporary.h"

static char directory[TEMPORARY_BYTES];

static const char *in_directory(const char *name) {
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size, mode_t mode) {
    const char *path = in_directory(name);
    unlink(path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

static void write_text(const char *name, const char *text, mode_t mode) {
    write_file(name, text, strlen(text), mode);
}

/* Runs a shell command in the temporary directory; true when it succeeds. */
__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...) {
    char command[1024];
    int length = snprintf(command, sizeof command, "cd %s && ", directory);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);
    return system(command) == 0;
}

static bool have(const char *tool) {
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

static int setup(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(directory, "program")))
        return -1;
    write_text("sample.c", c_sample, 0644);
    return run("gcc -g -O2 sample.c -o sample") ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static uint32_t add(struct program *program, const char *name) {
    return program_add_image(program, in_directory(name), NULL, 0);
}

/* Checks `work` of the C sample in an image with DWARF: every instruction names it, and some
 * belong to square inlined into sum_squares inlined into work. */
static void check_sample(struct program *program, uint32_t image) {
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

static void c_program_has_functions_lines_and_inlined_callers(void **state) {
    (void)state;
    struct program *program = program_new();
    uint32_t image = add(program, "sample");
    assert_int_equal(add(program, "sample"), image);
    assert_null(program_image_note(program, image));
    assert_string_equal(program_image_name(program, image), "sample");
    assert_string_equal(program_image_path(program, image), in_directory("sample"));
    check_sample(program, image);
    uint64_t offset, size, address, back;
    struct location location;
    assert_true(program_find_function(program, image, "puts@plt", &offset, &size));
    assert_int_equal(size, 16);
    assert_true(program_locate(program, image, offset + 7, &location));
    assert_string_equal(location.function, "puts@plt");
    assert_true(program_find_function(program, image, "main", &offset, &size));
    assert_true(program_offset_to_address(program, image, offset, &address));
    assert_true(program_address_to_offset(program, image, address, &back));
    assert_int_equal(back, offset);
    assert_false(program_offset_to_address(program, image, UINT64_MAX, &address));
    assert_false(program_find_function(program, image, "wor", &offset, &size));
    assert_false(program_locate(program, image + 1, offset, &location));
    program_free(program);
}

static void source_paths_are_relative_to_the_compilation_directory_only_inside(void **state) {
    (void)state;
    assert_true(run("mkdir -p in/deep out && cp sample.c in/deep && cd out && "
                    "gcc -g -O2 ../in/deep/sample.c -o outside && cd ../in && "
                    "gcc -g -O2 %s/in/deep/sample.c -o inside",
                    directory));
    struct program *program = program_new();
    struct location location;
    uint64_t offset, size;
    uint32_t inside = add(program, "in/inside"), outside = add(program, "out/outside");
    assert_true(program_find_function(program, inside, "work", &offset, &size));
    assert_true(program_locate(program, inside, offset, &location));
    assert_string_equal(location.file, "deep/sample.c");
    assert_true(program_find_function(program, outside, "work", &offset, &size));
    assert_true(program_locate(program, outside, offset, &location));
    assert_string_equal(location.file, "../in/deep/sample.c");
    program_free(program);
}

static void every_kind_of_dwarf_is_read(void **state) {
    (void)state;
    assert_true(run("gcc -gdwarf-3 -gno-column-info -O2 sample.c -o dwarf3 && "
                    "gcc -gdwarf-4 -gz -O2 sample.c -o compressed && "
                    "gcc -g -gsplit-dwarf -O2 sample.c -o split"));
    struct program *program = program_new();
    check_sample(program, add(program, "dwarf3"));
    check_sample(program, add(program, "compressed"));
    check_sample(program, add(program, "split"));
    program_free(program);
    if (!have("clang"))
        skip();
    assert_true(run("clang -g -O1 -fno-vectorize -fno-unroll-loops sample.c -o clang"));
    program = program_new();
    struct location location;
    uint64_t offset, size;
    uint32_t image = add(program, "clang");
    assert_true(program_find_function(program, image, "work", &offset, &size));
    assert_true(program_locate(program, image, offset, &location));
    assert_string_equal(location.file, "sample.c");
    program_free(program);
}

static void of_deep_inlining_the_innermost_frames_are_given(void **state) {
    (void)state;
    write_text("deep.c",
               "#define LEVEL(n, inner) static inline __attribute__((always_inline)) \\\n"
               "    int level##n(int x) { return inner(x) + 1; }\n"
               "__attribute__((noinline)) int leaf(int x) { return x ^ 5; }\n"
               "LEVEL(0, leaf) LEVEL(1, level0) LEVEL(2, level1) LEVEL(3, level2)\n"
               "LEVEL(4, level3) LEVEL(5, level4) LEVEL(6, level5) LEVEL(7, level6)\n"
               "LEVEL(8, level7) LEVEL(9, level8)\n"
               "__attribute__((noinline)) int deep(int x) { return level9(x); }\n"
               "int main(int c, char **v) { (void)v; return deep(c); }\n",
               0644);
    assert_true(run("gcc -g -O2 -fno-ipa-cp -fno-ipa-icf -fno-ipa-ra deep.c -o deep"));
    struct program *program = program_new();
    uint32_t image = add(program, "deep");
    uint64_t offset, size;
    bool seen = false;
    assert_true(program_find_function(program, image, "deep", &offset, &size));
    for (uint64_t at = offset; at < offset + size; at++) {
        struct location location;
        assert_true(program_locate(program, image, at, &location));
        assert_string_equal(location.function, "deep");
        if (!location.inline_count || strcmp(location.inlined[0].function, "level0"))
            continue;
        seen = true;
        assert_int_equal(location.inline_count, LOCATION_MAX_INLINE);
        assert_string_equal(location.inlined[7].function, "level7");
    }
    assert_true(seen);
    program_free(program);
}

static void of_functions_of_one_name_the_global_one_is_found(void **state) {
    (void)state;
    assert_true(run("echo '__attribute__((noinline)) static int twin(int x) { return x * 7; }"
                    " int caller(int x) { return twin(x); }' > local.c && "
                    "echo 'int caller(int); __attribute__((noinline)) int twin(int x)"
                    " { return x * 9 + 1; } int main(int c, char **v)"
                    " { (void)v; return twin(c) + caller(c); }' > global.c && "
                    "gcc -O1 local.c global.c -o twins && nm twins | grep -q ' t twin'"));
    struct program *program = program_new();
    uint32_t image = add(program, "twins");
    uint64_t offset, address, size;
    char expected[64];
    assert_true(program_find_function(program, image, "twin", &offset, &size));
    assert_true(program_offset_to_address(program, image, offset, &address));
    snprintf(expected, sizeof expected, "nm twins | grep -q '%016llx T twin'",
             (unsigned long long)address);
    assert_true(run("%s", expected));
    program_free(program);
}

static void riscv64_programs_are_read_without_running(void **state) {
    (void)state;
    if (!have("riscv64-linux-gnu-gcc"))
        skip();
    assert_true(run("riscv64-linux-gnu-gcc -g -O2 -static sample.c -o static.rv && "
                    "riscv64-linux-gnu-gcc -g -O2 sample.c -o dynamic.rv"));
    struct program *program = program_new();
    uint32_t image = add(program, "static.rv");
    check_sample(program, image);
    uint64_t offset, size;
    assert_true(program_find_function(program, image, "malloc", &offset, &size));
    image = add(program, "dynamic.rv");
    check_sample(program, image);
    assert_true(program_find_function(program, image, "puts@plt", &offset, &size));
    program_free(program);
}

static void stripped_code_keeps_the_extent_of_its_functions(void **state) {
    (void)state;
    assert_true(run("strip -o stripped sample"));
    struct program *program = program_new();
    uint32_t full = add(program, "sample"), stripped = add(program, "stripped");
    assert_non_null(strstr(program_image_note(program, stripped), "stripped"));
    uint64_t offset, size;
    struct location location;
    assert_true(program_find_function(program, full, "work", &offset, &size));
    assert_false(program_locate(program, stripped, offset + size - 1, &location));
    assert_null(location.function);
    assert_int_equal(location.function_offset, offset);
    assert_int_equal(location.function_size, size);
    assert_null(location.file);
    assert_int_equal(location.inline_count, 0);
    assert_true(program_find_function(program, stripped, "puts@plt", &offset, &size));
    program_free(program);
}

/* Without section headers the program headers still lead to the unwind tables. */
static void code_without_section_headers_keeps_the_extent_of_its_functions(void **state) {
    (void)state;
    assert_true(run("strip -o bare sample"));
    int file = open(in_directory("bare"), O_RDWR);
    assert_true(file >= 0);
    const uint8_t none[8] = {0};
    assert_int_equal(pwrite(file, none, 8, 40), 8); /* e_shoff */
    assert_int_equal(pwrite(file, none, 4, 60), 4); /* e_shnum, e_shstrndx */
    close(file);
    struct program *program = program_new();
    uint32_t full = add(program, "sample"), bare = add(program, "bare");
    assert_true(program_image_is_stripped(program, bare));
    uint64_t offset, size;
    struct location location;
    assert_true(program_find_function(program, full, "work", &offset, &size));
    assert_false(program_locate(program, bare, offset + size - 1, &location));
    assert_int_equal(location.function_offset, offset);
    assert_int_equal(location.function_size, size);
    program_free(program);
}

/* Statically linked and position-independent, or C++: the extents are the same as with symbols. */
static void stripped_code_of_other_kinds_keeps_extents_too(void **state) {
    (void)state;
    write_text("part.cc",
               "#include <cstdio>\nstruct A { virtual int f(int); };\n"
               "__attribute__((noinline)) int A::f(int x) { if (x < 0) throw x; return x * 3; }\n"
               "int main(int n, char **) { A a; try { return a.f(n); } catch (int) { return 1; } "
               "}\n",
               0644);
    assert_true(run("gcc -O2 -static-pie sample.c -o kind0 && g++ -O2 part.cc -o kind1"));
    static const char *const names[] = {"work", "A::f"};
    for (int i = 0; i < 2; i++) {
        char name[16], bare[16];
        snprintf(name, sizeof name, "kind%d", i);
        snprintf(bare, sizeof bare, "bare%d", i);
        assert_true(run("strip -o %s %s", bare, name));
        struct program *program = program_new();
        uint32_t full = add(program, name), stripped = add(program, bare);
        assert_false(program_image_is_stripped(program, full));
        assert_true(program_image_is_stripped(program, stripped));
        uint64_t offset, size;
        struct location location;
        assert_true(program_find_function(program, full, names[i], &offset, &size));
        program_locate(program, stripped, offset + size - 1, &location);
        assert_int_equal(location.function_offset, offset);
        assert_int_equal(location.function_size, size);
        program_free(program);
    }
}

static void files_that_debuginfod_fetched_are_found(void **state) {
    (void)state;
    assert_true(run("gcc -g -O2 -Wl,--build-id=0xabcdef0123456789 sample.c -o far && "
                    "mkdir -p cache/abcdef0123456789 && "
                    "objcopy --only-keep-debug far cache/abcdef0123456789/debuginfo && strip far"));
    assert_int_equal(setenv("DEBUGINFOD_CACHE_PATH", in_directory("cache"), 1), 0);
    struct program *program = program_new();
    uint32_t image = add(program, "far");
    assert_null(program_image_note(program, image));
    assert_false(program_image_is_stripped(program, image));
    check_sample(program, image);
    program_free(program);
    unsetenv("DEBUGINFOD_CACHE_PATH");
}

static const char go_sample[] = "package main\n"                        /* 1 */
                                "\n"                                    /* 2 */
                                "type list []int\n"                     /* 3 */
                                "\n"                                    /* 4 */
                                "//go:noinline\n"                       /* 5 */
                                "func (l *list) sum(n int) (s int) {\n" /* 6 */
                                "\tfor i, x := range *l {\n"            /* 7 */
                                "\t\ts += x * n / (i + 1)\n"            /* 8 */
                                "\t}\n"                                 /* 9 */
                                "\treturn\n"                            /* 10 */
                                "}\n"                                   /* 11 */
                                "\n"                                    /* 12 */
                                "func main() {\n"                       /* 13 */
                                "\tl := list{1, 2, 3}\n"                /* 14 */
                                "\tprintln(l.sum(2))\n"                 /* 15 */
                                "}\n";

/* A stripped Go program still has its table: the same names, extents and lines. */
static void stripped_go_programs_have_names_and_lines(void **state) {
    (void)state;
    if (!have("go"))
        skip();
    write_text("sample.go", go_sample, 0644);
    assert_true(run("GOCACHE=$PWD/gocache GO111MODULE=off CGO_ENABLED=0 go build -o full.go.bin "
                    "sample.go && GOCACHE=$PWD/gocache GO111MODULE=off CGO_ENABLED=0 go build "
                    "-ldflags='-s -w' -o bare.go.bin sample.go"));
    struct program *program = program_new();
    uint32_t images[] = {add(program, "full.go.bin"), add(program, "bare.go.bin")};
    assert_false(program_image_is_stripped(program, images[1]));
    assert_null(program_image_note(program, images[1]));
    for (int i = 0; i < 2; i++) {
        uint64_t offset, size;
        unsigned lines = 0;
        struct location location;
        assert_true(program_find_function(program, images[i], "main.(*list).sum", &offset, &size));
        assert_true(size > 16 && size < 1000);
        for (uint64_t at = offset; at < offset + 16; at++) {
            assert_true(program_locate(program, images[i], at, &location));
            assert_string_equal(location.function, "main.(*list).sum");
            assert_int_equal(location.function_offset, offset);
            assert_non_null(location.file);
            assert_non_null(strstr(location.file, "sample.go"));
            assert_in_range(location.line, 6, 11);
            lines |= 1u << location.line;
        }
        assert_true(lines & 1u << 7);
    }
    program_free(program);
}

/* Wherever the table is damaged, there are fewer names, and nothing worse. */
static void damaged_go_tables_are_survived(void **state) {
    (void)state;
    if (!have("go"))
        skip();
    int file = open(in_directory("bare.go.bin"), O_RDWR);
    uint8_t bytes[4096];
    off_t at = 0;
    static const uint8_t magic[][6] = {{0xf0, 0xff, 0xff, 0xff, 0, 0},
                                       {0xf1, 0xff, 0xff, 0xff, 0, 0}};
    bool found = false;
    for (; !found && pread(file, bytes, 32, at) == 32; at += found ? 0 : 32)
        found = !memcmp(bytes, magic[0], 6) || !memcmp(bytes, magic[1], 6);
    assert_true(found && pread(file, bytes, sizeof bytes, at) == sizeof bytes);
    srand(1);
    for (int i = 0; i < 60; i++) {
        uint8_t changed[sizeof bytes];
        memcpy(changed, bytes, sizeof bytes);
        size_t reach = i < 40 ? 72 : sizeof bytes; /* the header, then all */
        for (int k = 0; k < 1 + i % 3; k++)
            changed[(size_t)rand() % reach] = (uint8_t)rand();
        assert_int_equal(pwrite(file, changed, sizeof changed, at), sizeof changed);
        struct program *program = program_new();
        uint32_t image = add(program, "bare.go.bin");
        for (uint64_t offset = 0x1000; offset < 0x80000; offset += 0x333) {
            struct location location;
            program_locate(program, image, offset, &location);
        }
        program_free(program);
    }
    close(file);
}

static void separate_debug_files_are_found_and_checked(void **state) {
    (void)state;
    assert_true(run("objcopy --only-keep-debug sample linked.debug && mkdir -p .debug && "
                    "strip -o linked sample && "
                    "objcopy --add-gnu-debuglink=linked.debug linked && mv linked.debug .debug/"));
    struct program *program = program_new();
    uint32_t image = add(program, "linked");
    assert_null(program_image_note(program, image));
    check_sample(program, image);
    program_free(program);
    /* Without a build id the checksum decides. */
    assert_true(run("gcc -g -O2 -Wl,--build-id=none sample.c -o summed && "
                    "objcopy --only-keep-debug summed summed.debug && strip summed && "
                    "objcopy --add-gnu-debuglink=summed.debug summed"));
    program = program_new();
    check_sample(program, add(program, "summed"));
    program_free(program);
    assert_true(run("printf x >> summed.debug"));
    program = program_new();
    assert_non_null(program_image_note(program, add(program, "summed")));
    program_free(program);
    /* Another program's debug file under the right name. */
    assert_true(run("gcc -g -O1 sample.c -o other && "
                    "objcopy --only-keep-debug other .debug/linked.debug"));
    program = program_new();
    assert_non_null(program_image_note(program, add(program, "linked")));
    program_free(program);
}

static void compressed_symbol_tables_are_read(void **state) {
    (void)state;
    if (!have("xz"))
        skip();
    assert_true(run("objcopy -S --remove-section .gdb_index --remove-section .comment "
                    "--keep-symbol work sample mini && xz -k mini && strip -o minified sample && "
                    "objcopy --add-section .gnu_debugdata=mini.xz minified"));
    struct program *program = program_new();
    uint32_t image = add(program, "minified");
    uint64_t offset, size;
    struct location location;
    assert_null(program_image_note(program, image));
    assert_true(program_find_function(program, image, "work", &offset, &size));
    assert_true(program_locate(program, image, offset, &location));
    assert_string_equal(location.function, "work");
    program_free(program);
}

static void shared_libraries_are_named_by_their_dynamic_symbols(void **state) {
    (void)state;
    write_text("library.c",
               "#include <string.h>\n"
               "__attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
               "int __exported_really(int x) { return hidden(x) + hidden(x + 1); }\n"
               "int exported(int x) __attribute__((alias(\"__exported_really\")));\n"
               "__asm__(\".text\\n.globl unsized\\nunsized: nop; nop; ret\\n\"\n"
               "        \".globl last\\nlast: nop; ret\\n\");\n",
               0644);
    assert_true(run("gcc -O2 -fPIC -shared library.c -o library.so && strip library.so"));
    struct program *program = program_new();
    uint32_t image = add(program, "library.so");
    uint64_t offset, size, real_offset, last_offset;
    struct location location;
    assert_true(program_find_function(program, image, "exported", &offset, &size));
    assert_true(program_find_function(program, image, "__exported_really", &real_offset, &size));
    assert_int_equal(offset, real_offset);
    assert_true(program_locate(program, image, offset + 1, &location));
    assert_string_equal(location.function, "exported");
    assert_true(program_find_function(program, image, "unsized", &offset, &size));
    assert_true(program_find_function(program, image, "last", &last_offset, &size));
    assert_int_equal(last_offset, offset + 3);
    assert_true(program_locate(program, image, offset + 2, &location));
    assert_string_equal(location.function, "unsized");
    assert_int_equal(location.function_size, 3);
    program_free(program);
}

static void the_c_library_names_its_functions(void **state) {
    (void)state;
    static const char path[] = "/lib/x86_64-linux-gnu/libc.so.6";
    if (access(path, R_OK)) {
        print_message("missing: %s\n", path);
        skip();
    }
    struct program *program = program_new();
    uint32_t image = program_add_image(program, path, NULL, 0);
    static const char *const names[] = {"memcpy", "malloc", "qsort", "puts", "strlen"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t offset, size;
        struct location location;
        assert_true(program_find_function(program, image, names[i], &offset, &size));
        assert_true(program_locate(program, image, offset, &location));
        assert_non_null(location.function);
        assert_int_not_equal(location.function[0], '_');
    }
    program_free(program);
}

static void cplusplus_names_are_demangled(void **state) {
    (void)state;
    write_text("sample.cc",
               "namespace app {\n"
               "struct box { int v; int get(int) const __attribute__((noinline)); };\n"
               "inline int twice(int x) { return x * 2 + (x >> 1); }\n"
               "int box::get(int n) const { return twice(v) ^ n; }\n"
               "template <class T> __attribute__((noinline)) T pick(T a, T b) {\n"
               "  return a > b ? a : b; }\n"
               "}\n"
               "int main(int c, char **) { return app::box{c}.get(3) + app::pick(c, 4); }\n",
               0644);
    assert_true(run("g++ -g -O2 -fno-ipa-cp -fno-ipa-sra -fno-ipa-icf sample.cc -o cc"));
    struct program *program = program_new();
    uint32_t image = add(program, "cc");
    uint64_t offset, size, other;
    struct location location;
    assert_true(program_find_function(program, image, "app::box::get", &offset, &size));
    assert_true(program_find_function(program, image, "_ZNK3app3box3getEi", &other, &size));
    assert_int_equal(offset, other);
    bool inlined = false;
    for (uint64_t at = offset; at < offset + size; at++) {
        assert_true(program_locate(program, image, at, &location));
        assert_string_equal(location.function, "app::box::get(int) const");
        if (location.inline_count) {
            inlined = true;
            assert_string_equal(location.inlined[0].function, "app::twice(int)");
            assert_int_equal(location.inlined[0].line, 4);
        }
    }
    assert_true(inlined);
    assert_true(program_find_function(program, image, "int app::pick<int>", &offset, &size));
    program_free(program);
}

static void rust_programs_are_read(void **state) {
    (void)state;
    if (!have("rustc"))
        skip();
    write_text("sample.rs",
               "mod app { #[inline(never)] pub fn spin(n: u64) -> u64 {\n"
               "  (0..n).map(|x| x ^ n).sum() } }\n"
               "fn main() { println!(\"{}\", app::spin(std::env::args().count() as u64)); }\n",
               0644);
    assert_true(run("rustc -g -O -C symbol-mangling-version=v0 sample.rs -o v0 2>rust.log && "
                    "rustc -g -O sample.rs -o default 2>rust.log"));
    static const char *const names[] = {"v0", "default"};
    for (size_t i = 0; i < 2; i++) {
        struct program *program = program_new();
        uint32_t image = add(program, names[i]);
        uint64_t offset, size;
        struct location location;
        assert_true(program_find_function(program, image, "sample::app::spin", &offset, &size));
        bool in_sample = false;
        for (uint64_t at = offset; at < offset + size; at++) {
            assert_true(program_locate(program, image, at, &location));
            assert_string_equal(location.function, "sample::app::spin");
            in_sample |= location.file && !strcmp(location.file, "sample.rs");
        }
        assert_true(in_sample);
        program_free(program);
    }
}

static void names_are_demangled(void **state) {
    (void)state;
    static const struct {
        const char *mangled, *readable;
    } cases[] = {
        {"main", "main"},
        {"_start", "_start"},
        {"", ""},
        {"_Z", "_Z"},
        {"_Zgarbage", "_Zgarbage"},
        {"memcpy@@GLIBC_2.14", "memcpy"},
        {"@odd", "@odd"},
        {"_ZN4core3fmt9Formatter3pad17h5b3f0c9a1d2e4f68E", "core::fmt::Formatter::pad"},
        {"_ZN4core3fmt9Formatter3pad17h5b3f0c9a1d2e4f68E.llvm.123", "core::fmt::Formatter::pad"},
        {"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
         "<alloc::string::String as core::fmt::Debug>::fmt"},
        {"_RNvCs4fqI2P2rA04_7mycrate3foo", "mycrate::foo"},
        {"_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>"},
        {"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new", "<std::path::PathBuf>::new"},
        {"_ZNSt6vectorIiSaIiEE9push_backEOi",
         "std::vector<int, std::allocator<int> >::push_back(int&&)"},
        {"_Z1fIiEvT_.part.0", "void f<int>(int) [clone .part.0]"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(demangle(&arena, cases[i].mangled), cases[i].readable);
    arena_free(&arena);
}

/* Each parameter is a template of two copies of the one before: 2^n characters from 12 n. */
static void explosive_names_stay_mangled(void **state) {
    (void)state;
    char name[4000] = "_Z1f1AI1BS0_E", *end = name + strlen(name);
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    /* Substitutions: S_ is A, S0_ is B, S1_ is A<B,B>, S2_ is A<S1_,S1_> ... */
    for (unsigned i = 1; i < 35; i++)
        end += sprintf(end, "S_IS%c_S%c_E", digits[i], digits[i]);
    struct arena arena = {0};
    assert_string_equal(demangle(&arena, name), name);
    /* Rust v0: the generic argument of each level is a pair of back references to the last. */
    char rust[4000] = "_RINvC1a1bTmmE", *tail = rust + strlen(rust);
    size_t last = 8;
    for (unsigned i = 0; i < 40; i++) {
        size_t here = (size_t)(tail - rust) - 2;
        char reference[8];
        /* Base 62: zero is "_", n is digit(n - 1) "_"; all positions here need two digits or one.
         */
        static const char base62[] =
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        size_t n = last - 1;
        if (n < 62)
            snprintf(reference, sizeof reference, "B%c_", base62[n]);
        else
            snprintf(reference, sizeof reference, "B%c%c_", base62[n / 62], base62[n % 62]);
        tail += sprintf(tail, "T%s%sE", reference, reference);
        last = here;
    }
    strcpy(tail, "E");
    assert_string_equal(demangle(&arena, rust), rust);
    arena_free(&arena);
}

static void spans_give_the_innermost_range(void **state) {
    (void)state;
    /* 0 [10,50) holds 1 [20,40) holds 2 [20,30); 3 [45,60) overlaps the end of 0; 4 is empty. */
    struct span ranges[] = {{20, 30, 2}, {10, 50, 0}, {45, 60, 3}, {70, 70, 4}, {20, 40, 1}};
    static const struct {
        uint64_t address;
        int value; /* -1: none */
    } expected[] = {{9, -1}, {10, 0}, {19, 0}, {20, 2}, {29, 2}, {30, 1},  {39, 1},
                    {40, 0}, {44, 0}, {45, 3}, {50, 3}, {59, 3}, {60, -1}, {70, -1}};
    struct span_table table;
    assert_true(span_table_build(&table, ranges, sizeof ranges / sizeof *ranges));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct span *span = span_table_find(&table, expected[i].address);
        assert_int_equal(span ? (int)span->value : -1, expected[i].value);
    }
    span_table_free(&table);
}

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

/* A file that is overwritten or cut after it was added keeps its names and loses its lines. */
static void files_may_change_while_in_use(void **state) {
    (void)state;
    assert_true(run("cp sample changing"));
    struct program *program = program_new();
    uint32_t image = add(program, "changing");
    uint64_t offset, size;
    struct location location;
    assert_null(program_image_note(program, image));
    assert_int_equal(truncate(in_directory("changing"), 100), 0);
    assert_true(program_find_function(program, image, "work", &offset, &size));
    assert_true(program_locate(program, image, offset, &location));
    assert_string_equal(location.function, "work");
    assert_null(location.file);
    assert_non_null(strstr(program_image_note(program, image), "changed"));
    program_free(program);
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
        cmocka_unit_test(c_program_has_functions_lines_and_inlined_callers),
        cmocka_unit_test(source_paths_are_relative_to_the_compilation_directory_only_inside),
        cmocka_unit_test(every_kind_of_dwarf_is_read),
        cmocka_unit_test(of_deep_inlining_the_innermost_frames_are_given),
        cmocka_unit_test(of_functions_of_one_name_the_global_one_is_found),
        cmocka_unit_test(riscv64_programs_are_read_without_running),
        cmocka_unit_test(stripped_code_keeps_the_extent_of_its_functions),
        cmocka_unit_test(code_without_section_headers_keeps_the_extent_of_its_functions),
        cmocka_unit_test(stripped_code_of_other_kinds_keeps_extents_too),
        cmocka_unit_test(files_that_debuginfod_fetched_are_found),
        cmocka_unit_test(stripped_go_programs_have_names_and_lines),
        cmocka_unit_test(damaged_go_tables_are_survived),
        cmocka_unit_test(separate_debug_files_are_found_and_checked),
        cmocka_unit_test(compressed_symbol_tables_are_read),
        cmocka_unit_test(shared_libraries_are_named_by_their_dynamic_symbols),
        cmocka_unit_test(the_c_library_names_its_functions),
        cmocka_unit_test(cplusplus_names_are_demangled),
        cmocka_unit_test(rust_programs_are_read),
        cmocka_unit_test(names_are_demangled),
        cmocka_unit_test(explosive_names_stay_mangled),
        cmocka_unit_test(spans_give_the_innermost_range),
        cmocka_unit_test(unusable_images_have_a_note_and_a_number),
        cmocka_unit_test(files_may_change_while_in_use),
        cmocka_unit_test(executables_are_identified),
        cmocka_unit_test(what_cannot_run_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests_name("program", tests, setup, teardown);
}
