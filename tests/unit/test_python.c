/* What is read of CPython: the location table of a code object, code objects in the memory of a
 * process, true ones and others, and Python frames among C frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "live/python_code.h"
#include "live/python_weave.h"
#include "python_3_11.h"
#include "store/source_place.h"
#include "util/array.h"

/* ---- the location table ---- */

static void assert_lines(const uint8_t *table, size_t size, uint32_t first_line,
                         const uint32_t *expected, size_t units) {
    struct python_lines lines = {0};
    assert_true(python_lines_read(&lines, table, size, first_line));
    for (uint32_t unit = 0; unit < units; unit++)
        assert_int_equal(python_lines_find(&lines, unit), expected[unit]);
    python_lines_free(&lines);
}

/* Each form by hand; first line 10. */
static void forms_of_locations(void **state) {
    (void)state;
    static const uint8_t TABLE[] = {
        0x80 | 0 << 3 | 0,  0x00,                   /* short: one unit, line 10 */
        0x80 | 9 << 3 | 1,  0x7f,                   /* short: two units, line 10 */
        0x80 | 10 << 3 | 0, 4,    5,                /* one line: + 0, line 10 */
        0x80 | 11 << 3 | 0, 4,    5,                /* + 1, line 11 */
        0x80 | 12 << 3 | 0, 4,    5,                /* + 2, line 13 */
        0x80 | 13 << 3 | 0, 0x07,                   /* no columns: 7 is -3, line 10 */
        0x80 | 14 << 3 | 0, 0x48, 0x03, 0x02, 1, 2, /* long: 8 + 3 << 6 is 200, + 100, line 110 */
        0x80 | 15 << 3 | 0,                         /* none */
        0x80 | 10 << 3 | 7, 4,    5,                /* eight units, line 110 again */
    };
    static const uint32_t LINES[] = {10,  10,  10,  10,  11,  13,  10,  110, 0,
                                     110, 110, 110, 110, 110, 110, 110, 110, 110};
    assert_lines(TABLE, sizeof TABLE, 10, LINES, sizeof LINES / sizeof *LINES);
}

/* The table that CPython 3.11.2 makes of a function of twelve lines:
 *
 *      1  def f(a):          7      for i in range(a):
 *      2      b = a          8          b += i
 *      4      if b:          9      try:
 *      5          return (a +    10     x = 1
 *      6                  b)     12 finally: y = 2
 *
 * against its own co_lines(). */
static void table_of_an_interpreter(void **state) {
    (void)state;
    static const uint8_t TABLE[] = {
        128, 0,  216, 8, 9,   128, 65,  224, 7,  8,   240, 0,   2,   5,   19,  216, 16,  17,  216,
        16,  17, 241, 3, 1,   17,  18,  240, 0,  1,   9,   19,  229, 13,  18,  144, 49,  137, 88,
        140, 88, 240, 0, 1,   5,   15,  240, 0,  1,   5,   15,  136, 1,   216, 8,   9,   136, 81,
        137, 6,  136, 1, 136, 1,   240, 2,   3,  5,   14,  216, 12,  13,  136, 1,   224, 12,  13,
        136, 1,  136, 1, 136, 1,   248, 136, 65, 136, 1,   136, 5,   136, 5,   136, 5,   136, 5};
    static const uint32_t LINES[] = {1, 2, 2,  4,  4,  5,  6,  5,  5, 5,  7,  7,  7,  7,  7, 7,
                                     7, 7, 7,  7,  7,  7,  7,  7,  7, 7,  7,  8,  8,  8,  8, 8,
                                     8, 9, 10, 10, 12, 12, 12, 12, 0, 12, 12, 12, 12, 12, 12};
    assert_lines(TABLE, sizeof TABLE, 1, LINES, sizeof LINES / sizeof *LINES);
}

