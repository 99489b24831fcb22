/* Shadow stacks by example: which node each instruction belongs to, in streams written by hand. */
#include <stdio.h>

#include "attribute/shadow_stack.h"
#include "call_script.h"

struct walked {
    struct path_tree tree;
    struct path_functions functions;
    struct shadow_stack stack;
    char text[4096]; /* "0 m|2 m>f|": a move before instruction 0, one before 2 */
};

/* The functions that led to a node: '>' calls, '~' jumps to, '!' is interrupted for; '|' begins a
 * stack, '<' was returned to, '?' is of unknown callers; ":1.7": line 7 of Python's function 1. */
static void put_path(const struct walked *walked, uint32_t node, char *text) {
    static const char MARKS[PATH_KINDS] = {
        [PATH_START] = 0,   [PATH_CALL] = '>',  [PATH_JUMP] = '~', [PATH_SIGNAL] = '!',
        [PATH_STACK] = '|', [PATH_OUTER] = '<', [PATH_GAP] = '?'};
    const struct path_node *at = &walked->tree.nodes[node];
    if (at->parent == PATH_NONE)
        return;
    put_path(walked, at->parent, text);
    const struct path_function *function = &walked->functions.items[at->function];
    if (function->is_python) {
        sprintf(text + strlen(text), ":%d.%d", (int)function->python, (int)function->line);
        return;
    }
    const char letter = (char)(function->offset / FUNCTION_BYTES);
    sprintf(text + strlen(text), "%.1s%c", &MARKS[at->kind], letter);
}

struct told {
    struct walked *walked;
    uint64_t positions[SCRIPT_INSNS];
    uint32_t nodes[SCRIPT_INSNS];
    size_t count;
};

static bool tell(void *context, uint64_t position, uint32_t node) {
    struct told *told = context;
    told->positions[told->count] = position;
    told->nodes[told->count++] = node;
    return true;
}

/* Walks in pieces of so many instructions. Paths are as they are known in the end. */
static void walk(struct call_script *script, struct walked *walked, uint32_t piece) {
    struct told told = {.walked = walked};
    *walked = (struct walked){.functions.extents = {.locate = script_locate}};
    assert_true(
        shadow_stack_init(&walked->stack, &walked->tree, &walked->functions, 0, tell, &told));
    for (uint32_t i = 0; i < script->step_count; i += piece) {
        const uint32_t left = script->step_count - i;
        const struct trace_batch batch = script_piece(script, i, left < piece ? left : piece);
        assert_true(shadow_stack_walk(&walked->stack, &script->code, &batch, true));
    }
    assert_int_equal(walked->stack.position, script->step_count);
    for (size_t i = 0; i < told.count; i++) {
        char path[256] = "";
        put_path(walked, told.nodes[i], path);
        sprintf(walked->text + strlen(walked->text), "%d %s, ", (int)told.positions[i], path);
    }
}

static void end(struct walked *walked) {
    shadow_stack_free(&walked->stack);
    path_tree_free(&walked->tree);
    path_functions_free(&walked->functions);
}

/* Wherever batches end. */
static struct shadow_counts assert_moves(struct call_script *script, const char *expected) {
    static const uint32_t PIECES[] = {SCRIPT_INSNS, 1, 2, 3};
    struct shadow_counts counts = {0};
    for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++) {
        struct walked walked;
        walk(script, &walked, PIECES[i]);
        assert_string_equal(walked.text, expected);
        counts = walked.stack.counts;
        end(&walked);
    }
    return counts;
}

/* main calls f from two places, which are two nodes. */
static void calls_and_returns(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    plain(&script, at('m', 0));
    call(&script, at('m', 4), 0xff8);
    plain(&script, at('f', 0));
    back(&script, at('f', 4), 0xff8);
    call(&script, at('m', 8), 0xff8);
    back(&script, at('f', 4), 0xff8);
    plain(&script, at('m', 12));
    const struct shadow_counts counts = assert_moves(&script, "0 m, 2 m>f, 4 m, 5 m>f, 6 m, ");
    assert_int_equal(counts.calls, 2);
    assert_int_equal(counts.unwound + counts.switched + counts.lost, 0);

    struct walked walked;
    walk(&script, &walked, 100);
    assert_int_equal(walked.tree.node_count, 4); /* the thread, m, f twice */
    end(&walked);
}

