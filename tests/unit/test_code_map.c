/* Basic blocks and functions of hand-made code, and what a trace tells of where control came to. */
#include "trace_script.h"

#include "query/code_map.h"
#include "trace/trace.h"

enum { MAX_INSNS = 16 };

static struct static_insn insns[MAX_INSNS];
static struct code_image images[2];
static struct code code;

static void begin(const char *path) {
    static char anonymous[] = "[anon]";
    code = (struct code){.isa = ISA_RISCV64, .insns = insns, .images = images, .image_count = 2};
    images[0] = (struct code_image){.path = (char *)path, .kind = CODE_IMAGE_FILE};
    images[1] = (struct code_image){.path = anonymous, .kind = CODE_IMAGE_ANONYMOUS};
}

/* Of 4 bytes, unless it is moved or made a branch afterwards. */
static struct static_insn *add(uint32_t image, uint64_t offset) {
    struct static_insn *insn = &insns[code.insn_count++];
    *insn = (struct static_insn){
        .offset = offset, .address = offset, .image = image, .target = UINT32_MAX, .length = 4};
    return insn;
}

static void branch(struct static_insn *insn, enum branch_kind kind, int32_t displacement) {
    insn->branch = kind;
    insn->target_displacement = displacement;
}

static void build(struct code_map *map, struct program *program) {
    struct error error = {0};
    if (!code_map_build(map, &code, program, &error))
        fail_msg("%s", error.message);
}

/* Numbers as they were seen, not as they lie:
 *
 *     0x100  0  plain
 *     0x104  5  plain            target of the branch: a block begins
 *     0x108  1  branch to 0x104
 *     0x10c  2  plain            after a branch
 *     0x110  3  return
 *     0x120  4  plain            after bytes that never executed
 *     0x124  6  plain            control came here: it was an indirect jump's target
 *     0x128  7  jump to 0x900
 *     0x12c  8  plain, in another image */
static void blocks(void **state) {
    (void)state;
    begin("/nowhere");
    add(0, 0x100);
    branch(add(0, 0x108), BRANCH_CONDITIONAL, -4);
    add(0, 0x10c);
    branch(add(0, 0x110), BRANCH_RETURN, 0);
    add(0, 0x120);
    add(0, 0x104);
    add(0, 0x124)->reached = 1;
    branch(add(0, 0x128), BRANCH_JUMP, 0x7d8);
    add(1, 0x12c);
    struct code_map map;
    struct program *program = program_new();
    build(&map, program);
    static const uint32_t block_of[] = {0, 1, 2, 2, 3, 1, 4, 4, 5};
    assert_int_equal(map.block_count, 6);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(map.block_of[i], block_of[i]);
        assert_int_equal(map.function_of[i], i == 8); /* nothing known: one per image */
    }
    assert_int_equal(map.walk.count, 2);
    assert_int_equal(code_map_units(&map, GRAIN_BASIC_BLOCK).unit_count, 6);
    assert_int_equal(code_map_units(&map, GRAIN_FUNCTION).unit_count, 2);
    assert_null(code_map_units(&map, GRAIN_INSTRUCTION).unit_of);
    code_map_free(&map);
    program_free(program);
}

/* A block also ends where a function begins: of this very program. */
static void functions(void **state) {
    (void)state;
    begin("/proc/self/exe");
    struct program *program = program_new();
    uint32_t self = program_add_image(program, "/proc/self/exe", NULL, 0);
    uint64_t offset, size;
    assert_true(program_find_function(program, self, "main", &offset, &size));
    assert_true(size > 8);
    add(0, offset + 4);
    add(0, offset);
    add(0, offset - 4); /* padding, or another function */
    struct code_map map;
    build(&map, program);
    assert_int_equal(map.function_of[0], map.function_of[1]);
    assert_string_equal(map.walk.functions[map.function_of[0]].name, "main");
    assert_int_equal(map.block_of[0], map.block_of[1]);
    assert_int_not_equal(map.function_of[1], map.function_of[2]);
    assert_int_not_equal(map.block_of[1], map.block_of[2]);
    code_map_free(&map);
    program_free(program);
}

static void no_code(void **state) {
    (void)state;
    begin("/nowhere");
    struct code_map map;
    struct program *program = program_new();
    build(&map, program);
    assert_int_equal(map.block_count, 0);
    code_map_free(&map);
    program_free(program);
}

/* Block 0 falls through into block 1 (the capture cut them apart), whose indirect jump leads to
 * block 2, the first time; then to block 0. */
static void trace_tells_where_control_came(void **state) {
    (void)state;
    static struct script script;
    const uint64_t events[] = {event_block(0), event_block(1), event_block(2),
                               event_block(1), event_block(0), event_block(1)};
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 1, "\x90", 1);
    script_block(&script, 0, 0x1001, 2, "\x90\xff\xe0", 3); /* nop; jmp rax */
    script_block(&script, 0, 0x2000, 1, "\xc3", 1);         /* ret */
    script_data(&script, 0, events, 6);
    script_thread_end(&script, 0);
    struct trace *trace = script_open(&script);
    struct trace_batch batch;
    struct error error = {0};
    while (trace_next(trace, &batch, &error) > 0)
        continue;
    assert_string_equal(error.message, "");
    const struct code *seen = trace_code(trace);
    assert_int_equal(seen->insn_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(seen->insns[i].reached, seen->insns[i].offset != 0x1002);
    trace_close(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(functions),
        cmocka_unit_test(no_code),
        cmocka_unit_test(trace_tells_where_control_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
