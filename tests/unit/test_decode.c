/* The decoder against streams of events made by hand. Expected text: see render_insn(). */
#include "trace_script.h"

static struct script script;
static char text[1 << 16];

/* 0x1000: mov eax,[rdi]; add rdi,4; dec ecx; jnz 0x1000   0x100a: ret */
#define LOOP "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6"
#define RET  "\xc3"

static uint64_t load(unsigned log2_size, unsigned index, uint64_t address) {
    return event_access(0, log2_size, index, address);
}
static uint64_t store(unsigned log2_size, unsigned index, uint64_t address) {
    return event_access(1, log2_size, index, address);
}

#define DATA(thread, ...)                                                                          \
    do {                                                                                           \
        static uint64_t events[sizeof((uint64_t[]){__VA_ARGS__}) / 8];                             \
        memcpy(events, (uint64_t[]){__VA_ARGS__}, sizeof events);                                  \
        script_data(&script, thread, events, sizeof events / 8);                                   \
    } while (0)

static void expect(const char *expected) {
    struct error error;
    struct trace *trace = script_open(&script);
    assert_int_equal(render_trace(trace, text, sizeof text, &error), 0);
    assert_string_equal(text, expected);
    trace_close(trace);
}

static void expect_error(const char *part) {
    struct error error = {0};
    struct trace *trace = script_open(&script);
    assert_int_equal(render_trace(trace, text, sizeof text, &error), -1);
    if (!strstr(error.message, part))
        fail_msg("\"%s\" lacks \"%s\"", error.message, part);
    struct trace_batch batch; /* an error is final */
    assert_int_equal(trace_next(trace, &batch, &error), -1);
    trace_close(trace);
}

/* Block 0 is the loop, block 1 the return after it; static instructions 0-3 and 4. */
static void begin_loop(void) {
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 4, LOOP, 10);
    script_block(&script, 0, 0x100a, 1, RET, 1);
}

static void test_loop(void **state) {
    (void)state;
    begin_loop();
    DATA(0, 0, load(2, 0, 0x2000), 0, load(2, 0, 0x2004), 0, load(2, 0, 0x2008), 1,
         load(3, 0, 0x7000));
    script_thread_end(&script, 0);
    expect("t0.: 0 l2000+4/0; 1; 2; 3T; 0 l2004+4/0; 1; 2; 3T; 0 l2008+4/0; 1; 2; 3; "
           "4T l7000+8/0; \n");
    struct error error;
    struct trace *trace = script_open(&script);
    render_trace(trace, text, sizeof text, &error);
    assert_int_equal(trace_code(trace)->insn_count, 5);
    assert_int_equal(trace_code(trace)->insns[3].target, 0);
    assert_int_equal(trace_code(trace)->insns[3].target_displacement, -8);
    assert_int_equal(trace_code(trace)->insns[4].target, UINT32_MAX);
    assert_string_equal(trace_code(trace)->images[0].path, "/bin/prog");
    assert_int_equal(trace_thread_count(trace), 1);
    assert_string_equal(trace_command(trace), "prog -x");
    assert_string_equal(trace_process(trace, 0)->executable, "/bin/prog");
    assert_false(trace_exit_status(trace).known);
    trace_close(trace);
}

/* 0x1000: call 0x1010   0x1005: ret   0x1010: push rax; ret */
static void test_call(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 1, "\xe8\x0b\x00\x00\x00", 5);
    script_block(&script, 0, 0x1010, 2, "\x50\xc3", 2);
    script_block(&script, 0, 0x1005, 1, RET, 1);
    for (int i = 0; i < 2; i++)
        DATA(0, 0, store(3, 0, 0x7008), 1, store(3, 0, 0x7000), load(3, 1, 0x7008), 2,
             load(3, 0, 0x7010));
    expect("t0.: 0T s7008+8/0; 1 s7000+8/0; 2T l7008+8/0; 3T l7010+8/0; "
           "0T s7008+8/0; 1 s7000+8/0; 2T l7008+8/0; 3T l7010+8/0; \n");
}

/* The return's successor lies inside the block that it ends: nothing after that was executed. */
static void test_store_into_own_block(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 3, "\x50\x88\x07\xc3", 4); /* push rax; mov [rdi],al; ret */
    script_block(&script, 0, 0x1001, 1, "\x88\x07", 2);
    script_block(&script, 0, 0x1003, 1, "\xc3", 1);
    DATA(0, 0, store(3, 0, 0x7000), 1, store(0, 0, 0x1003), 2, load(3, 0, 0x7000));
    expect("t0.: 0 s7000+8/0; 1 s1003+1/0; 2T l7000+8/0; \n");
}