/* On riscv64 nothing tells where a return address lies. */
static void without_slots(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_RISCV64);
    call(&script, at('m', 0), 0);
    call(&script, at('f', 0), 0);
    back(&script, at('g', 0), 0);
    back(&script, at('f', 4), 0);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 1 m>f, 2 m>f>g, 3 m>f, 4 m, ");
}

/* f jumps to g in place of a call: g returns to main. g and f that jump to each other for ever are
 * two nodes. */
static void tail_calls(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    jump(&script, at('f', 0));
    plain(&script, at('g', 0));
    jump(&script, at('g', 4)); /* to where f begins */
    jump(&script, at('f', 0));
    plain(&script, at('g', 0));
    back(&script, at('g', 8), 0xff8);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 1 m>f, 2 m>f~g, 4 m>f, 5 m>f~g, 7 m, ");
}

/* A jump within a function, and one into the middle of another that nobody called: a function in
 * pieces. */
static void jumps_that_stay(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    jump(&script, at('f', 0));
    plain(&script, at('f', 0x40));
    jump(&script, at('f', 0x44));
    plain(&script, at('g', 0x40));
    back(&script, at('g', 0x44), 0xff8);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 1 m>f, 6 m, ");
}

/* The entry of the linkage table, and its way to what finds the function, are main's; what finds it
 * hands on. */
static void linkage_table(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    jump_indirect(&script, at('p', 0));
    jump(&script, at('p', 4)); /* the first time: the next instruction of the entry */
    jump_indirect(&script, at('p', 0x80));
    plain(&script, at('r', 0));
    jump_indirect(&script, at('r', 4));
    back(&script, at('f', 0), 0xff8);
    call(&script, at('m', 4), 0xff8);
    jump_indirect(&script, at('p', 0));
    back(&script, at('f', 0), 0xff8);
    jump(&script, at('m', 8)); /* a tail call by way of the table */
    jump_indirect(&script, at('p', 0));
    plain(&script, at('f', 0));
    assert_moves(&script, "0 m, 4 m>r, 6 m>f, 7 m, 9 m>f, 10 m, 12 m~f, ");
}

/* Entries and what finds the function without names, as in stripped files: what is reached by way
 * of the table's first entry ('q') hands on, too. */
static void stripped_linkage_table(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    jump_indirect(&script, at('p', 0));
    jump(&script, at('q', 0x10));
    jump_indirect(&script, at('q', 0x40));
    plain(&script, at('u', 0));
    call(&script, at('u', 4), 0xf8);
    back(&script, at('v', 0), 0xf8);
    jump_indirect(&script, at('u', 8));
    back(&script, at('f', 0), 0xff8);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 4 m>u, 6 m>u>v, 7 m>u, 8 m>f, 9 m, ");
}

/* g calls longjmp ('j'), which jumps to where setjmp had returned to in main; main's next call
 * finds the frames dead. */
static void longjmp_out(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('s', 0), 0xff8);
    call(&script, at('m', 0), 0xfd8);
    call(&script, at('f', 0), 0xfb8);
    call(&script, at('g', 0), 0xf98);
    jump_indirect(&script, at('j', 0));
    plain(&script, at('m', 0x40));
    call(&script, at('m', 0x44), 0xfd8);
    back(&script, at('f', 4), 0xfd8);
    back(&script, at('m', 0x48), 0xff8);
    plain(&script, at('s', 4));
    const struct shadow_counts counts = assert_moves(
        &script, "0 s, 1 s>m, 2 s>m>f, 3 s>m>f>g, 4 s>m>f>g>j, 5 s>m, 7 s>m>f, 8 s>m, 9 s, ");
    assert_int_equal(counts.unwound, 1);
}

/* Out of recursion: f's third activation jumps to its first, and only f's next call tells which it
 * is. */