/* What is before the damage counts. */
static void damaged_tables(void **state) {
    (void)state;
    static const uint32_t LINES[] = {10, 10};
    static const uint8_t CUT[] = {0x80, 0x00, 0x80 | 14 << 3, 0x40};
    static const uint8_t NO_ENTRY[] = {0x80, 0x00, 0x00};
    static const uint8_t NEGATIVE[] = {0x80, 0x00, 0x80 | 13 << 3, 0x7f, 0x01};
    static const uint8_t ENDLESS[] = {0x80, 0x00, 0x80 | 13 << 3, 0x7f, 0x7f, 0x7f,
                                      0x7f, 0x7f, 0x7f,           0x7f, 0x7f};
    assert_lines(CUT, sizeof CUT, 10, LINES, 1);
    assert_lines(NO_ENTRY, sizeof NO_ENTRY, 10, LINES, 1);
    assert_lines(NEGATIVE, sizeof NEGATIVE, 10, LINES, 1);
    assert_lines(ENDLESS, sizeof ENDLESS, 10, LINES, 1);
    assert_lines(NULL, 0, 10, (const uint32_t[]){0}, 1);
}

/* ---- code objects ---- */

/* A process with memory at one place. */
enum { BASE = 0x10000, CODE = 0x100, NAME = 0x200, PATH = 0x400, TABLE = 0x600, ROOM = 0x1000 };

static bool read_fixture(void *context, uint64_t address, void *bytes, size_t size) {
    if (address < BASE || address - BASE > ROOM || size > ROOM - (address - BASE))
        return false;
    memcpy(bytes, (const uint8_t *)context + (address - BASE), size);
    return true;
}

static void put_word(uint8_t *memory, size_t at, uint64_t word) {
    memcpy(memory + at, &word, sizeof word);
}

enum { BIAS = 100, COMPACT = 1 << 5, ASCII = 1 << 6, WIDTH_1 = 1 << 2, WIDTH_2 = 2 << 2 };

static void put_ascii(uint8_t *memory, size_t at, const char *text) {
    put_word(memory, at + 8, 2 + BIAS);
    put_word(memory, at + 16, strlen(text));
    put_word(memory, at + 32, COMPACT | ASCII | WIDTH_1);
    strcpy((char *)memory + at + 48, text);
}

static void put_code(uint8_t *memory) {
    memset(memory, 0, ROOM);
    put_word(memory, CODE + 8, 1 + BIAS);
    put_word(memory, CODE + 72, 10);
    put_word(memory, CODE + 112, BASE + PATH);
    put_word(memory, CODE + 128, BASE + NAME);
    put_word(memory, CODE + 136, BASE + TABLE);
    put_ascii(memory, NAME, "Class.method");
    put_ascii(memory, PATH, "/a/b.py");
    put_word(memory, TABLE + 8, 3 + BIAS);
    put_word(memory, TABLE + 16, 3);
    memcpy(memory + TABLE + 32, (uint8_t[]){0x80 | 13 << 3, 0x04, 0}, 3); /* one unit: line 12 */
}

static bool read_code(uint8_t *memory, struct python_code *code) {
    return python_code_read(&(struct python_memory){read_fixture, memory}, &PYTHON_3_11, BIAS,
                            BASE + CODE, python_identity(BASE + NAME, BASE + TABLE), code);
}

static void assert_named(uint8_t *memory, const char *name) {
    struct python_code code;
    assert_true(read_code(memory, &code));
    assert_string_equal(code.code->name, name);
    python_code_free(&code);
}

static void code_objects(void **state) {
    (void)state;
    uint8_t memory[ROOM];
    struct python_code code;
    put_code(memory);
    assert_true(read_code(memory, &code));
    assert_string_equal(code.code->name, "Class.method");
    assert_string_equal(code.code->path, "/a/b.py");
    assert_int_equal(code.code->first_line, 10);
    assert_int_equal(source_line(python_code_place(&code, 0)), 12);
    assert_true(python_code_place(&code, 0) - code.code->start < code.code->size);
    /* The prologue of a frame that is being made lies before its first instruction. */
    assert_int_equal(source_line(python_code_place(&code, (uint64_t)-2)), 10);
    python_code_free(&code);
    put_word(memory, NAME + 32, COMPACT | WIDTH_2);
    memcpy(memory + NAME + 72, (uint16_t[]){'f', 0xe9, 0x20ac, 0xd800, 0x1b, 0x9b}, 12);
    put_word(memory, NAME + 16, 6);
    assert_named(memory, "fé€???");
    put_ascii(memory, NAME, "\x1b[31m\n");
    assert_named(memory, "?[31m?");
}