/* What follows the call of a recursion returns to itself, once by each path of the decoder: that is
 * no truncation. */
static void test_return_to_own_block(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 2, "\x58\xc3", 2); /* pop rax; ret */
    script_block(&script, 0, 0x1005, 1, RET, 1);
    DATA(0, 0, load(3, 0, 0x7000), load(3, 1, 0x7008), 0, load(3, 0, 0x7010), load(3, 1, 0x7018), 0,
         load(3, 0, 0x7020), load(3, 1, 0x7028), 1, load(3, 0, 0x7030));
    expect("t0.: 0 l7000+8/0; 1T l7008+8/0; 0 l7010+8/0; 1T l7018+8/0; 0 l7020+8/0; "
           "1T l7028+8/0; 2T l7030+8/0; \n");
}

/* A block may jump into its own middle: that is no truncation. */
static void test_jump_into_own_block(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 3, "\x90\x90\xeb\xfd", 4); /* nop; nop; jmp 0x1001 */
    script_block(&script, 0, 0x1001, 2, "\x90\xeb\xfd", 3);
    DATA(0, 0, 1, 1);
    expect("t0.: 0; 1; 2T; 1; 2T; 1; 2T; \n");
}

/* vmovdqu ymm0,[rdi]; vmovdqu [rsi],ymm0; movups xmm1,[rdx]: pieces of 8 bytes become one access,
 * in the first execution (slow path) as in the next ones (pattern). */
static void test_wide(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 3, "\xc5\xfe\x6f\x07\xc5\xfe\x7f\x06\x0f\x10\x0a", 11);
    script_block(&script, 0, 0x100b, 1, "\xeb\xf3", 2); /* jmp 0x1000 */
#define WIDE                                                                                       \
    0, load(3, 0, 0x2000), load(3, 0, 0x2008), load(3, 0, 0x2010), load(3, 0, 0x2018),             \
        store(3, 1, 0x2020), store(3, 1, 0x2028), store(3, 1, 0x2030), store(3, 1, 0x2038),        \
        load(3, 2, 0x2040), load(3, 2, 0x2048), 1
    DATA(0, WIDE, WIDE, WIDE);
#define WIDE_TEXT "0 l2000+32/0; 1 s2020+32/0; 2 l2040+16/0; 3T; "
    expect("t0.: " WIDE_TEXT WIDE_TEXT WIDE_TEXT "\n");
}

/* vpgatherdd xmm1,[rdi+xmm2*4],xmm3: one access per lane, even of neighbours. */
static void test_gather(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 1, "\xc4\xe2\x61\x90\x0c\x97", 6);
    script_block(&script, 0, 0x1006, 1, "\x90", 1);
    DATA(0, 0, load(2, 0, 0x2000), load(2, 0, 0x2004), load(2, 0, 0x3000), load(2, 0, 0x2004), 1);
    expect("t0.: 0 l2000+4/0 l2004+4/0 l3000+4/0 l2004+4/0; 1; \n");
}

/* add [rdi],eax: a load and a store operand. */
static void test_read_modify_write(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 1, "\x01\x07", 2);
    script_block(&script, 0, 0x1002, 1, "\x90", 1);
    DATA(0, 0, load(2, 0, 0x2000), store(2, 0, 0x2000), 1);
    struct error error;
    struct trace *trace = script_open(&script);
    assert_int_equal(render_trace(trace, text, sizeof text, &error), 0);
    if (trace_code(trace)->insns[0].memory_count == 2)
        assert_string_equal(text, "t0.: 0 l2000+4/0 s2000+4/1; 1; \n");
    else
        assert_string_equal(text, "t0.: 0 l2000+4/0 s2000+4/0; 1; \n");
    trace_close(trace);
}

static void begin_rep(void) { /* nop; rep movsb   then nop */
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 2, "\x90\xf3\xa4", 3);
    script_block(&script, 0, 0x1003, 1, "\x90", 1);
}

static uint64_t rep(uint64_t index, uint64_t elements) {
    return event_mark(MARK_REP, index << 45 | elements);
}
static uint64_t span(uint64_t descending, uint64_t bytes) {
    return event_mark(MARK_SPAN, descending << 55 | bytes);
}

static void test_rep(void **state) {
    (void)state;
    begin_rep();
    DATA(0, 0, rep(1, 100), load(0, 1, 0x2000), span(0, 100), store(0, 1, 0x3000), span(0, 100), 1,
         0, rep(1, 0), 1, 0, rep(1, 7), load(0, 1, 0x2000), span(1, 7), store(0, 1, 0x3000),
         span(1, 7), 1);
    expect("t0.: 0; 1Ex100 l2000+100/0 s3000+100/1; 2S; 0; 1Ex0; 2S; "
           "0; 1Ex7 l2000+7/0d s3000+7/1d; 2; \n");
}

