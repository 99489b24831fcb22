/* Indirect jumps of code assembled by hand: tables of each form that compilers make, and what is no
 * table. Procedures stand at 0x1000, tables at 0x3000; entries are given as targets. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cfg_describe.h"
#include "util/little_endian.h"

enum { ADDRESS = 0x1000, TABLE = 0x3000, OTHER = 0x2000 };

struct image {
    uint8_t table[2048];
    size_t size;
};

/* The table; a byte of another procedure. */
static bool read_image(void *context, uint64_t address, void *bytes, size_t size) {
    const struct image *image = context;
    if (address == OTHER && size == 1) {
        memset(bytes, 0xc3, 1);
        return true;
    }
    uint64_t offset = address - TABLE;
    if (offset > image->size || size > image->size - offset)
        return false;
    memcpy(bytes, image->table + offset, size);
    return true;
}

/* Tables of addresses have entries of 8 bytes, those of distances from the table of 4. */
static void check(enum isa isa, const char *hex, unsigned entry_bytes, const uint64_t *targets,
                  size_t count, const char *expected) {
    struct image image = {.size = count * entry_bytes};
    uint8_t bytes[256];
    size_t size = graph_bytes(hex, bytes, sizeof bytes);
    for (size_t i = 0; i < count; i++)
        if (entry_bytes == 8)
            put_u64(image.table + 8 * i, targets[i]);
        else
            put_u32(image.table + 4 * i, (uint32_t)(targets[i] - TABLE));
    struct procedure_code code = {.isa = isa,
                                  .bytes = bytes,
                                  .size = size,
                                  .address = ADDRESS,
                                  .read = read_image,
                                  .context = &image};
    check_graph(&code, expected);
}

#define CHECK(isa, hex, entry_bytes, expected, ...)                                                \
    check(isa, hex, entry_bytes, (const uint64_t[]){__VA_ARGS__},                                  \
          sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), expected)

static void distances(void **state) {
    (void)state;
    /* cmp $3,%edi; ja 1a; lea table(%rip),%rdx; mov %edi,%edi; movslq (%rdx,%rdi,4),%rax;
     * add %rdx,%rax; notrack jmp *%rax; 18: ret; 19: ret; 1a: ret. The fifth entry is beyond the
     * bound. */
    CHECK(ISA_X86_64,
          "83 ff 03 77 15 48 8d 15 f4 1f 00 00 89 ff 48 63 04 ba 48 01 d0 3e ff e0 c3 c3 c3", 4,
          "0-5: fall 5, taken 1a; 5-18: table 18, table 19, table 1a; 18-19: return; "
          "19-1a: return; 1a-1b: return; entry 0",
          0x1018, 0x1019, 0x101a, 0x1018, 0x1005);
    /* cmpl $1,8(%rdi); ja 1b; mov 8(%rdi),%eax; lea; movslq; add; jmp *%rax */
    CHECK(ISA_X86_64,
          "83 7f 08 01 77 15 8b 47 08 48 8d 15 f0 1f 00 00 48 63 04 82 48 01 d0 ff e0 c3 c3 c3", 4,
          "0-6: fall 6, taken 1b; 6-19: table 19, table 1a; 19-1a: return; 1a-1b: return; "
          "1b-1c: return; entry 0",
          0x1019, 0x101a, 0x1006);
    /* bltu 2,a0,22; slli a0,a0,32; srli a5,a0,30; lla a4,table; add; lw; add; jr a5 */
    CHECK(ISA_RISCV64,
          "89 47 63 e0 a7 02 02 15 93 57 e5 01 17 27 00 00 13 07 47 ff ba 97 9c 43 ba 97 82 87 "
          "82 80 82 80 82 80 82 80",
          4,
          "0-6: fall 6, taken 22; 6-1c: table 1c, table 1e, table 20; 1c-1e: return; "
          "1e-20: return; 20-22: return; 22-24: return; entry 0",
          0x101c, 0x101e, 0x1020, 0x1006);
    /* Not optimised: lw a5,-20(s0); sext.w a4,a5; bltu 1,a4,36; lwu a5,-20(s0); slli a4,a5,2;
     * lla a5,table; add; lw; sext.w a4,a5; lla a5,table; add; jr a5 */
    CHECK(ISA_RISCV64,
          "83 27 c4 fe 1b 87 07 00 85 47 63 e6 e7 02 83 67 c4 fe 13 97 27 00 97 27 00 00 93 87 "
          "a7 fe ba 97 9c 43 1b 87 07 00 97 27 00 00 93 87 a7 fd ba 97 82 87 82 80 82 80 82 80",
          4,
          "0-e: fall e, taken 36; e-32: table 32, table 34; 32-34: return; 34-36: return; "
          "36-38: return; entry 0",
          0x1032, 0x1034, 0x100e);
}

