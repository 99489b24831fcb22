/* What is made of an instruction without machine code: its µops, by hand, and no more than is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "isa/described.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, NO = REG_NONE, FLAGS = REG_X86_FLAGS, VECTOR = 40 };

#define DESCRIBED(...)                                                                             \
    (struct insn_description) {                                                                    \
        .length = 3, __VA_ARGS__                                                                   \
    }

/* "load 1<-0 ; int_alu 2,17<-2,T" : operation, destinations, sources, data; temporaries are T. */
static void render(const struct insn_description *description, char *text, size_t size) {
    uint8_t bytes[DESCRIBED_BYTES];
    struct insn insn;
    struct uop uops[INSN_MAX_UOPS];
    insn_describe(description, bytes);
    assert_true(insn_decode_described(bytes, &insn));
    assert_int_equal(insn.length, description->length);
    const int count = insn_crack(&insn, uops);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "; " : "",
                              operation_name((enum operation)uops[i].operation));
        for (unsigned k = 0; k < uops[i].destination_count; k++)
            n += (size_t)snprintf(text + n, size - n,
                                  uops[i].destination[k] < REG_TEMPORARY ? " %u" : " T",
                                  uops[i].destination[k]);
        n += (size_t)snprintf(text + n, size - n, " <-");
        for (unsigned k = 0; k < uops[i].source_count; k++)
            n += (size_t)snprintf(text + n, size - n,
                                  uops[i].source[k] < REG_TEMPORARY ? " %u" : " T",
                                  uops[i].source[k]);
        if (uops[i].data != REG_NONE)
            n += (size_t)snprintf(text + n, size - n,
                                  uops[i].data < REG_TEMPORARY ? " data %u" : " data T",
                                  uops[i].data);
    }
}

static void check(struct insn_description description, const char *expected) {
    char text[256];
    render(&description, text, sizeof text);
    assert_string_equal(text, expected);
}

static void loads(void **state) {
    (void)state;
    /* mov rax, [rax]: the pointer is chased */
    check(DESCRIBED(.loads = 1, .destination = {RAX, NO}, .source = {RAX, NO, NO, NO}),
          "load 0 <- 0");
    /* mov rcx, [rax + rbx] */
    check(DESCRIBED(.loads = 1, .destination = {RCX, NO}, .source = {RAX, RBX, NO, NO}),
          "load 1 <- 0 3");
    /* add rcx, [rax]: rcx is data, for it is written and flags are, too */
    check(DESCRIBED(.loads = 1, .destination = {RCX, FLAGS}, .source = {RAX, RCX, NO, NO}),
          "load T <- 0; int_alu 1 17 <- 1 T");
    /* addsd xmm, [rax]: no vector forms an address */
    check(DESCRIBED(.loads = 1, .destination = {VECTOR, NO}, .source = {RAX, VECTOR, NO, NO}),
          "load T <- 0; int_alu 40 <- 40 T");
    /* pop rax */
    check(DESCRIBED(.loads = 1, .destination = {RAX, RSP}, .source = {RSP, NO, NO, NO}),
          "load 0 <- 4");
}

static void stores(void **state) {
    (void)state;
    /* mov [rax], rbx: the last register is data */
    check(DESCRIBED(.stores = 1, .destination = {NO, NO}, .source = {RAX, RBX, NO, NO}),
          "store <- 0 data 3");
    /* push rbx: by the stack pointer, wherever it stands */
    check(DESCRIBED(.stores = 1, .destination = {RSP, NO}, .source = {RSP, RBX, NO, NO}),
          "store <- 4 data 3");
    /* add [rax], rbx */
    check(DESCRIBED(.loads = 1, .stores = 1, .destination = {FLAGS, NO},
                    .source = {RAX, RBX, NO, NO}),
          "load T <- 0; int_alu T 17 <- 3 T; store <- 0 data T");
    /* rep movs: a load by rsi, a store by rdi, and their steps */
    check(DESCRIBED(.loads = 1, .stores = 1, .repeats = true, .destination = {RSI, RDI},
                    .source = {RSI, RDI, NO, NO}),
          "load T <- 6; store <- 7 data T; int_alu 6 7 <- 6 7 18");
}

static void others(void **state) {
    (void)state;
    check(DESCRIBED(.destination = {RAX, FLAGS}, .source = {RAX, RBX, NO, NO}),
          "int_alu 0 17 <- 0 3");
    check(DESCRIBED(.destination = {NO, NO}, .source = {NO, NO, NO, NO}), "nop <-");
    check(DESCRIBED(.branch = BRANCH_CONDITIONAL, .target = -16, .destination = {NO, NO},
                    .source = {FLAGS, NO, NO, NO}),
          "branch <- 17");
    check(DESCRIBED(.branch = BRANCH_CALL, .target = 64, .stores = 1, .destination = {RSP, NO},
                    .source = {RSP, NO, NO, NO}),
          "store <- 4; branch <-");
    check(DESCRIBED(.branch = BRANCH_RETURN, .loads = 1, .destination = {RSP, NO},
                    .source = {RSP, NO, NO, NO}),
          "load T <- 4; branch <- T");
}

static void texts(void **state) {
    (void)state;
    static const struct {
        struct insn_description description;
        const char *text;
    } CASES[] = {
        {{.length = 3, .loads = 1, .destination = {RCX, FLAGS}, .source = {RAX, RCX, NO, NO}},
         "load, operation rcx, flags <- rax, rcx"},
        {{.length = 3, .stores = 1, .destination = {NO, NO}, .source = {RAX, VECTOR, NO, NO}},
         "store  <- rax, other40"},
        {{.length = 2,
          .branch = BRANCH_CONDITIONAL,
          .target = -16,
          .destination = {NO, NO},
          .source = {FLAGS, NO, NO, NO}},
         "branch 0xff0  <- flags"},
        {{.length = 2,
          .repeats = true,
          .stores = 1,
          .destination = {RDI, NO},
          .source = {RDI, RAX, NO, NO}},
         "(repeated) store rdi <- rdi, rax"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint8_t bytes[DESCRIBED_BYTES];
        char text[64], cut[5];
        insn_describe(&CASES[i].description, bytes);
        assert_int_equal(insn_described_text(bytes, 0x1000, text, sizeof text),
                         strlen(CASES[i].text));
        assert_string_equal(text, CASES[i].text);
        insn_described_text(bytes, 0x1000, cut, sizeof cut);
        assert_memory_equal(cut, text, 4);
    }
}

/* Each of these bytes makes no description of it. */
static void hostile(void **state) {
    (void)state;
    const struct insn_description good =
        DESCRIBED(.destination = {NO, NO}, .source = {RAX, NO, NO, NO});
    static const uint8_t BAD[][2] = {{0, 0x90}, {1, 0},   {1, 16}, {2, 7}, {2, 0x20},
                                     {4, 84},   {9, 200}, {10, 1}, {15, 1}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        uint8_t bytes[DESCRIBED_BYTES];
        struct insn insn = {.length = 77};
        char text[64];
        insn_describe(&good, bytes);
        assert_true(insn_decode_described(bytes, &insn));
        insn.length = 77;
        bytes[BAD[i][0]] = BAD[i][1];
        assert_false(insn_decode_described(bytes, &insn));
        assert_int_equal(insn.length, 77);
        insn_described_text(bytes, 0, text, sizeof text);
        assert_string_equal(text, "(no description)");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads), cmocka_unit_test(stores),  cmocka_unit_test(others),
        cmocka_unit_test(texts), cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
