/* Source lines and inlined callers, from debug information that real compilers make of samples,
 * wherever it lies. */
#include "program_fixture.h"

#include "program/span.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_program_has_functions_lines_and_inlined_callers),
        cmocka_unit_test(source_paths_are_relative_to_the_compilation_directory_only_inside),
        cmocka_unit_test(every_kind_of_dwarf_is_read),
        cmocka_unit_test(of_deep_inlining_the_innermost_frames_are_given),
        cmocka_unit_test(riscv64_programs_are_read_without_running),
        cmocka_unit_test(files_that_debuginfod_fetched_are_found),
        cmocka_unit_test(separate_debug_files_are_found_and_checked),
        cmocka_unit_test(spans_give_the_innermost_range),
        cmocka_unit_test(files_may_change_while_in_use),
    };
    return cmocka_run_group_tests_name("program lines", tests, setup, teardown);
}