static void test_rep_split(void **state) {
    (void)state;
    begin_rep();
    DATA(0, 0, rep(1, 5000000000), load(0, 1, 0x10000), span(0, 5000000000), store(0, 1, 0x3000),
         span(0, 0), 1);
    expect("t0.: 0; 1Ex4294967295 l10000+2147483648/0 l80010000+2147483648/0 "
           "l100010000+705032704/0; 2; \n");
}

static void test_syscall(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 2, "\x90\x0f\x05", 3); /* nop; syscall */
    script_block(&script, 0, 0x1003, 1, "\x90", 1);
    DATA(0, 0, event_mark(MARK_SYSCALL, 1), 1);
    expect("t0.: 0; 1Y; 3; \n"); /* 2 is the call as a vDSO serves it */
}

/* Code is known as soon as it is translated, which may be before or after what was executed before
 * it is decoded: its instructions have the same numbers. */
static void test_numbers_whenever_code_is_met(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        script_begin(&script, ISA_X86_64);
        script_block(&script, 0, 0x1000, 1, "\x0f\x05", 2); /* syscall */
        if (!late)
            script_block(&script, 0, 0x1002, 1, "\x90", 1);
        DATA(0, 0, event_mark(MARK_SYSCALL, 228 | SYSCALL_OF_VDSO));
        if (late)
            script_block(&script, 0, 0x1002, 1, "\x90", 1);
        DATA(0, 1);
        expect("t0.: 1Y; 2; \n");
    }
}

/* The same call site, once served by a vDSO and once not: two static instructions at one place. */
static void test_clock_call(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 1, "\x0f\x05", 2); /* syscall */
    DATA(0, 0, event_mark(MARK_SYSCALL, 228 | SYSCALL_OF_VDSO), 0, event_mark(MARK_SYSCALL, 1), 0,
         event_mark(MARK_SYSCALL, 228 | SYSCALL_OF_VDSO));
    struct error error;
    struct trace *trace = script_open(&script);
    assert_int_equal(render_trace(trace, text, sizeof text, &error), 0);
    assert_string_equal(text, "t0.: 1YS; 0YS; 1Y; \n");
    const struct code *code = trace_code(trace);
    assert_int_equal(code->insn_count, 2);
    const struct static_insn *call = &code->insns[0], *served = &code->insns[1];
    assert_int_equal(call->operation, OP_SYSTEM);
    assert_int_equal(served->operation, OP_CLOCK);
    assert_int_equal(served->address, call->address);
    assert_int_equal(served->uop_count, call->uop_count);
    assert_int_equal(code->uops[served->first_uop + served->uop_count - 1u].operation, OP_CLOCK);
    trace_close(trace);
}

/* A handler at 0x3000 interrupts the loop between two iterations and returns into it. */
static void test_signal(void **state) {
    (void)state;
    begin_loop();
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
    script_block(&script, 0, 0x3001, 1, "\x0f\x05", 2);
    DATA(0, 0, load(2, 0, 0x2000), event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 2, 3,
         event_mark(MARK_SYSCALL, 15), event_mark(MARK_SIGNAL, 0), 0, load(2, 0, 0x2004), 1,
         load(3, 0, 0x7000));
    expect("t0.: 0 l2000+4/0; 1; 2; 3S; 5; 6YS; 0 l2004+4/0; 1; 2; 3; 4T l7000+8/0; \n");
}

/* Without the mark, an impossible successor tells as much. */
static void test_unreachable_successor(void **state) {
    (void)state;
    begin_loop();
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
    DATA(0, 0, load(2, 0, 0x2000), 2, 0, load(2, 0, 0x2000), 2);
    expect("t0.: 0 l2000+4/0; 1; 2; 3S; 5S; 0 l2000+4/0; 1; 2; 3S; 5; \n");
}

/* The load faults; a handler follows. */
static void test_fault(void **state) {
    (void)state;
    begin_loop();
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
    DATA(0, 0, event_mark(MARK_EXECUTED, 0), event_mark(MARK_SIGNAL, HANDLER_OF_FAULTS), 2);
    expect("t0.: 0SF; 5; \n");
}

/* The load of the second iteration is missing when the handler follows: it did not complete. So it
 * is with a division, after the last access. */
static void test_fault_without_mark(void **state) {
    (void)state;
    begin_loop();
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
    script_block(&script, 0, 0x4000, 4, "\x8b\x07\x90\xf7\xf1\x90", 6); /* mov; nop; div ecx; nop */
    DATA(0, 0, load(2, 0, 0x2000), 0, 2, 3, load(2, 0, 0x2000), 2);
    expect("t0.: 0 l2000+4/0; 1; 2; 3T; 0SF; 5S; 6 l2000+4/0; 7; 8SF; 5; \n");
}