static void longjmp_within_recursion(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    call(&script, at('f', 0), 0xfd8);
    call(&script, at('f', 0), 0xfb8);
    call(&script, at('f', 8), 0xf98);
    jump_indirect(&script, at('j', 0));
    plain(&script, at('f', 0x40)); /* taken for the innermost */
    call(&script, at('f', 0x44), 0xfd8);
    back(&script, at('g', 0), 0xfd8);
    back(&script, at('f', 0x48), 0xff8);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 1 m>f, 2 m>f>f, 3 m>f>f>f, 4 m>f>f>f>j, 5 m>f>f>f, 7 m>f>g, "
                          "8 m>f, 9 m, ");
}

/* The unwinder ('u') returns by the slot of main's call of f to a landing pad of main. */
static void exception(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('s', 0), 0xff8);
    call(&script, at('m', 0), 0xfd8);
    call(&script, at('f', 0), 0xfb8);
    back(&script, at('u', 0), 0xfd8);
    plain(&script, at('m', 0x80));
    back(&script, at('m', 0x84), 0xff8);
    plain(&script, at('s', 4));
    const struct shadow_counts counts =
        assert_moves(&script, "0 s, 1 s>m, 2 s>m>f, 3 s>m>f>u, 4 s>m, 6 s, ");
    assert_int_equal(counts.unwound, 1);
}

/* A handler, in which another signal arrives; it returns to code ('t') that makes the system call
 * which goes back. */
static void signals(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    interrupted(&script, at('f', 0));
    plain(&script, at('h', 0));
    interrupted(&script, at('h', 4));
    call(&script, at('i', 0), 0xaf8);
    back(&script, at('g', 0), 0xaf8);
    back(&script, at('i', 4), 0xb00);
    back_from_handler(&script, at('t', 0));
    back(&script, at('h', 8), 0xc00);
    back_from_handler(&script, at('t', 0));
    plain(&script, at('f', 4));
    back(&script, at('f', 8), 0xff8);
    plain(&script, at('m', 4));
    const struct shadow_counts counts =
        assert_moves(&script, "0 m, 1 m>f, 2 m>f!h, 4 m>f!h!i, 5 m>f!h!i>g, 6 m>f!h!i, 8 m>f!h, "
                              "10 m>f, 12 m, ");
    assert_int_equal(counts.signals, 2);
    assert_int_equal(counts.lost, 0);
}

/* The handler has f call k, as if from where it was interrupted; k calls g, and returns there. */
static void call_put_in_by_handler(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    interrupted(&script, at('f', 0));
    back(&script, at('h', 0), 0xc00);
    back_from_handler(&script, at('t', 0));
    call(&script, at('k', 0), 0xf88);
    back(&script, at('g', 0), 0xf88);
    back(&script, at('k', 4), 0xf90);
    plain(&script, at('f', 4));
    call(&script, at('f', 8), 0xfd8);
    back(&script, at('g', 0), 0xfd8);
    back(&script, at('f', 12), 0xff8);
    plain(&script, at('m', 4));
    const struct shadow_counts counts =
        assert_moves(&script, "0 m, 1 m>f, 2 m>f!h, 4 m>f>k, 5 m>f>k>g, 6 m>f>k, 7 m>f, 9 m>f>g, "
                              "10 m>f, 11 m, ");
    assert_int_equal(counts.signals, 1);
    assert_int_equal(counts.unwound + counts.lost, 0);
}

/* A signal that waited for the end of the handler: the next handler follows before anything else,
 * and has f call k. */
static void signal_at_end_of_handler(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    interrupted(&script, at('f', 0));
    back(&script, at('h', 0), 0xc00);
    back_from_handler(&script, at('t', 0));
    back(&script, at('h', 0), 0xc00);
    back_from_handler(&script, at('t', 0));
    back(&script, at('k', 0), 0xfe0);
    back(&script, at('f', 4), 0xff8);
    plain(&script, at('m', 4));
    const struct shadow_counts counts =
        assert_moves(&script, "0 m, 1 m>f, 2 m>f!h, 6 m>f>k, 7 m>f, 8 m, ");
    assert_int_equal(counts.signals, 2);
    assert_int_equal(counts.unwound + counts.lost, 0);
}