static void addresses(void **state) {
    (void)state;
    /* cmp $2,%edi; ja e; jmp *table(,%rdi,8); c: ret; d: ret; e: ret */
    CHECK(ISA_X86_64, "83 ff 02 77 09 ff 24 fd 00 30 00 00 c3 c3 c3", 8,
          "0-5: fall 5, taken e; 5-c: table c, table d; c-d: return; d-e: return; e-f: return; "
          "entry 0",
          0x100c, 0x100d, 0x100c, 0x100e);
    /* and $1,%edi; mov table(,%rdi,8),%rax; jmp *%rax */
    CHECK(ISA_X86_64, "83 e7 01 48 8b 04 fd 00 30 00 00 ff e0 c3 c3", 8,
          "0-d: table d, table e; d-e: return; e-f: return; entry 0", 0x100d, 0x100e, 0x1000);
    /* andi a0,a0,1; slli a0,a0,3; lui a5,3; add a5,a5,a0; ld a5,0(a5); jr a5 */
    CHECK(ISA_RISCV64, "05 89 0e 05 8d 67 aa 97 9c 63 82 87 82 80 82 80", 8,
          "0-c: table c, table e; c-e: return; e-10: return; entry 0", 0x100c, 0x100e, 0x1000);
}

static void bounds(void **state) {
    (void)state;
    /* lea -5(%rdi),%eax; cmp $1,%al; ja 19; movzbl %dil,%eax; sub $5,%eax; cltq;
     * jmp *table(,%rax,8): compared in one way, used in another. */
    CHECK(ISA_X86_64,
          "8d 47 fb 3c 01 77 12 40 0f b6 c7 83 e8 05 48 98 ff 24 c5 00 30 00 00 c3 c3 c3", 8,
          "0-7: fall 7, taken 19; 7-17: table 17, table 18; 17-18: return; 18-19: return; "
          "19-1a: return; entry 0",
          0x1017, 0x1018, 0x1007);
    /* cmp $64,%edi; ja 13; cmp $1,%edi; ja 13; jmp *table(,%rdi,8): the narrower one. */
    CHECK(ISA_X86_64, "83 ff 40 77 0e 83 ff 01 77 09 ff 24 fd 00 30 00 00 c3 c3 c3", 8,
          "0-5: fall 5, taken 13; 5-a: fall a, taken 13; a-11: table 11, table 12; "
          "11-12: return; 12-13: return; 13-14: return; entry 0",
          0x1011, 0x1012, 0x100a);
    /* 0: push %rbx; 1: lea table(%rip),%rbx; 8: call *%rsi; a: movzbl (%rdi),%eax; cmp $1,%al;
     * ja 1e; movslq (%rbx,%rax,4),%rax; add; jmp *%rax; 1a: jmp 8; 1c: jmp 8; 1e: pop; ret.
     * The address is set in front of the loop and kept by the callee. */
    CHECK(ISA_X86_64,
          "53 48 8d 1d f8 1f 00 00 ff d6 0f b6 07 3c 01 77 0d 48 63 04 83 48 01 d8 ff e0 eb ec eb "
          "ea 5b c3",
          4,
          "0-8: fall 8; 8-11*: fall 11, taken 1e; 11-1a*: table 1a, table 1c; 1a-1c*: taken 8; "
          "1c-1e*: taken 8; 1e-20: return; entry 0",
          0x101a, 0x101c, 0x1008);
}

static void a_byte_has_256_values(void **state) {
    (void)state;
    /* movzbl (%rdi),%eax; jmp *table(,%rax,8); a: ret */
    static const char CODE[] = "0f b6 07 ff 24 c5 00 30 00 00 c3";
    static uint64_t targets[256];
    for (unsigned i = 0; i < 256; i++)
        targets[i] = 0x100a;
    check(ISA_X86_64, CODE, 8, targets, 256, "0-a: table a; a-b: return; entry 0");
    /* The last one cannot be read. */
    check(ISA_X86_64, CODE, 8, targets, 255, "0-a: table a, tail; a-b: return; entry 0 [missing]");
}

static void tables_without_an_end(void **state) {
    (void)state;
    /* mov (%rdi),%eax; jmp *table(,%rax,8); 9: ret; a: ret: entries while they lead to code. */
    static const char CODE[] = "8b 07 ff 24 c5 00 30 00 00 c3 c3";
    CHECK(ISA_X86_64, CODE, 8,
          "0-9: table 9, table a, tail; 9-a: return; a-b: return; entry 0 [missing]", 0x1009,
          0x100a, 0x1003, 0x1009);
    /* Nothing there: the gap is found all the same. */
    check(ISA_X86_64, CODE, 8, NULL, 0,
          "0-9: tail; 9-a: return; a-b: return; "
          "entry 0, unknown 9, unknown a [missing] [unreached]");
    /* A table of functions. */
    CHECK(ISA_X86_64, "8b 07 ff 24 c5 00 30 00 00", 8, "0-9: tail; entry 0", OTHER, OTHER);
}