/* What the emulator stores of a signal's frame, as accesses of instruction `index`. */
#define FRAME(index, at)                                                                           \
    store(1, index, at), store(1, index, (at) + 2), store(1, index, (at) + 4),                     \
        store(3, index, (at) + 8), store(3, index, (at) + 16), store(2, index, (at) + 24),         \
        store(3, index, (at) + 160), store(3, index, (at) + 168), load(3, index, (at) + 512),      \
        load(2, index, 0x9000)

/* The frame of a signal is none of the block's accesses, whichever instruction it is told of: of
 * one behind the block's end, of the one that accessed memory last, of one before it. Nor are the
 * segments that the emulator loads after a system call. */
static void test_frame(void **state) {
    (void)state;
    for (int index = 0; index < 16; index += 5) {
        begin_loop();
        script_block(&script, 0, 0x3000, 1, "\x90", 1);
        script_block(&script, 0, 0x3001, 1, "\x0f\x05", 2);
        DATA(0, 0, load(2, 0, 0x2000), FRAME(index, 0x6000),
             event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 2, 3, event_mark(MARK_SYSCALL, 15),
             event_mark(MARK_SIGNAL, 0), load(1, 0, 0x6000), load(2, index, 0x9000), 0,
             load(2, 0, 0x2004), 1, load(3, 0, 0x7000));
        expect("t0.: 0 l2000+4/0; 1; 2; 3S; 5; 6YS; 0 l2004+4/0; 1; 2; 3; 4T l7000+8/0; \n");
    }
}

/* Two signals at once, and the frames of both, after a return, which could lead anywhere; the
 * block's pattern, learned before and used after, has no frame in it. */
static void test_frames_after_return(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 2, "\x58\xc3", 2); /* pop rax; ret */
    script_block(&script, 0, 0x2000, 1, "\xeb\xfe", 2);
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
#define POPS 0, load(3, 0, 0x7000), load(3, 1, 0x7008)
    DATA(0, POPS, 1, POPS, FRAME(1, 0x6000), FRAME(1, 0x5000), 2, POPS, FRAME(0, 0x6000),
         event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 2, POPS, 1);
#define POPPED "0 l7000+8/0; 1"
    expect("t0.: " POPPED "T l7008+8/0; 2TS; " POPPED "TS l7008+8/0; 3S; " POPPED
           "TS l7008+8/0; 3S; " POPPED "T l7008+8/0; 2T; \n");
}

/* fxsave64 [rdi] stores the same things in the same order; the frame after it is none of its. */
static void test_frame_after_fxsave(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 2, "\x48\x0f\xae\x07\x90", 5);
    script_block(&script, 0, 0x1005, 1, "\x90", 1);
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
#define SAVED                                                                                      \
    store(1, 0, 0x2000), store(1, 0, 0x2002), store(1, 0, 0x2004), store(3, 0, 0x2008),            \
        store(3, 0, 0x2010), store(3, 0, 0x2018)
    DATA(0, 0, SAVED, 1, 0, SAVED, FRAME(0, 0x6000), event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 2);
#define SAVED_TEXT "0 s2000+6/0 s2008+24/0; "
    expect("t0.: " SAVED_TEXT "1; 2S; " SAVED_TEXT "1S; 3; \n");
}

/* A rep that a timer interrupts keeps what it did; one that faulted did not complete. */
static void test_signal_in_rep(void **state) {
    (void)state;
    begin_rep();
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
#define HALF                                                                                       \
    event_mark(MARK_REP, UINT64_C(1) << 45 | 5), load(0, 1, 0x2000), event_mark(MARK_SPAN, 5),     \
        store(0, 1, 0x4000), event_mark(MARK_SPAN, 5)
    DATA(0, 0, FRAME(1, 0x6000), HALF, event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 2, 0, HALF,
         event_mark(MARK_SIGNAL, HANDLER_OF_FAULTS), 2);
    expect("t0.: 0; 1ESx5 l2000+5/0 s4000+5/1; 3S; 0; 1ESFx5 l2000+5/0 s4000+5/1; 3; \n");
}

/* A division that a timer's signal follows has completed; one that the handler of a fault follows
 * has not. A handler that is called as any function is no signal. */