static void names_are_cut(void **state) {
    (void)state;
    uint8_t memory[ROOM];
    char name[257 * 4 + 1] = "";
    struct python_code code;
    put_code(memory);
    put_word(memory, NAME + 16, UINT64_MAX); /* characters */
    memset(memory + NAME + 48, 'x', 256);
    assert_true(read_code(memory, &code));
    memset(name, 'x', 256);
    strcpy(name + 256, "…");
    assert_string_equal(code.code->name, name);
    python_code_free(&code);
}

/* Something that only looks like a code object. */
static void other_objects(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint64_t word;
    } WRONG[] = {
        {CODE + 8, 1},           /* the type without the bias */
        {CODE + 8, 2 + BIAS},    /* another type */
        {CODE + 128, BASE + 16}, /* the identity differs */
        {CODE + 112, 0},         /* no file */
        {CODE + 112, UINT64_MAX - 3},
        {NAME + 8, 3 + BIAS},          /* bytes for a string */
        {NAME + 32, ASCII | WIDTH_1},  /* a string of before 3.3 */
        {NAME + 32, COMPACT | 7 << 2}, /* characters of seven bytes */
    };
    uint8_t memory[ROOM];
    struct python_code code;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        put_code(memory);
        put_word(memory, WRONG[i].at, WRONG[i].word);
        assert_false(read_code(memory, &code));
    }
}

/* Its name is known, its lines are not. */
static void other_tables(void **state) {
    (void)state;
    static const size_t AT[] = {TABLE + 8, TABLE + 16, TABLE + 16};
    static const uint64_t WORDS[] = {2 + BIAS, UINT64_MAX, ROOM};
    uint8_t memory[ROOM];
    struct python_code code;
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        put_code(memory);
        put_word(memory, AT[i], WORDS[i]);
        assert_true(read_code(memory, &code));
        assert_int_equal(source_line(python_code_place(&code, 0)), 10);
        python_code_free(&code);
    }
}

/* ---- frames among frames ---- */

static const struct live_code FUNCTIONS[] = {
    {.name = ""}, {.name = "f"}, {.name = "g"}, {.name = "h"}};

static bool find_function(void *context, const struct python_item *item, struct live_frame *frame) {
    (void)context;
    *frame = (struct live_frame){.place = PLACE_CODE};
    if (item->code < sizeof FUNCTIONS / sizeof *FUNCTIONS)
        frame->code = &FUNCTIONS[item->code];
    return true;
}

/* C frames by their offsets, Python ones by their names: "f 2 g". */
static void assert_stack(const struct live_stack *stack, const char *expected) {
    char text[1024] = "";
    for (size_t i = 0; i < stack->count; i++) {
        const struct live_frame *frame = &stack->frames[i];
        const size_t length = strlen(text);
        if (frame->place == PLACE_CODE)
            snprintf(text + length, sizeof text - length, "%s%s", i ? " " : "", frame->code->name);
        else
            snprintf(text + length, sizeof text - length, "%s%d", i ? " " : "", (int)frame->offset);
    }
    assert_string_equal(text, expected);
}

/* The sampled frame ends at 100, its callers 1, 2, 3 at 200, 300, 400; where 4, the first, ends is
 * not known. */
static struct live_stack c_stack(enum live_stack_end end) {
    struct live_stack stack = {.count = 4, .end = end, .tops = {100, 200, 300, 400}};
    for (size_t i = 0; i < stack.count; i++)
        stack.frames[i] = (struct live_frame){.place = PLACE_FILE, .offset = i + 1};
    return stack;
}

