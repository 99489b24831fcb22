/* Control-flow graphs of code assembled by hand: each kind of edge and each flag, on both
 * architectures. Procedures stand at 0x1000. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyze/no_return.h"
#include "cfg_describe.h"

enum { ADDRESS = 0x1000 };

/* abort@plt is at 0x2000, puts@plt at 0x2010. */
static const char *name_of(void *context, uint64_t address) {
    (void)context;
    return address == 0x2000 ? "abort@plt" : address == 0x2010 ? "puts@plt" : NULL;
}

static void check(enum isa isa, const char *hex, const char *expected) {
    uint8_t bytes[512];
    size_t size = graph_bytes(hex, bytes, sizeof bytes);
    assert_true(size > 0);
    uint8_t *exact = malloc(size); /* so that reads behind it are seen */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    struct procedure_code code = {
        .isa = isa, .bytes = exact, .size = size, .address = ADDRESS, .name = name_of};
    check_graph(&code, expected);
    free(exact);
}

static void x86(const char *hex, const char *expected) {
    check(ISA_X86_64, hex, expected);
}

static void riscv(const char *hex, const char *expected) {
    check(ISA_RISCV64, hex, expected);
}

static void straight_code(void **state) {
    (void)state;
    x86("c3", "0-1: return; entry 0");
    x86("90 90 c3", "0-3: return; entry 0");
    riscv("82 80", "0-2: return; entry 0");                   /* ret */
    riscv("13 05 00 00 67 80 00 00", "0-8: return; entry 0"); /* li a0,0; ret */
    riscv("82 82", "0-2: return; entry 0");                   /* jr t0: the other link register */
}

static void branches(void **state) {
    (void)state;
    /* 0: test edi,edi; 2: je 5; 4: ret; 5: ret */
    x86("85 ff 74 01 c3 c3", "0-4: fall 4, taken 5; 4-5: return; 5-6: return; entry 0");
    /* 0: jmp 3; 2: (never) nop; 3: ret */
    x86("eb 01 90 c3", "0-2: taken 3; 3-4: return; entry 0");
    /* 0: beqz a0,6; 2: j 6; 4: c.nop; 6: ret */
    riscv("19 c1 11 a0 01 00 82 80", "0-2: fall 2, taken 6; 2-4: taken 6; 6-8: return; entry 0");
    /* Both ways lead to the same place: je +0 */
    x86("74 00 c3", "0-2: fall 2, taken 2; 2-3: return; entry 0");
}

static void loops(void **state) {
    (void)state;
    /* 0: dec edi; 2: jne 0; 4: ret */
    x86("ff cf 75 fc c3", "0-4*: fall 4, taken 0; 4-5: return; entry 0");
    /* 0: nop; 1: nop; 2: nop; 3: dec edi; 5: jne 2; 7: dec esi; 9: jne 1; b: ret */
    x86("90 90 90 ff cf 75 fb ff ce 75 f6 c3",
        "0-1: fall 1; 1-2*: fall 2; 2-7**: fall 7, taken 2; 7-b*: fall b, taken 1; b-c: return; "
        "entry 0");
    /* Two edges to one head are one loop. 0: dec edi; 2: jne 0; 4: dec esi; 6: jne 0; 8: ret */
    x86("ff cf 75 fc ff ce 75 f8 c3",
        "0-4*: fall 4, taken 0; 4-8*: fall 8, taken 0; 8-9: return; entry 0");
    /* 0: je 4; 2: dec edi; 4: dec esi; 6: jne 2; 8: ret. The cycle 2-4 is entered at both: no
     * loop. */
    x86("74 02 ff cf ff ce 75 fa c3",
        "0-2: fall 2, taken 4; 2-4: fall 4; 4-8: fall 8, taken 2; 8-9: return; entry 0");
    /* 0: addi a0,a0,-1; 2: bnez a0,0; 4: ret */
    riscv("7d 15 7d fd 82 80", "0-4*: fall 4, taken 0; 4-6: return; entry 0");
}