static void test_kinds_of_handlers(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 2, "\xf7\xf1\x90", 3); /* div ecx; nop */
    script_block(&script, 0, 0x3000, 1, "\x90", 1);
    script_block(&script, 0, 0x1003, 1, "\xe8\xf8\x1f\x00\x00", 5); /* call 0x3000 */
    DATA(0, 0, event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 1, 0,
         event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS | HANDLER_OF_FAULTS), 1, 0,
         event_mark(MARK_SIGNAL, HANDLER_OF_FAULTS), 1, 2, store(3, 0, 0x7000),
         event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 1, 2, store(3, 0, 0x7000), FRAME(0, 0x6000),
         event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS), 1);
    expect("t0.: 0; 1S; 2S; 0; 1S; 2S; 0SF; 2S; 3T s7000+8/0; 2S; 3TS s7000+8/0; 2; \n");
}

/* A program that dies in the middle of a block: what came after is not counted. */
static void test_death(void **state) {
    (void)state;
    begin_loop();
    script_block(&script, 0, 0x4000, 2, "\x90\x50", 2);
    DATA(0, 0, load(2, 0, 0x2000), 1, load(3, 0, 0x7000), 2);
    script_thread_end(&script, 0);
    expect("t0.: 0 l2000+4/0; 1; 2; 3; 4T l7000+8/0; 5; \n");
}

static void test_gap(void **state) {
    (void)state;
    begin_loop();
    DATA(0, 0, load(2, 0, 0x2000), event_mark(MARK_EXECUTED, 2), event_mark(MARK_GAP, 0), 1,
         load(3, 0, 0x7000), event_mark(MARK_GAP, 0), 0, load(2, 0, 0x2004));
    expect("t0.: 0 l2000+4/0; 1G; 4TG l7000+8/0; 0 l2004+4/0; 1; 2; 3; \n");
}

static uint64_t writer(uint32_t index, uint32_t thread) {
    return event_mark(MARK_WRITER, (uint64_t)index << 45 | thread);
}

/* What a read had been written by comes with the instruction, and changes nothing else; also where
 * a chunk ends between the read and that. */
static void test_orders(void **state) {
    (void)state;
    struct error error;
    struct trace_batch batch;
    uint64_t readers = 0, insns = 0;
    begin_loop();
    DATA(0, 0, load(2, 0, 0x2000), writer(0, 7), event_mark(MARK_WRITTEN, 100), 0,
         load(2, 0, 0x2000));
    DATA(0, writer(0, 8), event_mark(MARK_WRITTEN, 200), 1);
    script_thread_end(&script, 0);
    struct trace *trace = script_open(&script);
    while (trace_next(trace, &batch, &error) > 0) {
        for (uint32_t i = 0; i < batch.order_count; i++, readers++) {
            assert_int_equal(batch.orders[i].reader, 4 * readers);
            assert_int_equal(batch.orders[i].writer, 7 + readers);
            assert_int_equal(batch.orders[i].written, 100 * (readers + 1));
        }
        insns += batch.insn_count;
    }
    assert_int_equal(readers, 2);
    assert_int_equal(insns, 8); /* the last block lacks its access: it did not complete */
    trace_close(trace);
}

static uint64_t python(uint32_t index, uint32_t depth, uint32_t function, uint32_t line) {
    return event_mark(MARK_PYTHON, python_mark_payload((struct python_mark){
                                       index, depth == 1, depth, function, line}));
}

/* What Python runs comes with the instruction from which on it does, and changes nothing else. A
 * function that nobody told of is not known; one that is told of out of order is an error. */
static void test_python(void **state) {
    (void)state;
    static const struct trace_python EXPECTED[] = {
        {1, 1, 7, 1, true, true}, {4, 2, 9, 2, false, true}, {5, 0, 3, 3, false, true}};
    struct error error;
    struct trace_batch batch;
    uint64_t insns = 0;
    uint32_t found = 0;
    begin_loop();
    script_add(&script, ITEM_PYTHON)->python = (struct item_python){0, 1, 5, "f", "/a.py"};
    script_add(&script, ITEM_PYTHON)->python = (struct item_python){0, 2, 8, "g", "/a.py"};
    DATA(0, 0, load(2, 0, 0x2000), python(0, 1, 1, 7), python(3, 2, 2, 9), 0, load(2, 0, 0x2000));
    DATA(0, python(0, 3, 77, 3), 1, load(3, 0, 0x2000));
    script_thread_end(&script, 0);
    struct trace *trace = script_open(&script);
    while (trace_next(trace, &batch, &error) > 0) {
        for (uint32_t i = 0; i < batch.python_count; i++, found++) {
            assert_true(found < 3);
            assert_memory_equal(&batch.python[i], &EXPECTED[found], sizeof *EXPECTED);
        }
        insns += batch.insn_count;
    }
    assert_int_equal(found, 3);
    assert_int_equal(insns, 9);
    assert_int_equal(trace_code(trace)->python_count, 2);
    assert_string_equal(trace_code(trace)->python[1].name, "g");
    trace_close(trace);

    begin_loop();
    script_add(&script, ITEM_PYTHON)->python = (struct item_python){0, 2, 5, "f", "/a.py"};
    expect_error("function 2 of Python where 1 was due");
    begin_loop();
    DATA(0, 0, load(2, 0, 0x2000), python(4, 1, 1, 7), 1);
    expect_error("a place of Python is malformed");
}

