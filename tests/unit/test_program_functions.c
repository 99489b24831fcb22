/* Functions, by their names and extents, of programs that real compilers make of samples: from
 * tables of symbols of each kind, and without. */
#include "program_fixture.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_functions_of_one_name_the_global_one_is_found),
        cmocka_unit_test(stripped_code_keeps_the_extent_of_its_functions),
        cmocka_unit_test(code_without_section_headers_keeps_the_extent_of_its_functions),
        cmocka_unit_test(stripped_code_of_other_kinds_keeps_extents_too),
        cmocka_unit_test(stripped_go_programs_have_names_and_lines),
        cmocka_unit_test(damaged_go_tables_are_survived),
        cmocka_unit_test(compressed_symbol_tables_are_read),
        cmocka_unit_test(shared_libraries_are_named_by_their_dynamic_symbols),
        cmocka_unit_test(the_c_library_names_its_functions),
        cmocka_unit_test(cplusplus_names_are_demangled),
        cmocka_unit_test(rust_programs_are_read),
    };
    return cmocka_run_group_tests_name("program functions", tests, setup, teardown);
}