static void endless(void **state) {
    (void)state;
    x86("eb fe", "0-2*: taken 0; entry 0 [endless]");
    /* 0: je 4; 2: jmp 2; 4: ret: one way never ends. */
    x86("74 02 eb fe c3", "0-2: fall 2, taken 4; 2-4*: taken 2; 4-5: return; entry 0 [endless]");
    riscv("01 a0", "0-2*: taken 0; entry 0 [endless]"); /* j 0 */
}

static void tail_calls(void **state) {
    (void)state;
    x86("e9 fb 0f 00 00", "0-5: tail; entry 0");                /* jmp 0x2000 */
    x86("74 10 c3", "0-2: fall 2, tail; 2-3: return; entry 0"); /* je 0x1012 */
    x86("eb ee", "0-2: tail; entry 0");                         /* backwards */
    x86("74 01 c3", "0-2: fall 2, tail; 2-3: return; entry 0"); /* to right behind the end */
    riscv("6f 10 00 00", "0-4: tail; entry 0");                 /* j 0x2000 */
}

static void calls_stay_in_their_block(void **state) {
    (void)state;
    /* call puts@plt; nop; ret: one no-op does not align what follows. */
    x86("e8 0b 10 00 00 90 c3", "0-7: return; entry 0");
    /* call 5: the address of the next instruction */
    x86("e8 00 00 00 00 58 c3", "0-7: return; entry 0");
    /* call *%rax; ret */
    x86("ff d0 c3", "0-3: return; entry 0");
    /* A call of itself is no edge: 0: call 0; 5: ret */
    x86("e8 fb ff ff ff c3", "0-6: return; entry 0");
    /* A local subroutine is entered from outside. 0: call 6; 5: ret; 6: ret */
    x86("e8 01 00 00 00 c3 c3", "0-6: return; 6-7: return; entry 0, entry 6");
    /* 0: jal ra,0x2010; 4: ret (the return address is lost, but that is not its matter) */
    riscv("ef 10 00 01 82 80", "0-6: return; entry 0");
    riscv("02 95 82 80", "0-4: return; entry 0"); /* jalr a0; ret */
}

static void calls_that_do_not_return(void **state) {
    (void)state;
    x86("e8 fb 0f 00 00", "0-5: stop; entry 0"); /* abort, at the end */
    /* 0: je 7; 2: call abort@plt; 7: ret */
    x86("74 05 e8 f9 0f 00 00 c3", "0-2: fall 2, taken 7; 2-7: stop; 7-8: return; entry 0");
    /* 0: beqz a0,6; 2: jal ra,0x2000; 6: ret */
    riscv("19 c1 ef 00 f0 7f 82 80", "0-2: fall 2, taken 6; 2-6: stop; 6-8: return; entry 0");
    /* Of any name at the end, or in front of padding that is never executed. */
    /* Far: auipc ra,1; jalr ra,0(ra); c.nop; ret */
    riscv("97 10 00 00 e7 80 00 00 01 00 82 80",
          "0-8: stop; a-c: return; entry 0, unknown a [unreached]");
    x86("ff d0", "0-2: stop; entry 0");
    x86("ff d0 cc cc", "0-2: stop; entry 0");
    x86("ff d0 00 00 00", "0-2: stop; entry 0");
    x86("ff d0 90 90", "0-2: stop; entry 0");
    riscv("02 95 00 00", "0-2: stop; entry 0");
    /* In front of what is no instruction. */
    x86("ff d0 06", "0-2: stop; entry 0");
}

/* je 0xe; ... at 8 and 0x10, which compilers align. */
static void padding_behind_calls(void **state) {
    (void)state;
    /* 0: call *%rax; 2: nops; 8: dec edi; a: jne 8; c: ret: the call returns into a loop. */
    x86("ff d0 66 0f 1f 44 00 00 ff cf 75 fc c3",
        "0-8: fall 8; 8-c*: fall c, taken 8; c-d: return; entry 0");
    /* 0: je 8; 2: call *%rax; 4: nops; 8: ret: what is aligned is jumped to alone. */
    x86("74 06 ff d0 0f 1f 40 00 c3", "0-2: fall 2, taken 8; 2-4: stop; 8-9: return; entry 0");
    /* 0: call *%rax; 2: nops; 8: ret: only the call can lead there. */
    x86("ff d0 66 0f 1f 44 00 00 c3", "0-9: return; entry 0");
}

