/* What loops of a few instructions say of their rounds: addresses, divisions, branches, streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/loop_body.h"

/* The machine code is what is written beside it, made by an assembler; an instruction is named by
 * its offset. */
static const uint8_t COUNTER[] = {
    0x48, 0x8b, 0x14, 0xc7, /*  0 mov (%rdi,%rax,8),%rdx */
    0x48, 0x01, 0xd1,       /*  4 add %rdx,%rcx */
    0x48, 0xff, 0xc0,       /*  7 inc %rax */
    0x48, 0x39, 0xf0,       /*  a cmp %rsi,%rax */
    0x75, 0xf1,             /*  d jne 0 */
    0xc3,                   /*  f ret */
};
static const uint8_t INDIRECT[] = {
    0x8b, 0x14, 0x86,       /*  0 mov (%rsi,%rax,4),%edx */
    0x48, 0x03, 0x0c, 0xd7, /*  3 add (%rdi,%rdx,8),%rcx */
    0x48, 0xff, 0xc0,       /*  7 inc %rax */
    0x4c, 0x39, 0xc0,       /*  a cmp %r8,%rax */
    0x75, 0xf1,             /*  d jne 0 */
    0xc3,                   /*  f ret */
};
static const uint8_t LIST[] = {
    0x48, 0x03, 0x4f, 0x08, /*  0 add 8(%rdi),%rcx */
    0x48, 0x8b, 0x3f,       /*  4 mov (%rdi),%rdi */
    0x48, 0x85, 0xff,       /*  7 test %rdi,%rdi */
    0x75, 0xf4,             /*  a jne 0 */
    0xc3,                   /*  c ret */
};
static const uint8_t SPILLED[] = {
    0x48, 0x8b, 0x14, 0x24, /*  0 mov (%rsp),%rdx */
    0x48, 0x03, 0x0c, 0x02, /*  4 add (%rdx,%rax),%rcx */
    0x48, 0x89, 0x0c, 0x24, /*  8 mov %rcx,(%rsp) */
    0x48, 0xff, 0xc0,       /*  c inc %rax */
    0x4c, 0x39, 0xc0,       /*  f cmp %r8,%rax */
    0x75, 0xec,             /* 12 jne 0 */
    0xc3,                   /* 14 ret */
};
static const uint8_t CALLED[] = {
    0xe8, 0xfb, 0x00, 0x00, 0x00, /*  0 call .+0x100 */
    0x48, 0x8b, 0x10,             /*  5 mov (%rax),%rdx */
    0x48, 0xff, 0xc3,             /*  8 inc %rbx */
    0x48, 0x39, 0xeb,             /*  b cmp %rbp,%rbx */
    0x75, 0xf0,                   /*  e jne 0 */
    0xc3,                         /* 10 ret */
};
static const uint8_t DIVIDED[] = {
    0x31, 0xd2,       /*  0 xor %edx,%edx */
    0x48, 0x89, 0xc8, /*  2 mov %rcx,%rax */
    0x48, 0xf7, 0xf6, /*  5 div %rsi */
    0x49, 0x01, 0xc1, /*  8 add %rax,%r9 */
    0x31, 0xd2,       /*  b xor %edx,%edx */
    0x48, 0x89, 0xc8, /*  d mov %rcx,%rax */
    0x49, 0xf7, 0xf2, /* 10 div %r10 */
    0x49, 0xff, 0xc2, /* 13 inc %r10 */
    0x48, 0xff, 0xc9, /* 16 dec %rcx */
    0x75, 0xe5,       /* 19 jne 0 */
    0xc3,             /* 1b ret */
};
static const uint8_t CHOICES[] = {
    0x85, 0xd2,                   /*  0 test %edx,%edx */
    0x74, 0x03,                   /*  2 je 7 */
    0x48, 0xff, 0xc1,             /*  4 inc %rcx */
    0x39, 0xc3,                   /*  7 cmp %eax,%ebx */
    0x7f, 0x04,                   /*  9 jg f */
    0x89, 0xc3,                   /*  b mov %eax,%ebx */
    0xeb, 0x02,                   /*  d jmp 11 */
    0xf7, 0xdb,                   /*  f neg %ebx */
    0x85, 0xed,                   /* 11 test %ebp,%ebp */
    0x74, 0x05,                   /* 13 je 1a */
    0xe8, 0xfb, 0x00, 0x00, 0x00, /* 15 call .+0x100 */
    0x48, 0xff, 0xce,             /* 1a dec %rsi */
    0x75, 0xe1,                   /* 1d jne 0 */
    0xc3,                         /* 1f ret */
};
static const uint8_t STREAM[] = {
    0xf2, 0x0f, 0x10, 0x04, 0xc7, /*  0 movsd (%rdi,%rax,8),%xmm0 */
    0xf2, 0x0f, 0x59, 0xc1,       /*  5 mulsd %xmm1,%xmm0 */
    0xf2, 0x0f, 0x11, 0x04, 0xc6, /*  9 movsd %xmm0,(%rsi,%rax,8) */
    0x48, 0xff, 0xc0,             /*  e inc %rax */
    0x4c, 0x39, 0xc0,             /* 11 cmp %r8,%rax */
    0x75, 0xea,                   /* 14 jne 0 */
    0xc3,                         /* 16 ret */
};
static const uint8_t SUM[] = {
    0xf3, 0x0f, 0x10, 0x07, /*  0 movss (%rdi),%xmm0 */
    0xf3, 0x0f, 0x59, 0xc1, /*  4 mulss %xmm1,%xmm0 */
    0xf3, 0x0f, 0x11, 0x06, /*  8 movss %xmm0,(%rsi) */
    0xf3, 0x0f, 0x58, 0xd0, /*  c addss %xmm0,%xmm2 */
    0x48, 0x83, 0xc7, 0x04, /* 10 add $4,%rdi */
    0x48, 0x83, 0xc6, 0x04, /* 14 add $4,%rsi */
    0x48, 0xff, 0xc8,       /* 18 dec %rax */
    0x75, 0xe3,             /* 1b jne 0 */
    0xc3,                   /* 1d ret */
};
static const uint8_t APART[] = {
    0xf3, 0x0f, 0x10, 0x07, /*  0 movss (%rdi),%xmm0 */
    0xf3, 0x0f, 0x59, 0xc1, /*  4 mulss %xmm1,%xmm0 */
    0xf3, 0x0f, 0x11, 0x06, /*  8 movss %xmm0,(%rsi) */
    0x48, 0x83, 0xc7, 0x08, /*  c add $8,%rdi */
    0x48, 0x83, 0xc6, 0x04, /* 10 add $4,%rsi */
    0x48, 0xff, 0xc8,       /* 14 dec %rax */
    0x75, 0xe7,             /* 17 jne 0 */
    0xc3,                   /* 19 ret */
};