/* The signal comes between a call and what it calls: f is interrupted, before its first
 * instruction. Then between f's return and main, which is interrupted. */
static void signals_at_branches(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    back(&script, at('f', 0), 0xff8);
    jump(&script, at('m', 4));
    script.insns[0].target = 1;
    step(&script, at('m', 0), BRANCH_CALL, DYN_TAKEN | DYN_SIGNAL, 0xff8);
    back(&script, at('h', 0), 0xc00);
    back_from_handler(&script, at('t', 0));
    call(&script, at('k', 0), 0xfe8);
    back(&script, at('g', 0), 0xfe8);
    back(&script, at('k', 4), 0xff0); /* to where f begins */
    step(&script, at('f', 0), BRANCH_RETURN, DYN_TAKEN | DYN_SIGNAL, 0xff8);
    back(&script, at('h', 0), 0xc00);
    back_from_handler(&script, at('t', 0));
    back(&script, at('n', 0), 0xff8);
    plain(&script, at('m', 4));
    const struct shadow_counts counts =
        assert_moves(&script, "0 m, 1 m>f, 2 m, 4 m>f!h, 6 m>f>k, 7 m>f>k>g, 8 m>f>k, 9 m>f, "
                              "10 m!h, 12 m>n, 13 m, ");
    assert_int_equal(counts.calls, 5);
    assert_int_equal(counts.unwound + counts.lost, 0);
}

/* Where an indirect call leads nothing tells before the handler's end: what the handler has put in
 * returns to where f begins, which then is what main calls. */
static void call_put_in_at_indirect_call(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    step(&script, at('m', 0), BRANCH_INDIRECT_CALL, DYN_TAKEN | DYN_SIGNAL, 0xff8);
    back(&script, at('h', 0), 0xc00);
    back_from_handler(&script, at('t', 0));
    back(&script, at('k', 0), 0xff0);
    call(&script, at('f', 0), 0xfd8);
    back(&script, at('g', 0), 0xfd8);
    back(&script, at('f', 4), 0xff8);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 1 m!h, 3 m>k, 4 m>f, 5 m>f>g, 6 m>f, 7 m, ");
}

/* siglongjmp out of a handler. */
static void longjmp_out_of_handler(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    interrupted(&script, at('f', 0));
    call(&script, at('h', 0), 0xaf8);
    jump_indirect(&script, at('j', 0));
    plain(&script, at('m', 0x40));
    assert_moves(&script, "0 m, 1 m>f, 2 m>f!h, 3 m>f!h>j, 4 m, ");
}

/* main and a coroutine ('c') switch by swapcontext ('w'), which returns on the other's stack: first
 * to where c begins, then to where each had called it. */
static void coroutines(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('s', 0), 0x7fff8);
    call(&script, at('m', 0), 0x7ffd8);
    back(&script, at('w', 0), 0x20ff8);
    plain(&script, at('c', 0));
    call(&script, at('c', 4), 0x20fd8);
    call(&script, at('d', 0), 0x20fb8);
    back(&script, at('w', 0), 0x7ffd8);
    plain(&script, at('m', 4));
    call(&script, at('m', 8), 0x7ffd8);
    back(&script, at('w', 0), 0x20fb8);
    back(&script, at('d', 4), 0x20fd8);
    call(&script, at('c', 8), 0x20fd8);
    back(&script, at('w', 0), 0x7ffd8);
    back(&script, at('m', 12), 0x7fff8);
    plain(&script, at('s', 4));
    const struct shadow_counts counts = assert_moves(
        &script, "0 s, 1 s>m, 2 s>m>w, 3 |c, 5 |c>d, 6 |c>d>w, 7 s>m, 9 s>m>w, 10 |c>d, 11 |c, "
                 "12 |c>w, 13 s>m, 14 s, ");
    assert_int_equal(counts.switched, 4);
    assert_int_equal(counts.lost, 0);
}