static void targets_outside(void **state) {
    (void)state;
    /* A part of the procedure lies elsewhere: cmp $2,%edi; ja e; jmp *table(,%rdi,8) */
    CHECK(ISA_X86_64, "83 ff 02 77 09 ff 24 fd 00 30 00 00 c3 c3 c3", 8,
          "0-5: fall 5, taken e; 5-c: table c, table d, tail; c-d: return; d-e: return; "
          "e-f: return; entry 0",
          0x100c, OTHER, 0x100d);
    /* Nowhere. */
    CHECK(ISA_X86_64, "83 ff 02 77 09 ff 24 fd 00 30 00 00 c3 c3 c3", 8,
          "0-5: fall 5, taken e; 5-c: table c, tail; c-d: return; d-e: return; e-f: return; "
          "entry 0, unknown d [missing] [unreached]",
          0x100c, 0x9999, 0x100d);
}

static void tail_calls(void **state) {
    (void)state;
    /* jmp *table(%rip), as of a procedure linkage table */
    CHECK(ISA_X86_64, "ff 25 fa 1f 00 00", 8, "0-6: tail; entry 0", OTHER);
    check(ISA_X86_64, "ff 25 fa 1f 00 00", 8, NULL, 0, "0-6: tail; entry 0");
    /* mov (%rdi),%rax; jmp *16(%rax) */
    check(ISA_X86_64, "48 8b 07 ff 60 10", 8, NULL, 0, "0-6: tail; entry 0");
    /* push %rbx; lea 0(,%rsi,8),%rbx; mov table(%rbx),%rax; pop %rbx; jmp *%rax: the stack is as
     * it was. */
    check(ISA_X86_64, "53 48 8d 1c f5 00 00 00 00 48 8b 83 00 30 00 00 5b ff e0", 8, NULL, 0,
          "0-13: tail; entry 0");
    /* push %rbx; mov (%rdi),%rax; jmp *%rax: it is not. */
    check(ISA_X86_64, "53 48 8b 07 ff e0", 8, NULL, 0, "0-6: tail; entry 0 [missing]");
    /* addi sp,sp,-16; ld a5,0(a0); addi sp,sp,16; jr a5 */
    check(ISA_RISCV64, "41 11 1c 61 41 01 82 87", 8, NULL, 0, "0-8: tail; entry 0");
}

static void constant_targets(void **state) {
    (void)state;
    /* mov $0x1008,%eax; jmp *%rax; nop; 8: ret */
    check(ISA_X86_64, "b8 08 10 00 00 ff e0 90 c3", 8, NULL, 0,
          "0-7: table 8; 8-9: return; entry 0");
}

/* Without anything to read but the code itself. */
static void tables_within_code(void **state) {
    (void)state;
    /* cmp $1,%edi; ja 1b; lea 0x14(%rip)... : 0: cmp; 3: ja 1c; 5: lea 1d(%rip)=0x1d,%rdx;
     * c: mov %edi,%edi; e: movslq (%rdx,%rdi,4),%rax; 12: add %rdx,%rax; 15: jmp *%rax;
     * 17: ret; 18: ret; 19: ret (never); 1a: int3; 1b: int3; 1c: ret; 1d: distances -6, -5 */
    static const uint8_t BYTES[] = {0x83, 0xff, 0x01, 0x77, 0x17, 0x48, 0x8d, 0x15, 0x11, 0,
                                    0,    0,    0x89, 0xff, 0x48, 0x63, 0x04, 0xba, 0x48, 0x01,
                                    0xd0, 0xff, 0xe0, 0xc3, 0xc3, 0xcc, 0xcc, 0xcc, 0xc3, 0xfa,
                                    0xff, 0xff, 0xff, 0xfb, 0xff, 0xff, 0xff};
    struct procedure_code code = {
        .isa = ISA_X86_64, .bytes = BYTES, .size = sizeof BYTES, .address = ADDRESS};
    check_graph(&code, "0-5: fall 5, taken 1c; 5-17: table 17, table 18; 17-18: return; "
                       "18-19: return; 1c-1d: return; entry 0");
}

/* Jumps whose work is not done are unknown, not tail calls: of 2000 times je over; movslq
 * (%rbx,%rax,4),%rax; add %rbx,%rax; jmp *%rax. */
static void work_is_limited(void **state) {
    (void)state;
    static const uint8_t PIECE[] = {0x74, 9, 0x48, 0x63, 4, 0x83, 0x48, 1, 0xd8, 0xff, 0xe0};
    enum { PIECES = 2000 };
    static uint8_t bytes[PIECES * sizeof PIECE];
    for (size_t i = 0; i < PIECES; i++)
        memcpy(bytes + i * sizeof PIECE, PIECE, sizeof PIECE);
    struct procedure_code code = {
        .isa = ISA_X86_64, .bytes = bytes, .size = sizeof bytes, .address = ADDRESS};
    struct cfg cfg;
    struct error error;
    assert_true(cfg_build(&cfg, &code, &error));
    assert_null(cfg_problem(&cfg));
    assert_int_equal(cfg.unresolved, PIECES);
    cfg_free(&cfg);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(addresses),
        cmocka_unit_test(bounds),
        cmocka_unit_test(a_byte_has_256_values),
        cmocka_unit_test(tables_without_an_end),
        cmocka_unit_test(targets_outside),
        cmocka_unit_test(tail_calls),
        cmocka_unit_test(constant_targets),
        cmocka_unit_test(tables_within_code),
        cmocka_unit_test(work_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