static void traps(void **state) {
    (void)state;
    x86("0f 0b", "0-2: stop; entry 0"); /* ud2 */
    x86("cc", "0-1: stop; entry 0");
    x86("f4", "0-1: stop; entry 0");      /* hlt */
    riscv("02 90", "0-2: stop; entry 0"); /* ebreak */
    riscv("00 00", "0-2: stop; entry 0"); /* unimp */
}

static void code_that_runs_out(void **state) {
    (void)state;
    x86("90", "0-1: stop; entry 0 [runs out]");
    x86("90 b8 00 00", "0-1: stop; entry 0 [runs out]"); /* mov eax, cut off */
    /* je 3: right to the cut */
    x86("74 01 c3 b8 00", "0-2: fall 2, stop; 2-3: return; entry 0 [runs out]");
    riscv("01 00 13 05", "0-2: stop; entry 0 [runs out]");
}

static void bytes_that_do_not_decode(void **state) {
    (void)state;
    /* 06 is no instruction in 64-bit mode. The byte behind it is a gap. */
    x86("90 06 c3", "0-1: stop; 2-3: return; entry 0, unknown 2 [undecodable] [unreached]");
    x86("74 01 c3 06", "0-2: fall 2, stop; 2-3: return; entry 0 [undecodable]");
    struct procedure_code code = {
        .isa = ISA_X86_64, .bytes = (const uint8_t *)"\x06\xc3", .size = 2, .address = ADDRESS};
    struct cfg cfg;
    struct error error = {0};
    assert_false(cfg_build(&cfg, &code, &error));
    assert_string_equal(error.message, "no instruction begins where the procedure does");
    cfg_free(&cfg);
    code.size = 0;
    assert_false(cfg_build(&cfg, &code, &error));
    cfg_free(&cfg);
    code.size = (16 << 20) + 1;
    assert_false(cfg_build(&cfg, &code, &error));
    assert_string_equal(error.message, "16777217 bytes of code are too many for one procedure");
    cfg_free(&cfg);
}

static void overlapping_instructions(void **state) {
    (void)state;
    /* 0: je 3; 2: lock; 3: inc (%rax): both "lock inc" from 2 and "inc" from 3, as C libraries do.
     * They fall together at 5, where a block begins. */
    x86("74 01 f0 ff 00 c3",
        "0-2: fall 2, taken 3; 2-5: fall 5; 3-5: fall 5; 5-6: return; entry 0 [overlapping]");
    /* 0: mov eax,0x9090c3: jumped into. 0: b8 c3 ...; 5: jmp 1 */
    x86("b8 c3 90 90 00 eb fa", "0-7: taken 1; 1-2: return; entry 0 [overlapping]");
}

static void gaps_between_blocks(void **state) {
    (void)state;
    /* 0: ret; 1: nops; 4: endbr64; 8: ret: a landing pad. */
    x86("c3 0f 1f 00 f3 0f 1e fa c3", "0-1: return; 4-9: return; entry 0, unknown 4 [unreached]");
    /* Two of them, the second jumps to the first. */
    x86("c3 90 c3 90 eb fc", "0-1: return; 2-3: return; 4-6: taken 2; "
                             "entry 0, unknown 2, unknown 4 [unreached]");
    /* Padding alone is none, nor is what does not look like code. */
    x86("c3 cc cc 66 90 00 00 00", "0-1: return; entry 0");
    x86("c3 06 06", "0-1: return; entry 0");
    x86("c3 b8 01", "0-1: return; entry 0");
    /* Data that would run into the middle of what was found: 0: jmp 4; 2: b8 (mov eax, which would
     * take 3 to 6); 4: ret. */
    x86("eb 02 b8 00 c3", "0-2: taken 4; 4-5: return; entry 0");
    riscv("82 80 01 00 82 80", "0-2: return; 4-6: return; entry 0, unknown 4 [unreached]");
}