struct made {
    struct procedure_code code;
    struct cfg cfg;
    struct loop_body body;
};

#define MAKE(made, bytes) make(made, bytes, sizeof(bytes))
static void make(struct made *made, const uint8_t *bytes, size_t size) {
    struct error error;
    made->code =
        (struct procedure_code){.isa = ISA_X86_64, .bytes = bytes, .size = size, .address = 0x1000};
    assert_true(cfg_build(&made->cfg, &made->code, &error));
    assert_true(loop_body_build(&made->body, &made->cfg, 0));
}

static void drop(struct made *made) {
    loop_body_free(&made->body);
    cfg_free(&made->cfg);
}

static enum address_origin origin(const struct made *made, uint32_t offset) {
    return loop_address_origin(&made->body, cfg_insn_at(&made->cfg, offset));
}

static void addresses(void **state) {
    (void)state;
    struct made made;
    MAKE(&made, COUNTER);
    assert_int_equal(origin(&made, 0x0), ADDRESS_COMPUTED);
    drop(&made);
    MAKE(&made, INDIRECT); /* of the second by what the first gives, which waits for no load */
    assert_int_equal(origin(&made, 0x0), ADDRESS_COMPUTED);
    assert_int_equal(origin(&made, 0x3), ADDRESS_LOADED);
    drop(&made);
    MAKE(&made, LIST); /* of both by the link that was loaded a round ago */
    assert_int_equal(origin(&made, 0x0), ADDRESS_CHASED);
    assert_int_equal(origin(&made, 0x4), ADDRESS_CHASED);
    drop(&made);
    MAKE(&made, SPILLED); /* by a variable on the stack, which the loop writes */
    assert_int_equal(origin(&made, 0x0), ADDRESS_FIXED);
    assert_int_equal(origin(&made, 0x4), ADDRESS_UNKNOWN);
    drop(&made);
    MAKE(&made, CALLED); /* by what a function returned */
    assert_int_equal(origin(&made, 0x5), ADDRESS_UNKNOWN);
    drop(&made);
}

/* By rsi, which nothing writes, and by r10, which is counted. */
static void divisions(void **state) {
    (void)state;
    struct made made;
    MAKE(&made, DIVIDED);
    assert_true(loop_divides_by_invariant(&made.body, cfg_insn_at(&made.cfg, 0x5)));
    assert_false(loop_divides_by_invariant(&made.body, cfg_insn_at(&made.cfg, 0x10)));
    assert_false(loop_divides_by_invariant(&made.body, cfg_insn_at(&made.cfg, 0x8)));
    drop(&made);
}

/* Around one instruction; between two; around a call; at the end of the loop. */
static void branches(void **state) {
    (void)state;
    struct made made;
    MAKE(&made, CHOICES);
    assert_true(branch_selects(&made.cfg, cfg_insn_at(&made.cfg, 0x2)));
    assert_true(branch_selects(&made.cfg, cfg_insn_at(&made.cfg, 0x9)));
    assert_false(branch_selects(&made.cfg, cfg_insn_at(&made.cfg, 0x13)));
    assert_false(branch_selects(&made.cfg, cfg_insn_at(&made.cfg, 0x1d)));
    drop(&made);
}

/* Eight bytes each round; a sum, which the next round needs; every second element. */
static void streams(void **state) {
    (void)state;
    struct made made;
    MAKE(&made, STREAM);
    assert_int_equal(loop_scalar_stream(&made.body), 8);
    drop(&made);
    MAKE(&made, SUM);
    assert_int_equal(loop_scalar_stream(&made.body), 0);
    drop(&made);
    MAKE(&made, APART);
    assert_int_equal(loop_scalar_stream(&made.body), 0);
    drop(&made);
    MAKE(&made, COUNTER); /* no floating-point arithmetic */
    assert_int_equal(loop_scalar_stream(&made.body), 0);
    drop(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(divisions),
        cmocka_unit_test(branches),
        cmocka_unit_test(streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