/* Coroutines that switch by a jump ('w' takes the address from the stack and jumps to it): two wait
 * at the same place, and which goes on is told by the address that was read. */
static void coroutines_that_jump(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0x7ffd8);
    jump_indirect(&script, at('w', 0)); /* begins a */
    plain(&script, at('a', 0));
    call(&script, at('a', 4), 0x20fd8);
    call(&script, at('d', 0), 0x20fb8);
    jump_indirect(&script, at('w', 0)); /* begins b */
    call(&script, at('b', 0), 0x40fd8);
    call(&script, at('d', 0), 0x40fb8);
    step(&script, at('w', 8), BRANCH_NONE, 0, 0x20fb8);
    jump_indirect(&script, at('w', 12)); /* on in a */
    plain(&script, at('d', 4));
    back(&script, at('d', 8), 0x20fd8);
    plain(&script, at('a', 8));
    assert_moves(&script, "0 m, 1 m>w, 2 m>w~a, 4 |a>d, 5 |a>d>w, 6 |a>d>w~b, 7 |b>d, 8 |b>d>w, "
                          "10 |a>d, 12 |a, ");
}

/* The trace begins inside f: its callers are found when it returns to them. */
static void begins_inside(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('f', 0x10), 0xf98);
    back(&script, at('g', 0), 0xf98);
    back(&script, at('f', 0x14), 0xfb8);
    plain(&script, at('m', 0x40));
    back(&script, at('m', 0x44), 0xff8);
    plain(&script, at('s', 0x40));
    const struct shadow_counts counts =
        assert_moves(&script, "0 <s<mf, 1 <s<mf>g, 2 <s<mf, 3 <s<m, 5 <s, ");
    assert_int_equal(counts.lost, 0);
}

/* Instructions are missing: what is known of the callers stays. */
static void gaps(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    step(&script, at('f', 0), BRANCH_NONE, DYN_GAP, 0);
    plain(&script, at('k', 0x40)); /* called by f, or by what f called */
    back(&script, at('k', 0x44), 0xff8);
    plain(&script, at('m', 4));
    const struct shadow_counts counts = assert_moves(&script, "0 m, 1 m>f, 2 m?k, 4 m, ");
    assert_int_equal(counts.lost, 1);
    assert_int_equal(counts.lost_gaps, 1);
}

/* Code of which no functions are known, made at run time: what is called is one. */
static void nameless_code(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    jump(&script, at('z', 0));
    call(&script, at('z', 0x20), 0xfd8);
    plain(&script, at('z', 0x40));
    back(&script, at('z', 0x44), 0xfd8);
    back(&script, at('z', 0x24), 0xff8);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 1 m>z, 3 m>z>z, 5 m>z, 6 m, ");
}

/* The loop runs line 7 of function 1, which calls f, then line 8, which calls function 2: within
 * the loop, so that this is below it; f belongs to the line that calls it. Then it returns. */
static void python_lines(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    plain(&script, at('l', 0));
    runs(&script, 1, 1, 7, true);
    plain(&script, at('l', 4));
    call(&script, at('l', 8), 0xfe8);
    back(&script, at('f', 0), 0xfe8);
    plain(&script, at('l', 12));
    runs(&script, 1, 1, 8, true);
    plain(&script, at('l', 16));
    runs(&script, 2, 2, 3, false);
    call(&script, at('l', 8), 0xfe8);
    back(&script, at('f', 0), 0xfe8);
    plain(&script, at('l', 12));
    runs(&script, 1, 1, 8, true);
    plain(&script, at('l', 20));
    runs(&script, 0, 0, 0, false);
    back(&script, at('l', 24), 0xff8);
    plain(&script, at('m', 4));
    assert_moves(&script, "0 m, 1 m>l, 2 m>l:1.7, 4 m>l:1.7>f, 5 m>l:1.7, 6 m>l:1.8, "
                          "7 m>l:1.8:2.3, 8 m>l:1.8:2.3>f, 9 m>l:1.8:2.3, 10 m>l:1.8, "
                          "11 m>l, 12 m, ");
}

