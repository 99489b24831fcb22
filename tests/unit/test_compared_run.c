/* Two runs by function, line and cause, made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "query/compared_run.h"

enum { COMPUTE, MISS };

static struct error error;

static void add(struct compared_run *run, const char *image, const char *function, uint32_t line,
                uint64_t offset, const char *text, uint64_t compute, uint64_t miss) {
    const struct compared_place place = {
        .image = image,
        .function = function,
        .file = line ? "work.c" : NULL,
        .line = line,
        .text = text,
        .offset = offset,
        .cost = {.units = compute + miss, .executions = 1, .causes = {compute, miss}}};
    assert_true(compared_run_add(run, &place, &error));
}

static void finish(struct compared_runs *runs, struct compared_run *before,
                   struct compared_run *after) {
    compared_runs_free(runs);
    compared_run_free(before);
    compared_run_free(after);
}

/* A line is put in front of the load, which so is line 13, not 12, and misses: 100 + 0 units become
 * 100 + 900, and the new line has 10. The function's change is 910, of which 900 are misses, at the
 * load. idle(), a clone now, is the same; once() is no more. */
static void a_line_that_moved_is_found(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    add(&before, "old", "work", 10, 0x10, "push rbp", 5, 0);
    add(&before, "old", "work", 11, 0x11, "xor eax, eax", 5, 0);
    add(&before, "old", "work", 12, 0x13, "mov rax, qword ptr [rdi]", 100, 0);
    add(&before, "old", "idle", 20, 0x20, "ret", 7, 0);
    add(&before, "old", "once", 30, 0x30, "ret", 3, 0);
    add(&before, "libc.so.6", "memcpy", 0, 0x40, "ret", 9, 1);
    add(&after, "libc.so.6", "memcpy", 0, 0x40, "ret", 9, 1);
    add(&after, "new", "idle.isra.0", 21, 0x20, "ret", 7, 0);
    add(&after, "new", "work", 10, 0x50, "push rbp", 5, 0);
    add(&after, "new", "work", 11, 0x51, "xor eax, eax", 5, 0);
    add(&after, "new", "work", 12, 0x53, "inc ecx", 10, 0);
    add(&after, "new", "work", 13, 0x55, "mov rax, qword ptr [rdi]", 100, 900);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_string_equal(runs.builds[0], "old");
    assert_string_equal(runs.builds[1], "new");
    assert_int_equal(runs.change_count, 4);

    const struct compared_change *work = &runs.changes[0];
    assert_string_equal(work->sides[0]->name, "work");
    assert_int_equal(work->units, 910);
    assert_int_equal(work->cause, MISS);
    assert_int_equal(work->cause_units, 900);
    assert_int_equal(work->lines[0]->place->line, 12);
    assert_int_equal(work->lines[1]->place->line, 13);

    const struct compared_change *once = &runs.changes[1];
    assert_string_equal(once->sides[0]->name, "once");
    assert_null(once->sides[1]);
    assert_int_equal(once->units, -3);
    assert_int_equal(once->lines[0]->place->line, 30);
    assert_null(once->lines[1]);

    for (size_t i = 2; i < 4; i++) {
        assert_int_equal(runs.changes[i].units, 0);
        assert_non_null(runs.changes[i].sides[0]);
        assert_non_null(runs.changes[i].sides[1]);
        assert_null(runs.changes[i].lines[0]);
    }
    finish(&runs, &before, &after);
}

/* A line is put before others, and the last but one is edited: distances alone would pair each line
 * with the one before it. Lines 10, 11 and 13 keep their instructions; 12, of other instructions
 * now, is left between 11 and 13, and so is 13 between 12 and 14. */
static void a_line_that_was_edited_and_moved_is_found(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    add(&before, "old", "work", 10, 0x10, "push rbp", 5, 0);
    add(&before, "old", "work", 11, 0x11, "xor eax, eax", 5, 0);
    add(&before, "old", "work", 12, 0x12, "add eax, 1", 100, 0);
    add(&before, "old", "work", 13, 0x13, "ret", 5, 0);
    add(&after, "old", "work", 10, 0x10, "push rbp", 5, 0);
    add(&after, "old", "work", 11, 0x11, "inc ecx", 5, 0);
    add(&after, "old", "work", 12, 0x12, "xor eax, eax", 5, 0);
    add(&after, "old", "work", 13, 0x13, "imul eax, 3", 400, 0);
    add(&after, "old", "work", 14, 0x14, "ret", 5, 0);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_int_equal(runs.changes[0].units, 305);
    assert_int_equal(runs.changes[0].lines[0]->place->line, 12);
    assert_int_equal(runs.changes[0].lines[1]->place->line, 13);
    finish(&runs, &before, &after);
}