static uint64_t memory(enum trace_memory_kind kind, uint64_t address) {
    return event_mark(MARK_MEMORY, (uint64_t)kind << 48 | address);
}

/* Events of memory come behind the instructions of their block, and change nothing else; also where
 * a chunk ends before them. */
static void test_memory(void **state) {
    (void)state;
    struct error error;
    struct trace_batch batch;
    struct trace_memory told[4];
    uint32_t count = 0;
    begin_loop();
    DATA(0, 0, load(2, 0, 0x2000), memory(MEMORY_ALLOCATED, 0x5000), event_mark(MARK_EXTENT, 40), 0,
         load(2, 0, 0x2000));
    DATA(0, memory(MEMORY_MAPPED, 0x7000), event_mark(MARK_EXTENT, 3 << EXTENT_IMAGE_BITS | 1),
         memory(MEMORY_FREED, 0x5000), event_mark(MARK_EXTENT, 0), 1, load(3, 0, 0x7000), 0);
    script_thread_end(&script, 0);
    struct trace *trace = script_open(&script);
    while (trace_next(trace, &batch, &error) > 0)
        for (uint32_t i = 0; i < batch.memory_count && count < 4; i++)
            told[count++] = batch.memory[i];
    assert_int_equal(count, 3);
    assert_int_equal(told[0].position, 4);
    assert_int_equal(told[0].kind, MEMORY_ALLOCATED);
    assert_int_equal(told[0].address, 0x5000);
    assert_int_equal(told[0].size, 40);
    assert_int_equal(told[1].position, 8);
    assert_int_equal(told[1].kind, MEMORY_MAPPED);
    assert_int_equal(told[1].size, 3 << 12);
    assert_int_equal(told[1].image, 0);
    assert_int_equal(told[2].position, 8);
    assert_int_equal(told[2].kind, MEMORY_FREED);
    trace_close(trace);
}

/* Chunks may end anywhere after a block's event; what follows may be marks or memory events. */
static void test_chunk_boundaries(void **state) {
    (void)state;
    begin_loop();
    DATA(0, 0);
    DATA(1, 1, load(3, 0, 0x8000));
    DATA(0, load(2, 0, 0x2000));
    DATA(0, 0, load(2, 0, 0x2004), 1);
    script_thread_end(&script, 1);
    DATA(0, load(3, 0, 0x7000), event_mark(MARK_GAP, 0));
    script_thread_end(&script, 0);
    expect("t0.: 0 l2000+4/0; 1; 2; 3T; 0 l2004+4/0; 1; 2; 3; 4TG l7000+8/0; \n"
           "t1.: 4T l8000+8/0; \n");
}

/* Another process maps the same file elsewhere: the same static instructions. Anonymous code is
 * its own in each process. */
static void test_shared_code(void **state) {
    (void)state;
    begin_loop();
    script_process(&script, 1);
    script_block(&script, 1, 0x1000, 4, LOOP, 10);
    struct item_code *moved = &script.items[script.count - 1].code;
    moved->address = 0x555000001000;
    for (uint32_t process = 0; process < 2; process++) {
        script_block(&script, process, 0x8000, 1, RET, 1);
        script.items[script.count - 1].code.image = UINT32_MAX;
    }
    DATA(0, 0, load(2, 0, 0x2000));
    DATA(1, 0, load(2, 0, 0x2000), 1, load(3, 0, 0x7000));
    script.items[script.count - 1].data.process = 1;
    expect("t0.: 0 l2000+4/0; 1; 2; 3; \nt1.: 0 l2000+4/0; 1; 2; 3S; 6T l7000+8/0; \n");
}

static void test_undecodable(void **state) {
    (void)state;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 2, "\x90\x06\x06\x06", 4);
    DATA(0, 0, load(2, 1, 0x2000));
    struct error error;
    struct trace *trace = script_open(&script);
    assert_int_equal(render_trace(trace, text, sizeof text, &error), 0);
    assert_string_equal(text, "t0.: 0; 1 l2000+4/255; \n");
    const struct static_insn *insn = &trace_code(trace)->insns[1];
    assert_int_equal(insn->length, 3);
    assert_int_equal(insn->uop_count, 1);
    assert_int_equal(trace_code(trace)->uops[insn->first_uop].operation, OP_SYSTEM);
    assert_int_equal(trace_note_count(trace), 1);
    assert_non_null(strstr(trace_note(trace, 0), "0x1001: 06 06 06"));
    trace_close(trace);
}

