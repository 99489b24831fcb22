/* Arbitrary bytes: decoding, printing and cracking read nothing past the bytes given (they end at
 * a page that cannot be read), set nothing when they fail, and otherwise keep the promises of
 * insn.h, whatever the instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/insn.h"

enum { TRIES = 1000000, RSP = 4 };

/* xorshift64: the same bytes in every run. */
static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool listed(const uint8_t *list, unsigned count, uint8_t reg) {
    return memchr(list, reg, count) != NULL;
}

static void check_registers(const uint8_t *list, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        assert_true(list[i] < REG_TEMPORARY);
        assert_false(listed(list, i, list[i]));
    }
}

static void check_insn(const struct insn *insn, enum isa isa, size_t size) {
    assert_int_equal(insn->isa, isa);
    assert_true(insn->length > 0 && insn->length <= size);
    assert_true(insn->operation < OP_COUNT && insn->branch <= BRANCH_RETURN);
    assert_true(insn->source_count <= INSN_MAX_SOURCES);
    assert_true(insn->destination_count <= INSN_MAX_DESTINATIONS);
    assert_true(insn->memory_count <= INSN_MAX_MEMORY);
    check_registers(insn->source, insn->source_count);
    check_registers(insn->destination, insn->destination_count);
    for (unsigned i = 0; i < insn->memory_count; i++) {
        const struct insn_memory *memory = &insn->memory[i];
        assert_true(memory->is_load || memory->is_store);
        if (i > 0 && memory->is_load)
            assert_true(insn->memory[i - 1].is_load);
        if (memory->base != REG_NONE)
            assert_true(listed(insn->source, insn->source_count, memory->base));
        if (memory->index != REG_NONE)
            assert_true(listed(insn->source, insn->source_count, memory->index));
    }
    if (insn->flags & INSN_ZERO)
        assert_int_equal(insn->source_count, 0);
    if (insn->flags & INSN_NOP)
        assert_int_equal(insn->source_count + insn->destination_count + insn->memory_count, 0);
}

/* What all µops of an instruction read, write and access, by register and memory operand. */
struct totals {
    uint8_t read[REG_COUNT], written[REG_COUNT], loads[INSN_MAX_MEMORY], stores[INSN_MAX_MEMORY];
    unsigned branches;
};

static void add_uop(const struct insn *insn, const struct uop *uop, struct totals *totals) {
    assert_true(uop->operation < OP_COUNT);
    assert_true(uop->source_count <= UOP_MAX_SOURCES);
    assert_true(uop->destination_count <= UOP_MAX_DESTINATIONS);
    for (unsigned i = 0; i <= uop->source_count; i++) {
        uint8_t reg = i < uop->source_count ? uop->source[i] : uop->data;
        if (i == uop->source_count && reg == REG_NONE)
            continue;
        assert_true(reg < REG_COUNT);
        if (reg >= REG_TEMPORARY) /* written by an earlier µop */
            assert_int_equal(totals->written[reg], 1);
        else
            assert_true(listed(insn->source, insn->source_count, reg));
        totals->read[reg]++;
    }
    for (unsigned i = 0; i < uop->destination_count; i++)
        totals->written[uop->destination[i]]++;
    if (uop->operation == OP_LOAD || uop->operation == OP_STORE) {
        assert_true(uop->memory < insn->memory_count);
        (uop->operation == OP_LOAD ? totals->loads : totals->stores)[uop->memory]++;
    } else {
        assert_int_equal(uop->memory, 255);
    }
    totals->branches += !!(uop->flags & UOP_BRANCH);
}

static void check_uops(const struct insn *insn) {
    struct uop uops[INSN_MAX_UOPS];
    struct totals totals = {0};
    int count = insn_crack(insn, uops);
    assert_in_range(count, 1, INSN_MAX_UOPS);
    for (int i = 0; i < count; i++) {
        assert_int_equal(!!(uops[i].flags & UOP_FIRST), i == 0);
        assert_int_equal(!!(uops[i].flags & UOP_LAST), i == count - 1);
        add_uop(insn, &uops[i], &totals);
    }
    for (unsigned i = 0; i < insn->source_count; i++)
        assert_true(totals.read[insn->source[i]] > 0);
    for (unsigned reg = 0; reg < REG_TEMPORARY; reg++) {
        bool wanted = listed(insn->destination, insn->destination_count, (uint8_t)reg);
        if (insn->isa == ISA_X86_64 && reg == RSP && wanted)
            assert_true(totals.written[reg] <= 1); /* the stack engine's: none */
        else
            assert_int_equal(totals.written[reg], wanted);
    }
    for (unsigned i = 0; i < insn->memory_count; i++) {
        assert_int_equal(totals.loads[i], insn->memory[i].is_load);
        assert_int_equal(totals.stores[i], insn->memory[i].is_store);
    }
    assert_int_equal(totals.branches, insn->branch != BRANCH_NONE);
    if (insn->branch != BRANCH_NONE)
        assert_true(uops[count - 1].flags & UOP_BRANCH);
}