/* Pieces of a function are one with it: 10 + 20 units and 40. Without lines, an instruction is one:
 * the branch, which is 2 bytes further on, has the 15 that are new. */
static void pieces_and_instructions(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    add(&before, "a", "work", 0, 0x10, "add rax, rdx", 10, 0);
    add(&before, "a", "work.cold", 0, 0x90, "jnz 0x10", 20, 0);
    add(&after, "a", "work", 0, 0x10, "add rax, rdx", 10, 0);
    add(&after, "a", "work", 0, 0x92, "jnz 0x10", 30, 5);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_null(runs.builds[0]);
    assert_int_equal(runs.change_count, 1);
    assert_int_equal(runs.changes[0].units, 15);
    assert_int_equal(runs.changes[0].cause, COMPUTE);
    assert_int_equal(runs.changes[0].cause_units, 10);
    assert_int_equal(runs.changes[0].lines[0]->place->offset, 0x90);
    assert_int_equal(runs.changes[0].lines[1]->place->offset, 0x92);
    finish(&runs, &before, &after);
}

/* The new build has most of its cycles in a library, where the old one had them in its own code. */
static void a_library_is_no_build_of_a_program(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    add(&before, "old", "work", 10, 0x10, "ret", 5, 0);
    add(&before, "old", "pack", 20, 0x20, "ret", 90, 0);
    add(&after, "new", "work", 10, 0x10, "ret", 5, 0);
    add(&after, "libpack.so.1", "pack_fast", 0, 0x20, "ret", 50, 0);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_string_equal(runs.builds[0], "old");
    assert_string_equal(runs.builds[1], "new");
    finish(&runs, &before, &after);
}

/* Where the program has one name, its library may have two. */
static void libraries_are_builds_of_each_other(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    add(&before, "tool", "work", 10, 0x10, "ret", 5, 0);
    add(&before, "libpack.so.1", "pack", 0, 0x20, "ret", 90, 0);
    add(&after, "tool", "work", 10, 0x10, "ret", 5, 0);
    add(&after, "libpack.so.2", "pack", 0, 0x20, "ret", 50, 0);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_string_equal(runs.builds[0], "libpack.so.1");
    assert_string_equal(runs.builds[1], "libpack.so.2");
    finish(&runs, &before, &after);
}

/* The cause is one that changed in the direction of the whole: −90, against +80. */
static void the_cause_goes_with_the_change(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    add(&before, "a", "work", 1, 0x10, "ret", 100, 0);
    add(&after, "a", "work", 1, 0x10, "ret", 10, 80);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_int_equal(runs.changes[0].units, -10);
    assert_int_equal(runs.changes[0].cause, COMPUTE);
    assert_int_equal(runs.changes[0].cause_units, -90);
    finish(&runs, &before, &after);
}

static void access(struct compared_run *run, uint64_t offset, const char *type, uint64_t size,
                   uint64_t units) {
    const struct compared_place place = {.image = "a",
                                         .function = "work",
                                         .text = "ret",
                                         .offset = offset,
                                         .type = type,
                                         .type_size = size,
                                         .cost = {units, 1, {units}}};
    assert_true(compared_run_add(run, &place, &error));
}

/* Of two structs that grew the one with 9 + 9 units is told, not that with 8 + 3, nor one with 50
 * of the same size. */
static void a_struct_that_grew(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    access(&before, 1, "struct row", 56, 9);
    access(&before, 2, "struct key", 8, 8);
    access(&before, 3, "struct same", 16, 50);
    access(&after, 1, "struct row", 72, 9);
    access(&after, 2, "struct key", 16, 3);
    access(&after, 3, "struct same", 16, 50);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_string_equal(runs.changes[0].types[0]->type, "struct row");
    assert_int_equal(runs.changes[0].types[0]->type_size, 56);
    assert_int_equal(runs.changes[0].types[1]->type_size, 72);
    finish(&runs, &before, &after);
}

/* step() is inlined in work() before: of the 50 units there 30 are its, so that it takes 10 more,
 * and work() 5. */
