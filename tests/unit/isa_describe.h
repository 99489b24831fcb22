/* Instructions and µops as short strings, so that a test states what it expects in one line:
 *
 *   insn  int_alu rcx rax -> CF FLAGS; load store 4 [rax+rbx]; fence_load atomic
 *   µops  load t0 <- [rax rbx] | int_alu t1 CF FLAGS <- rcx t0 | store [rax rbx] = t1
 *
 * Registers stand in the order of struct insn and struct uop. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/insn.h"

struct description {
    char text[512];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static inline void describe(struct description *description,
                                                                  const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(description->text + description->length,
                            sizeof description->text - description->length, format, arguments);
    va_end(arguments);
    assert_true(written >= 0 && description->length + (size_t)written < sizeof description->text);
    description->length += (size_t)written;
}

static inline void describe_register(struct description *description, unsigned isa, uint8_t reg) {
    static const char *const X86_64[REG_VECTOR] = {
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",   "r8", "r9",
        "r10", "r11", "r12", "r13", "r14", "r15", "CF",  "FLAGS", "DF", "FPCONTROL"};
    assert_true(reg < REG_COUNT);
    if (reg >= REG_FP_TEMPORARY)
        describe(description, "vt%u", reg - REG_FP_TEMPORARY);
    else if (reg >= REG_TEMPORARY)
        describe(description, "t%u", reg - REG_TEMPORARY);
    else if (isa == ISA_X86_64 && reg >= REG_X86_MASK)
        describe(description, "k%u", reg - REG_X86_MASK);
    else if (isa == ISA_X86_64 && reg >= REG_X86_X87)
        describe(description, "st%u", reg - REG_X86_X87);
    else if (isa == ISA_X86_64 && reg >= REG_VECTOR)
        describe(description, "v%u", reg - REG_VECTOR);
    else if (isa == ISA_X86_64)
        describe(description, "%s", X86_64[reg]);
    else if (reg == REG_RISCV_FFLAGS)
        describe(description, "FFLAGS");
    else if (reg == REG_RISCV_FRM)
        describe(description, "FRM");
    else
        describe(description, "%c%u", reg >= REG_VECTOR ? 'f' : 'x', reg % 32);
}

static inline void describe_list(struct description *description, unsigned isa, const uint8_t *list,
                                 unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            describe(description, " ");
        describe_register(description, isa, list[i]);
    }
}

static inline void describe_insn(const struct insn *insn, struct description *description) {
    static const char *const FLAGS[16] = {
        "serialising", "flushing", "fence_load", "fence_store",
        "atomic",      "syscall",  "rep",        "move",
        "zero",        "nop",      "prefetch",   "sets_flags",
        "fuses",       "trap",     "gather",     "address_is_data"};
    static const char *const BRANCHES[] = {"",         "conditional",   "jump",  "call",
                                           "indirect", "indirect_call", "return"};
    description->length = 0;
    describe(description, "%s ", operation_name(insn->operation));
    describe_list(description, insn->isa, insn->source, insn->source_count);
    describe(description, insn->source_count > 0 ? " ->" : "->");
    if (insn->destination_count > 0)
        describe(description, " ");
    describe_list(description, insn->isa, insn->destination, insn->destination_count);
    for (unsigned i = 0; i < insn->memory_count; i++) {
        const struct insn_memory *memory = &insn->memory[i];
        describe(description, ";%s%s %u [", memory->is_load ? " load" : "",
                 memory->is_store ? " store" : "", memory->size_bytes);
        if (memory->base != REG_NONE)
            describe_register(description, insn->isa, memory->base);
        if (memory->index != REG_NONE) {
            describe(description, "+");
            describe_register(description, insn->isa, memory->index);
        }
        describe(description, "]");
    }
    if (insn->branch != BRANCH_NONE)
        describe(description, "; %s", BRANCHES[insn->branch]);
    if (insn->target != 0)
        describe(description, " %+d", (int)insn->target);
    const char *separator = "; ";
    for (unsigned i = 0; i < 16; i++)
        if (insn->flags >> i & 1) {
            describe(description, "%s%s", separator, FLAGS[i]);
            separator = " ";
        }
}

static inline void describe_uops(const struct insn *insn, struct description *description) {
    struct uop uops[INSN_MAX_UOPS];
    int count = insn_crack(insn, uops);
    assert_in_range(count, 1, INSN_MAX_UOPS);
    description->length = 0;
    for (int i = 0; i < count; i++) {
        const struct uop *uop = &uops[i];
        bool memory = uop->memory != 255;
        assert_int_equal(!!(uop->flags & UOP_FIRST), i == 0);
        assert_int_equal(!!(uop->flags & UOP_LAST), i == count - 1);
        assert_int_equal(!!(uop->flags & UOP_BRANCH), uop->operation == OP_BRANCH);
        assert_int_equal(memory, uop->operation == OP_LOAD || uop->operation == OP_STORE);
        describe(description, "%s%s ", i > 0 ? " | " : "", operation_name(uop->operation));
        if (uop->operation == OP_STORE) {
            assert_int_equal(uop->destination_count, 0);
        } else {
            describe_list(description, insn->isa, uop->destination, uop->destination_count);
            describe(description, uop->destination_count > 0 ? " <- " : "<- ");
        }
        describe(description, memory ? "[" : "");
        describe_list(description, insn->isa, uop->source, uop->source_count);
        describe(description, memory ? "]" : "");
        if (uop->operation == OP_STORE && uop->data != REG_NONE) {
            describe(description, " = ");
            describe_register(description, insn->isa, uop->data);
        } else {
            assert_int_equal(uop->data, REG_NONE);
        }
        while (description->text[description->length - 1] == ' ')
            description->text[--description->length] = '\0';
    }
}

/* "48 89 e5" -> bytes; returns how many. */
static inline size_t parse_hex(const char *hex, uint8_t bytes[16]) {
    size_t size = 0;
    unsigned byte;
    int used;
    while (size < 16 && sscanf(hex, " %2x%n", &byte, &used) == 1) {
        bytes[size++] = (uint8_t)byte;
        hex += used;
    }
    return size;
}