/* Random walks decode to the same whether the quick path sees them (one chunk) or not (a chunk per
 * block, where every block is held and decided from scratch). */
static void test_quick_path_agrees(void **state) {
    (void)state;
    enum { STEPS = 3000 };
    static uint64_t events[STEPS * 3];
    static char whole[1 << 18], pieces[1 << 18];
    uint32_t starts[STEPS + 1], count = 0;
    unsigned seed = 7;
    for (uint32_t step = 0; step < STEPS; step++) {
        starts[step] = count;
        uint32_t block = (seed = seed * 1103515245 + 12345) >> 16 & 1;
        uint64_t address = 0x2000 + (seed >> 20);
        events[count++] = block;
        if (seed >> 8 & 7)
            events[count++] = load(block ? 3 : 2, 0, address);
        if (!(seed >> 12 & 31))
            events[count++] = event_mark(MARK_GAP, 0);
    }
    starts[STEPS] = count;
    begin_loop();
    script_data(&script, 0, events, count);
    struct error error;
    struct trace *trace = script_open(&script);
    assert_int_equal(render_trace(trace, whole, sizeof whole, &error), 0);
    trace_close(trace);
    begin_loop();
    for (uint32_t step = 0; step < STEPS; step++)
        script_data(&script, 0, events + starts[step], starts[step + 1] - starts[step]);
    trace = script_open(&script);
    assert_int_equal(render_trace(trace, pieces, sizeof pieces, &error), 0);
    trace_close(trace);
    assert_string_equal(whole, pieces);
    assert_true(strlen(whole) > 30000);
}

static void test_batch_limits(void **state) {
    (void)state;
    static uint64_t events[20000];
    begin_loop();
    for (int i = 0; i < 10000; i++) {
        events[2 * i] = 0;
        events[2 * i + 1] = load(2, 0, 0x2000);
    }
    script_data(&script, 0, events, 20000);
    struct error error;
    struct trace *trace = script_open(&script);
    struct trace_batch batch;
    uint64_t insns = 0, accesses = 0;
    int batches = 0;
    while (trace_next(trace, &batch, &error) > 0) {
        assert_int_equal(batch.first_insn, insns);
        insns += batch.insn_count;
        accesses += batch.access_count;
        batches++;
        assert_true(batch.insn_count <= TRACE_BATCH_INSNS);
    }
    assert_int_equal(insns, 40000);
    assert_int_equal(accesses, 10000);
    assert_int_equal(batches, 11); /* nine full ones, the rest, and the block held to the end */
    trace_close(trace);
}

static void test_hostile(void **state) {
    (void)state;
    begin_loop();
    DATA(0, 2, 0);
    expect_error("unknown block 2");
    begin_loop();
    DATA(0, 0, 99);
    expect_error("unknown block 99");
    begin_loop();
    DATA(0, load(2, 0, 0x2000), 0);
    expect_error("belongs to no block");
    begin_loop();
    DATA(0, 0, load(2, 4, 0x2000), 0);
    expect_error("out of order");
    begin_loop();
    DATA(0, 0, load(2, 3, 0x2000), load(2, 2, 0x2000), 0);
    expect_error("out of order");
    begin_loop();
    DATA(0, 0, event_mark(MARK_EXECUTED, 5), 0);
    expect_error("5 of 4 instructions");
    begin_loop();
    DATA(0, 0, writer(4, 1), event_mark(MARK_WRITTEN, 1), 0);
    expect_error("malformed");
    begin_loop();
    DATA(0, 0, writer(0, 1), 0);
    expect_error("malformed");
    begin_loop();
    DATA(0, 0, memory(MEMORY_ALLOCATED, 0x5000), 0);
    expect_error("event of memory is malformed");
    begin_loop();
    DATA(0, 0, memory(TRACE_MEMORY_KINDS, 0x5000), event_mark(MARK_EXTENT, 1), 0);
    expect_error("event of memory is malformed");
    begin_loop();
    DATA(0, 0, event_mark(MARK_COUNT, 0), 0);
    expect_error("unknown mark");
    begin_loop();
    DATA(0, 0, span(0, 5), 0);
    expect_error("span");
    begin_rep();
    DATA(0, 0, rep(1, 1), load(0, 1, 0), span(0, (UINT64_C(1) << 55) - 1), 1);
    expect_error("memory accesses");
    begin_loop();
    DATA(0, 0, 0);
    DATA(0, 0, 0);
    script.items[script.count - 1].data.first_insn++;
    expect_error("continues at instruction 9 instead of 8");
    begin_loop();
    DATA(0, 0, load(2, 0, 0x2000), 0);
    script.items[script.count - 1].data.insn_count = 9;
    expect_error("a chunk of 9 instructions enters blocks of only 8");
    begin_loop();
    DATA(0, 0);
    script_thread_end(&script, 0);
    DATA(0, 0);
    expect_error("after its end");
    begin_loop();
    DATA(0, 0);
    script.items[script.count - 1].data.thread = 1u << 31;
    expect_error("thread number");
    begin_loop();
    DATA(0, 0);
    script.items[script.count - 1].data.process = 1;
    expect_error("unknown process");
    begin_loop();
    script_block(&script, 0, 0x2000, 2, "\x90", 1);
    expect_error("malformed");
    begin_loop();
    script_block(&script, 0, 0x2000, 1, "\x90", 1);
    script.items[script.count - 1].code.block = 7;
    expect_error("block number 7 where 2 was due");
    begin_loop();
    script_block(&script, 0, 0x2000, 1, "\x90", 1);
    script.items[script.count - 1].code.image = 1;
    expect_error("unknown image");
    begin_loop();
    script_process(&script, 2);
    expect_error("process number 2");
}