static void an_inlined_function_is_compared_with_itself(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    const struct compared_place inlined = {.image = "a",
                                           .function = "work",
                                           .text = "add rax, rdx",
                                           .offset = 0x14,
                                           .inlined = {"step"},
                                           .cost = {30, 1, {30}}};
    add(&before, "a", "work", 0, 0x10, "ret", 20, 0);
    assert_true(compared_run_add(&before, &inlined, &error));
    add(&after, "a", "work", 0, 0x10, "ret", 25, 0);
    add(&after, "a", "step", 0, 0x30, "add rax, rdx", 40, 0);
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_int_equal(runs.change_count, 2);
    assert_string_equal(runs.changes[0].sides[0]->name, "step");
    assert_string_equal(runs.changes[0].sides[0]->places[0].within, "work");
    assert_null(runs.changes[0].sides[1]->places[0].within);
    assert_int_equal(runs.changes[0].units, 10);
    assert_string_equal(runs.changes[1].sides[0]->name, "work");
    assert_int_equal(runs.changes[1].units, 5);
    finish(&runs, &before, &after);
}

/* Debug information gives a static function of C++ no linkage name: "step", where the symbol is of
 * "step(int)". With two of that name it is not known which. */
static void an_inlined_function_of_cpp_is_found_by_its_name(void **state) {
    (void)state;
    for (unsigned overloads = 1; overloads <= 2; overloads++) {
        struct compared_run before = {0}, after = {0};
        struct compared_runs runs;
        const struct compared_place inlined = {.image = "a",
                                               .function = "work(int)",
                                               .text = "add rax, rdx",
                                               .offset = 0x14,
                                               .inlined = {"step"},
                                               .cost = {30, 1, {30}}};
        add(&before, "a", "work(int)", 0, 0x10, "ret", 20, 0);
        assert_true(compared_run_add(&before, &inlined, &error));
        add(&after, "a", "work(int)", 0, 0x10, "ret", 25, 0);
        add(&after, "a", "(anonymous namespace)::step(int)", 0, 0x30, "add rax, rdx", 40, 0);
        if (overloads == 2)
            add(&after, "a", "(anonymous namespace)::step(long)", 0, 0x50, "add rax, rdx", 1, 0);
        assert_true(compared_runs_find(&before, &after, &runs, &error));
        assert_string_equal(runs.changes[0].sides[1]->name, "(anonymous namespace)::step(int)");
        assert_int_equal(runs.changes[0].units, overloads == 1 ? 10 : 40);
        finish(&runs, &before, &after);
    }
}

/* Nine instructions under another name, one of which is another: 2 × 8 of 18 have a counterpart,
 * 0.89. A function of the same length of other instructions is none of them. */
static void a_renamed_function_is_found(void **state) {
    (void)state;
    static const char *const KINDS[] = {"push", "mov", "xor", "add", "cmp",
                                        "jnz",  "pop", "ret", "nop"};
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    for (unsigned i = 0; i < 9; i++) {
        add(&before, "a", "find", 0, 0x10 + i, KINDS[i], 10, 0);
        add(&after, "a", "look_up", 0, 0x50 + i, i == 4 ? "test" : KINDS[i], 10, i == 3 ? 7 : 0);
        add(&after, "a", "another", 0, 0x90 + i, "shl", 10, 0);
    }
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_int_equal(runs.change_count, 2);
    assert_string_equal(runs.changes[0].sides[1]->name, "another");
    assert_null(runs.changes[0].sides[0]);
    assert_string_equal(runs.changes[1].sides[0]->name, "find");
    assert_string_equal(runs.changes[1].sides[1]->name, "look_up");
    assert_int_equal(runs.changes[1].units, 7);
    assert_int_equal(runs.changes[1].lines[1]->place->offset, 0x53);
    finish(&runs, &before, &after);
}

static void nothing_compares_with_nothing(void **state) {
    (void)state;
    struct compared_run before = {0}, after = {0};
    struct compared_runs runs;
    assert_true(compared_runs_find(&before, &after, &runs, &error));
    assert_int_equal(runs.change_count, 0);
    finish(&runs, &before, &after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_is_no_build_of_a_program),
        cmocka_unit_test(libraries_are_builds_of_each_other),
        cmocka_unit_test(a_line_that_moved_is_found),
        cmocka_unit_test(a_line_that_was_edited_and_moved_is_found),
        cmocka_unit_test(pieces_and_instructions),
        cmocka_unit_test(the_cause_goes_with_the_change),
        cmocka_unit_test(a_struct_that_grew),
        cmocka_unit_test(an_inlined_function_is_compared_with_itself),
        cmocka_unit_test(an_inlined_function_of_cpp_is_found_by_its_name),
        cmocka_unit_test(a_renamed_function_is_found),
        cmocka_unit_test(nothing_compares_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