static void check_text(enum isa isa, const uint8_t *bytes, size_t size, bool decodes) {
    char text[160], cut[8];
    memset(text, 'x', sizeof text);
    size_t length = insn_text(isa, bytes, size, 0x7fffffff0000, text, sizeof text);
    assert_true(length > 0 && length < sizeof text);
    assert_int_equal(strlen(text), length);
    assert_int_equal(strncmp(text, ".byte", 5) == 0, !decodes);
    memset(cut, 'x', sizeof cut);
    assert_int_equal(insn_text(isa, bytes, size, 0x7fffffff0000, cut, 5), length);
    assert_int_equal(strlen(cut), length < 4 ? length : 4);
    assert_int_equal(cut[5], 'x');
    assert_int_equal(insn_text(isa, bytes, size, 0x7fffffff0000, NULL, 0), length);
}

static bool check_bytes(enum isa isa, const uint8_t *bytes, size_t size, bool with_text) {
    struct insn insn, untouched;
    memset(&insn, 0xa5, sizeof insn);
    untouched = insn;
    bool decodes = insn_decode(isa, bytes, size, &insn);
    if (decodes) {
        check_insn(&insn, isa, size);
        check_uops(&insn);
    } else {
        assert_memory_equal(&insn, &untouched, sizeof insn);
    }
    if (with_text)
        check_text(isa, bytes, size, decodes);
    return decodes;
}

/* The end of a readable page before one that is not. */
static uint8_t *guarded_end(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    return pages + page;
}

/* Random bytes, half of them behind prefixes that lead to the rarer opcode maps. */
static void random_x86_64(uint64_t *state, uint8_t bytes[16]) {
    static const uint8_t LEADS[] = {0x0f, 0x66, 0xf2, 0xf3, 0x48, 0xc4, 0xc5, 0x62, 0xf0, 0x67};
    uint64_t random[2] = {random_next(state), random_next(state)};
    memcpy(bytes, random, 16);
    uint64_t choice = random_next(state);
    if (choice & 1)
        bytes[0] = LEADS[choice % 1000 / 100];
    if ((choice & 6) == 6)
        bytes[1] = LEADS[choice / 1000 % 10];
    if (bytes[0] == 0x62) /* the fixed bits of an EVEX prefix */
        bytes[1] = (uint8_t)((bytes[1] & 0xf0) | 1 | (choice >> 30 & 2)), bytes[2] |= 4;
}

static void arbitrary_bytes(enum isa isa, unsigned longest) {
    uint8_t *end = guarded_end(), bytes[16];
    uint64_t state = 88172645463325252u;
    unsigned decoded = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        size_t size = random_next(&state) % (longest + 1);
        random_x86_64(&state, bytes);
        if (isa == ISA_RISCV64 && i % 2 == 0)
            bytes[0] |= 3; /* not compressed */
        memcpy(end - size, bytes, size);
        decoded += check_bytes(isa, end - size, size, i % 4 == 0);
    }
    assert_true(decoded > TRIES / 10);
    long page = sysconf(_SC_PAGESIZE);
    munmap(end - page, 2 * (size_t)page);
}

static void x86_64(void **state) {
    (void)state;
    arbitrary_bytes(ISA_X86_64, 16);
}

static void riscv64(void **state) {
    (void)state;
    arbitrary_bytes(ISA_RISCV64, 6);
}

static void every_compressed_riscv64(void **state) {
    (void)state;
    for (unsigned word = 0; word < 65536; word++) {
        uint8_t bytes[2] = {(uint8_t)word, (uint8_t)(word >> 8)};
        bool decodes = check_bytes(ISA_RISCV64, bytes, 2, true);
        if ((word & 3) == 3)
            assert_false(decodes);
    }
}

static void no_bytes(void **state) {
    (void)state;
    struct insn insn;
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        char text[8];
        assert_false(insn_decode((enum isa)isa, NULL, 0, &insn));
        assert_int_equal(insn_text((enum isa)isa, NULL, 0, 0, text, sizeof text), 5);
        assert_string_equal(text, ".byte");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64),
        cmocka_unit_test(riscv64),
        cmocka_unit_test(every_compressed_riscv64),
        cmocka_unit_test(no_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
