/* A run that begins within another: wherever a stack begins, from there on it is where the whole
 * run's stack is, though its code is numbered otherwise. */
#include <stdio.h>

#include "attribute/stack_starts.h"
#include "call_script.h"

/* Which functions led to each instruction: "mf" is f called, or jumped to, or a handler, below m.
 */
struct paths {
    struct path_tree tree;
    struct path_functions functions;
    struct shadow_stack stack;
    char text[SCRIPT_INSNS][64]; /* of each instruction that was walked, where it moves */
    uint64_t first;
};

static void put_path(const struct paths *paths, uint32_t node, char *text) {
    const struct path_node *at = &paths->tree.nodes[node];
    if (at->parent == PATH_NONE)
        return;
    put_path(paths, at->parent, text);
    const char letter = (char)(paths->functions.items[at->function].offset / FUNCTION_BYTES);
    sprintf(text + strlen(text), "%c", letter);
}

static bool tell(void *context, uint64_t position, uint32_t node) {
    struct paths *paths = context;
    char *text = paths->text[paths->first + position];
    *text = 0;
    put_path(paths, node, text);
    return true;
}

/* Every move to the instructions from `first` on; what does not move is where the one before it is.
 */
static void fill(struct paths *paths, uint64_t first, uint64_t count) {
    for (uint64_t i = first + 1; i < count; i++)
        if (!paths->text[i][0])
            strcpy(paths->text[i], paths->text[i - 1]);
}

static void init(struct paths *paths, const struct code *base, uint64_t first) {
    *paths = (struct paths){.functions = {.extents = {.locate = script_locate}, .base = base},
                            .first = first};
    assert_true(shadow_stack_init(&paths->stack, &paths->tree, &paths->functions, 0, tell, paths));
}

static void end(struct paths *paths) {
    shadow_stack_free(&paths->stack);
    path_tree_free(&paths->tree);
    path_functions_free(&paths->functions);
}

/* The same instructions in a trace that has others before them, and another file. */
static void number_anew(const struct call_script *script, struct call_script *other) {
    *other = *script;
    other->code.insns = other->insns;
    other->code.images = other->images;
    other->images[1] = script->images[0];
    other->images[0] = (struct code_image){.path = "/other", .kind = CODE_IMAGE_FILE};
    other->code.image_count = 2;
    const uint32_t count = script->code.insn_count;
    for (uint32_t i = 0; i < count; i++) {
        other->insns[count - 1 - i] = script->insns[i];
        other->insns[count - 1 - i].image = 1;
    }
    for (uint32_t i = 0; i < script->step_count; i++)
        other->steps[i].insn = count - 1 - script->steps[i].insn;
}

static void compare_from(struct call_script *script, const struct paths *whole, uint32_t first) {
    struct stack_starts *starts =
        stack_starts_new(&(struct path_extents){.locate = script_locate}, false);
    struct call_script *other = calloc(1, sizeof *other);
    struct paths *part = calloc(1, sizeof *part);
    assert_true(starts && other && part);
    assert_true(stack_starts_want(starts, 0, first));
    for (uint32_t i = 0; i < script->step_count;) {
        const uint64_t left = stack_starts_left(starts, 0);
        const uint32_t count =
            left < script->step_count - i ? (uint32_t)left : script->step_count - i;
        const struct trace_batch piece = script_piece(script, i, count);
        assert_true(stack_starts_see(starts, &script->code, &piece));
        i += count;
    }
    assert_true(stack_starts_end(starts, &script->code));
    const struct stack_start *start = stack_starts_find(starts, 0, first);
    assert_non_null(start);
    assert_null(stack_starts_find(starts, 1, first));

    number_anew(script, other);
    init(part, stack_starts_code(starts), first);
    assert_true(shadow_stack_begin(&part->stack, &other->code, starts, start, NULL, 0));
    const struct trace_batch rest = script_piece(other, first, script->step_count - first);
    assert_true(shadow_stack_walk(&part->stack, &other->code, &rest, true));
    fill(part, first, script->step_count);
    for (uint32_t i = first; i < script->step_count; i++)
        assert_string_equal(part->text[i], whole->text[i]);
    end(part);
    free(part);
    free(other);
    stack_starts_free(starts);
}

static void compare(struct call_script *script) {
    struct paths *whole = calloc(1, sizeof *whole);
    assert_non_null(whole);
    script->images[0] = (struct code_image){.path = "/script", .kind = CODE_IMAGE_FILE};
    init(whole, NULL, 0);
    const struct trace_batch all = script_piece(script, 0, script->step_count);
    assert_true(shadow_stack_walk(&whole->stack, &script->code, &all, true));
    fill(whole, 0, script->step_count);
    for (uint32_t first = 0; first < script->step_count; first++)
        compare_from(script, whole, first);
    end(whole);
    free(whole);
}

/* ---- what programs do ---- */

static void calls_and_tail_calls(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    plain(&script, at('m', 0));
    call(&script, at('m', 4), 0xff8);
    call(&script, at('f', 0), 0xff0);
    jump(&script, at('g', 0)); /* a tail call of h */
    plain(&script, at('h', 0));
    back(&script, at('h', 4), 0xff0);
    call(&script, at('f', 4), 0xff0);
    back(&script, at('g', 0), 0xff0);
    back(&script, at('f', 8), 0xff8);
    plain(&script, at('m', 8));
    compare(&script);
}

static void recursion(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    plain(&script, at('m', 0));
    call(&script, at('m', 4), 0xff8);
    for (uint64_t slot = 0xff0; slot > 0xfc0; slot -= 8)
        call(&script, at('f', 0), slot);
    plain(&script, at('f', 0));
    for (uint64_t slot = 0xfc8; slot < 0xff8; slot += 8)
        back(&script, at('f', 4), slot);
    back(&script, at('f', 4), 0xff8);
    plain(&script, at('m', 8));
    compare(&script);
}

static void signals_and_exceptions(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    plain(&script, at('m', 0));
    call(&script, at('m', 4), 0xff8);
    call(&script, at('f', 0), 0xff0);
    interrupted(&script, at('g', 4));
    plain(&script, at('s', 0));
    back_from_handler(&script, at('s', 4));
    plain(&script, at('g', 8));
    call(&script, at('g', 12), 0xfe8);
    jump_indirect(&script, at('u', 0)); /* to m, past f and g */
    plain(&script, at('m', 8));
    compare(&script);
}

static void linkage(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    plain(&script, at('m', 0));
    call(&script, at('m', 4), 0xff8);
    jump_indirect(&script, at(LINKAGE, 0));
    jump_indirect(&script, at(RESOLVER, 0));
    plain(&script, at('f', 0));
    back(&script, at('f', 4), 0xff8);
    plain(&script, at('m', 8));
    compare(&script);
}

/* Two stacks that take turns. */
static void stacks(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    plain(&script, at('m', 0));
    call(&script, at('m', 4), 0xffff8);
    back(&script, at('w', 0), 0x4fff8); /* to a function on a stack that begins */
    call(&script, at('c', 0), 0x4fff0);
    call(&script, at('d', 0), 0x4ffe8);
    back(&script, at('w', 4), 0xffff8);
    call(&script, at('m', 8), 0xffff8);
    back(&script, at('w', 8), 0x4ffe8);
    plain(&script, at('d', 4));
    back(&script, at('d', 8), 0x4fff0);
    plain(&script, at('c', 4));
    compare(&script);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_and_tail_calls),
                                       cmocka_unit_test(recursion),
                                       cmocka_unit_test(signals_and_exceptions),
                                       cmocka_unit_test(linkage), cmocka_unit_test(stacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