#define FRAME(function)                                                                            \
    { .code = (function) }
#define RUN_ENDS(address)                                                                          \
    { .identity = (address) }

static void assert_woven(const struct python_stack *python, struct live_stack stack,
                         const char *expected, enum live_stack_end end, bool lacks) {
    bool lacking;
    assert_true(python_weave(python, find_function, NULL, &stack, &lacking));
    assert_stack(&stack, expected);
    assert_int_equal(stack.end, end);
    assert_int_equal(lacking, lacks);
}

static void woven_stacks(void **state) {
    (void)state;
    const struct live_stack whole = c_stack(LIVE_STACK_WHOLE);
    /* The sampled frame runs f, which g called; frame 3 runs h. */
    assert_woven(
        &(struct python_stack){
            .count = 5, .items = {FRAME(1), FRAME(2), RUN_ENDS(50), FRAME(3), RUN_ENDS(350)}},
        whole, "f g 1 2 h 4", LIVE_STACK_WHOLE, false);
    /* f calls C code that calls back g; the sampled frame is C code. */
    assert_woven(
        &(struct python_stack){.count = 4,
                               .items = {FRAME(1), RUN_ENDS(150), FRAME(2), RUN_ENDS(399)}},
        whole, "f 2 g 4", LIVE_STACK_WHOLE, false);
    /* None. */
    assert_woven(&(struct python_stack){0}, whole, "1 2 3 4", LIVE_STACK_WHOLE, false);
    /* A C stack of which not all was copied. */
    assert_woven(
        &(struct python_stack){.count = 4,
                               .items = {FRAME(1), RUN_ENDS(250), FRAME(2), RUN_ENDS(5000)}},
        c_stack(LIVE_STACK_TRUNCATED), "1 f 3 4 g", LIVE_STACK_TRUNCATED, false);
    /* A Python stack deeper than what is told: whose loop it is not known. */
    assert_woven(&(struct python_stack){.flags = PYTHON_CUT,
                                        .count = 4,
                                        .items = {FRAME(1), RUN_ENDS(50), FRAME(2), FRAME(3)}},
                 whole, "f g h", LIVE_STACK_TRUNCATED, false);
    /* One that could not be followed to its end. */
    assert_woven(&(struct python_stack){.count = 3, .items = {FRAME(1), RUN_ENDS(50), FRAME(2)}},
                 whole, "f 1 2 3 4", LIVE_STACK_WHOLE, true);
}

static void unread_functions(void **state) {
    (void)state;
    struct live_stack stack = c_stack(LIVE_STACK_WHOLE);
    bool lacking;
    const struct python_stack python = {.count = 2, .items = {FRAME(77), RUN_ENDS(150)}};
    assert_true(python_weave(&python, find_function, NULL, &stack, &lacking));
    assert_stack(&stack, "[not read in time] 2 3 4");
    assert_true(lacking);
}

/* More frames than a stack may have. */
static void deep_stacks(void **state) {
    (void)state;
    struct python_stack python = {.count = PYTHON_ITEMS_MAX};
    struct live_stack stack = c_stack(LIVE_STACK_WHOLE);
    bool lacking;
    for (size_t i = 0; i < PYTHON_ITEMS_MAX; i++)
        python.items[i].code = 1;
    python.items[PYTHON_ITEMS_MAX - 1] = (struct python_item)RUN_ENDS(50);
    assert_true(python_weave(&python, find_function, NULL, &stack, &lacking));
    assert_int_equal(stack.count, LIVE_FRAMES_MAX);
    assert_int_equal(stack.end, LIVE_STACK_TRUNCATED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_locations), cmocka_unit_test(table_of_an_interpreter),
        cmocka_unit_test(damaged_tables),     cmocka_unit_test(code_objects),
        cmocka_unit_test(names_are_cut),      cmocka_unit_test(other_objects),
        cmocka_unit_test(other_tables),       cmocka_unit_test(woven_stacks),
        cmocka_unit_test(unread_functions),   cmocka_unit_test(deep_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