/* Chunks of 4,096 instructions fit the first time, not the second: the block held before is handed
 * out with a gap, and the events of the last block passed, which come in the next chunk, are let
 * go. */
static void test_pass(void **state) {
    (void)state;
    enum { BLOCKS = 1024 };
    static uint64_t events[2 * BLOCKS];
    begin_loop();
    for (int i = 0; i < BLOCKS; i++) {
        events[2 * i] = 0;
        events[2 * i + 1] = load(2, 0, 0x2000);
    }
    DATA(0, 0, load(2, 0, 0x2000), 0, load(2, 0, 0x2004));
    script_data(&script, 0, events, 2 * BLOCKS - 1);
    DATA(0, load(2, 0, 0x2008), 0, load(2, 0, 0x200c), 1, load(3, 0, 0x7000));
    script_thread_end(&script, 0);
    struct error error;
    struct trace *trace = script_open(&script);
    struct trace_batch batch;
    assert_int_equal(trace_next(trace, &batch, &error), 1);
    assert_int_equal(batch.insn_count, 4);
    assert_int_equal(batch.passed, 0);
    trace_pass(trace, 4 * BLOCKS + EVENT_MAX_BLOCK_INSNS);
    assert_int_equal(trace_next(trace, &batch, &error), 1);
    assert_int_equal(batch.first_insn, 4);
    assert_int_equal(batch.insn_count, 4);
    assert_int_equal(batch.insns[3].flags & DYN_GAP, DYN_GAP);
    assert_int_equal(batch.passed, 4 * BLOCKS);
    assert_int_equal(trace_next(trace, &batch, &error), 1);
    assert_int_equal(batch.first_insn, 8 + 4 * BLOCKS);
    assert_int_equal(batch.insn_count, 4);
    assert_int_equal(batch.passed, 0);
    assert_int_equal(batch.accesses[0].address, 0x200c);
    assert_int_equal(trace_next(trace, &batch, &error), 1);
    assert_int_equal(batch.insn_count, 1);
    assert_true(batch.thread_ended);
    assert_int_equal(trace_next(trace, &batch, &error), 0);
    trace_close(trace);

    trace = script_open(&script);
    uint64_t insns = 0;
    for (;;) {
        trace_pass(trace, 4 * BLOCKS + EVENT_MAX_BLOCK_INSNS - 1);
        if (trace_next(trace, &batch, &error) <= 0)
            break;
        assert_true(batch.passed < 4 * BLOCKS);
        insns += batch.insn_count + batch.passed;
    }
    assert_int_equal(insns, 8 + 4 * BLOCKS + 5);
    trace_close(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_call),
        cmocka_unit_test(test_store_into_own_block),
        cmocka_unit_test(test_return_to_own_block),
        cmocka_unit_test(test_jump_into_own_block),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_read_modify_write),
        cmocka_unit_test(test_rep),
        cmocka_unit_test(test_rep_split),
        cmocka_unit_test(test_syscall),
        cmocka_unit_test(test_numbers_whenever_code_is_met),
        cmocka_unit_test(test_clock_call),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_unreachable_successor),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_frames_after_return),
        cmocka_unit_test(test_frame_after_fxsave),
        cmocka_unit_test(test_signal_in_rep),
        cmocka_unit_test(test_kinds_of_handlers),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_fault_without_mark),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_chunk_boundaries),
        cmocka_unit_test(test_shared_code),
        cmocka_unit_test(test_undecodable),
        cmocka_unit_test(test_quick_path_agrees),
        cmocka_unit_test(test_batch_limits),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