static void names_of_functions_that_do_not_return(void **state) {
    (void)state;
    static const char *const STOP[] = {"abort",
                                       "exit@plt",
                                       "_exit",
                                       "_Exit@@GLIBC_2.2.5",
                                       "__stack_chk_fail@plt",
                                       "__assert_fail@GLIBC_2.2.5",
                                       "__assert",
                                       "longjmp",
                                       "siglongjmp@plt",
                                       "__longjmp_chk",
                                       "__cxa_throw@plt",
                                       "__cxa_rethrow",
                                       "_Unwind_Resume@plt",
                                       "errx@plt",
                                       "quick_exit",
                                       "std::__throw_length_error(char const*)@plt",
                                       "std::__throw_bad_alloc()",
                                       "_ZSt20__throw_length_errorPKc",
                                       "std::terminate()@plt",
                                       "pthread_exit@plt",
                                       "__fortify_fail",
                                       "__libc_fatal",
                                       "core::panicking::panic_fmt",
                                       "xalloc_die",
                                       "__libc_start_main@plt",
                                       "____longjmp_chk",
                                       "runtime.panicIndex",
                                       "verrx@plt"};
    static const char *const RETURN[] = {"exit_group_name", "puts@plt", "errors", "err",
                                         "abortive",        "",         "@plt",   "std::__thread",
                                         "_ZSt4cout",       "setjmp"};
    for (size_t i = 0; i < sizeof STOP / sizeof *STOP; i++)
        if (!name_never_returns(STOP[i]))
            fail_msg("%s returns", STOP[i]);
    for (size_t i = 0; i < sizeof RETURN / sizeof *RETURN; i++)
        if (name_never_returns(RETURN[i]))
            fail_msg("%s does not return", RETURN[i]);
    assert_false(name_never_returns(NULL));
}

static void edge_kinds_have_names(void **state) {
    (void)state;
    assert_string_equal(cfg_edge_kind_name(EDGE_FALL), "fall through");
    assert_string_equal(cfg_edge_kind_name(EDGE_UNKNOWN), "unknown entry");
    assert_string_equal(cfg_edge_kind_name((enum cfg_edge_kind)99), "unknown");
}

/* Random graphs of few instructions, so that branches often meet: what cfg_check.h says holds,
 * loops by their definition among it. */
static void random_code(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t bytes[64];
        size_t size = 0;
        while (size < 60) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            unsigned choice = random >> 60, target = random >> 33 & 63;
            if (choice < 7) { /* jcc */
                bytes[size] = 0x74;
                bytes[size + 1] = (uint8_t)(target - size - 2);
                size += 2;
            } else if (choice < 10) { /* jmp */
                bytes[size] = 0xeb;
                bytes[size + 1] = (uint8_t)(target - size - 2);
                size += 2;
            } else {
                bytes[size++] = choice < 12 ? 0xc3 : 0x90;
            }
        }
        struct procedure_code code = {
            .isa = ISA_X86_64, .bytes = bytes, .size = size, .address = ADDRESS};
        struct cfg cfg;
        struct error error;
        assert_true(cfg_build(&cfg, &code, &error));
        const char *problem = cfg_problem(&cfg);
        if (problem)
            fail_msg("round %u: %s", round, problem);
        cfg_free(&cfg);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code),
        cmocka_unit_test(branches),
        cmocka_unit_test(loops),
        cmocka_unit_test(endless),
        cmocka_unit_test(tail_calls),
        cmocka_unit_test(calls_stay_in_their_block),
        cmocka_unit_test(calls_that_do_not_return),
        cmocka_unit_test(padding_behind_calls),
        cmocka_unit_test(traps),
        cmocka_unit_test(code_that_runs_out),
        cmocka_unit_test(bytes_that_do_not_decode),
        cmocka_unit_test(overlapping_instructions),
        cmocka_unit_test(gaps_between_blocks),
        cmocka_unit_test(names_of_functions_that_do_not_return),
        cmocka_unit_test(edge_kinds_have_names),
        cmocka_unit_test(random_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