/* A line calls g, which runs Python in a loop of its own: that one's frames are below it, and the
 * first loop's line is where it was when the call has returned. */
static void python_within_python(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    call(&script, at('m', 0), 0xff8);
    plain(&script, at('l', 0));
    runs(&script, 1, 1, 7, true);
    call(&script, at('l', 8), 0xfe8);
    call(&script, at('g', 0), 0xfd8);
    plain(&script, at('l', 0));
    runs(&script, 2, 2, 3, true);
    plain(&script, at('l', 4));
    runs(&script, 1, 1, 7, true);
    back(&script, at('l', 24), 0xfd8);
    back(&script, at('g', 4), 0xfe8);
    plain(&script, at('l', 12));
    assert_moves(&script, "0 m, 1 m>l, 2 m>l:1.7, 3 m>l:1.7>g, 4 m>l:1.7>g>l, "
                          "5 m>l:1.7>g>l:2.3, 6 m>l:1.7>g>l, 7 m>l:1.7>g, 8 m>l:1.7, ");
}

/* The trace begins within what a line calls, and tells first of all frames: the loop that is
 * returned to is the one that runs the innermost ones. */
static void python_begins_inside(void **state) {
    (void)state;
    struct call_script script;
    script_begin(&script, ISA_X86_64);
    plain(&script, at('f', 0));
    runs_outside(&script, 1, 1, 7, true);
    runs(&script, 2, 2, 9, false);
    back(&script, at('f', 4), 0xfe8);
    plain(&script, at('l', 12));
    runs(&script, 2, 2, 10, false);
    plain(&script, at('l', 16));
    runs(&script, 1, 1, 7, true);
    plain(&script, at('l', 20));
    assert_moves(&script, "0 <lf, 2 <l:1.7:2.9, 3 <l:1.7:2.10, 4 <l:1.7, ");
}

/* With no room for more chains of calls, a function that is called again is its node above. */
static void folded_recursion(void **state) {
    (void)state;
    struct path_tree tree = {.unfolded_max = 2};
    const uint32_t thread = path_tree_add(&tree, PATH_NONE, PATH_THREAD, 0, FUNCTION_NONE);
    const uint32_t first = path_tree_child(&tree, thread, PATH_CALL, 1, 10);
    const uint32_t second = path_tree_child(&tree, first, PATH_CALL, 2, 10);
    assert_int_not_equal(first, second);
    assert_int_equal(path_tree_child(&tree, second, PATH_CALL, 2, 10), second);
    assert_int_equal(path_tree_child(&tree, second, PATH_CALL, 2, 10), second);
    assert_int_equal(tree.node_count, 3);
    const uint32_t other = path_tree_child(&tree, second, PATH_CALL, 3, 11);
    assert_int_equal(path_tree_child(&tree, other, PATH_CALL, 4, 10), second);
    assert_int_equal(tree.node_count, 4);
    path_tree_free(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_returns),
        cmocka_unit_test(without_slots),
        cmocka_unit_test(tail_calls),
        cmocka_unit_test(jumps_that_stay),
        cmocka_unit_test(stripped_linkage_table),
        cmocka_unit_test(linkage_table),
        cmocka_unit_test(longjmp_out),
        cmocka_unit_test(longjmp_within_recursion),
        cmocka_unit_test(exception),
        cmocka_unit_test(signals),
        cmocka_unit_test(call_put_in_by_handler),
        cmocka_unit_test(signal_at_end_of_handler),
        cmocka_unit_test(signals_at_branches),
        cmocka_unit_test(call_put_in_at_indirect_call),
        cmocka_unit_test(longjmp_out_of_handler),
        cmocka_unit_test(coroutines),
        cmocka_unit_test(coroutines_that_jump),
        cmocka_unit_test(begins_inside),
        cmocka_unit_test(gaps),
        cmocka_unit_test(nameless_code),
        cmocka_unit_test(python_lines),
        cmocka_unit_test(python_within_python),
        cmocka_unit_test(python_begins_inside),
        cmocka_unit_test(folded_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
