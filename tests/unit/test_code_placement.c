/* Functions elsewhere: they keep what they are aligned to, lie apart, and lie alike in lines
 * whatever other functions there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/code_placement.h"

enum { LAYOUTS = 40 };
static const uint64_t BASE = UINT64_C(0x4000000000); /* where offset 0 of the file is */

/* Three functions of sections that ask for 16, for 64 and for nothing, with a gap behind the
 * first. */
static struct movable_function three[] = {
    {.offset = 0x1000, .size = 100, .alignment = 16, .remainder = 0, .key = 11},
    {.offset = 0x1080, .size = 64, .alignment = 64, .remainder = 0, .key = 22},
    {.offset = 0x10c3, .size = 7, .alignment = 1, .remainder = 0, .key = 33}};
/* The first and the last of them, and one more before each. */
static struct movable_function others[] = {
    {.offset = 0x1000, .size = 33, .alignment = 16, .remainder = 0, .key = 44},
    {.offset = 0x1030, .size = 100, .alignment = 16, .remainder = 0, .key = 11},
    {.offset = 0x10a0, .size = 500, .alignment = 1, .remainder = 0, .key = 55},
    {.offset = 0x2000, .size = 7, .alignment = 1, .remainder = 0, .key = 33}};
static const struct movable_code three_code = {.functions = three, .count = 3};
static const struct movable_code others_code = {.functions = others, .count = 4};

static uint64_t at(const struct code_placement *placement, uint64_t offset) {
    return code_placement_at(placement, BASE + offset, offset);
}

static void keeps_what_is_asked_for(void **state) {
    (void)state;
    bool lines[4] = {false};
    for (uint32_t layout = 1; layout <= LAYOUTS; layout++) {
        struct code_placement placement;
        assert_true(code_placement_make(&three_code, layout, &placement));
        const uint64_t first = at(&placement, 0x1000), second = at(&placement, 0x1080),
                       third = at(&placement, 0x10c3);
        assert_int_equal(first % 16, 0);
        assert_int_equal(second % 64, 0);
        assert_int_equal(at(&placement, 0x1000 + 99), first + 99);
        assert_int_equal(at(&placement, 0x1064), BASE + 0x1064); /* in no function */
        assert_int_equal(at(&placement, 0xfff), BASE + 0xfff);
        assert_true(first + 100 <= second || second + 64 <= first);
        assert_true(first + 100 <= third || third + 7 <= first);
        assert_true(second + 64 <= third || third + 7 <= second);
        lines[first % 64 / 16] = true;
        code_placement_free(&placement);
    }
    assert_true(lines[0] && lines[1] && lines[2] && lines[3]);
}

static void lies_alike_in_lines(void **state) {
    (void)state;
    for (uint32_t layout = 1; layout <= LAYOUTS; layout++) {
        struct code_placement one, other;
        assert_true(code_placement_make(&three_code, layout, &one));
        assert_true(code_placement_make(&others_code, layout, &other));
        assert_int_equal(at(&one, 0x1000) % 64, at(&other, 0x1030) % 64);
        assert_int_equal(at(&one, 0x10c3) % 64, at(&other, 0x2000) % 64);
        code_placement_free(&one);
        code_placement_free(&other);
    }
}

static void what_cannot_be_read_stays(void **state) {
    (void)state;
    static const char *const paths[] = {"/nonexistent", "/dev/null", "Makefile"};
    for (size_t i = 0; i < 3; i++) {
        struct movable_code code;
        struct code_placement placement;
        assert_true(movable_code_read(paths[i], &code));
        assert_int_equal(code.count, 0);
        assert_true(code_placement_make(&code, 1, &placement));
        assert_int_equal(at(&placement, 5), BASE + 5);
        code_placement_free(&placement);
        movable_code_free(&code);
    }
}

static void reads_a_program(void **state) {
    (void)state;
    struct movable_code code;
    assert_true(movable_code_read("/proc/self/exe", &code));
    assert_true(code.count > 3);
    for (size_t i = 1; i < code.count; i++)
        assert_true(code.functions[i - 1].offset + code.functions[i - 1].size <=
                    code.functions[i].offset);
    movable_code_free(&code);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_is_asked_for), cmocka_unit_test(lies_alike_in_lines),
        cmocka_unit_test(what_cannot_be_read_stays), cmocka_unit_test(reads_a_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