struct insn_case {
    const char *bytes; /* hexadecimal */
    const char *text;  /* at address 0x1000 */
    const char *expected;
};

/* The instruction decodes from exactly its bytes, also with bytes after it, and from no fewer. */
static inline struct insn decode_case(enum isa isa, const struct insn_case *row) {
    uint8_t bytes[32] = {0};
    struct insn insn, longer;
    size_t size = parse_hex(row->bytes, bytes);
    char text[128];
    insn_text(isa, bytes, size, 0x1000, text, sizeof text);
    assert_string_equal(text, row->text);
    assert_true(insn_decode(isa, bytes, size, &insn));
    assert_int_equal(insn.length, size);
    assert_int_equal(insn.isa, isa);
    assert_true(insn_decode(isa, bytes, sizeof bytes, &longer));
    assert_memory_equal(&insn, &longer, sizeof insn);
    for (size_t shorter = 0; shorter < size; shorter++)
        assert_false(insn_decode(isa, bytes, shorter, &longer));
    return insn;
}

static inline void check_insns(enum isa isa, const struct insn_case *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct insn insn = decode_case(isa, &rows[i]);
        struct description description;
        describe_insn(&insn, &description);
        if (strcmp(description.text, rows[i].expected) != 0)
            print_message("%s\n", rows[i].text);
        assert_string_equal(description.text, rows[i].expected);
    }
}

static inline void check_uops(enum isa isa, const struct insn_case *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct insn insn = decode_case(isa, &rows[i]);
        struct description description;
        describe_uops(&insn, &description);
        if (strcmp(description.text, rows[i].expected) != 0)
            print_message("%s\n", rows[i].text);
        assert_string_equal(description.text, rows[i].expected);
    }
}

#define CHECK_INSNS(isa, rows) check_insns(isa, rows, sizeof rows / sizeof *rows)
#define CHECK_UOPS(isa, rows)  check_uops(isa, rows, sizeof rows / sizeof *rows)
