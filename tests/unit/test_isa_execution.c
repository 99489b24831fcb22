/* The x86-64 decoder against the processor: real programs run step by step (ptrace).
 *
 * Destinations: a register or flag that a step changes must be named. Sources: two executions of
 * an instruction that find the same values in its sources must leave the same values in its
 * destinations, else a source is missing (instructions without memory operands). The next
 * instruction must be where length and branch target say. */
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include <cmocka.h>

#include "isa/insn.h"

#if defined(__x86_64__)

#include <cpuid.h>

enum {
    XSAVE_LEAF = 0xd, /* of cpuid: where XSAVE keeps each component of the state */
    YMM_UPPER = 2,    /* components: bits 128 to 255 of vector registers, and 256 to 511 */
    ZMM_UPPER = 6,
    XSAVE_MOST = 16384,
    MEMO_SIZE = 1 << 16,
    CF = 1,
    OTHER_FLAGS = 0x8d4, /* PF AF ZF SF OF */
    DF = 0x400,
    SHOWN = 20
};

struct state {
    struct user_regs_struct regs;
    struct user_fpregs_struct fpregs;
    uint64_t upper[16][6]; /* of vector registers, from bit 128; 0 where the processor has none */
};

/* A component of vector registers out of what XSAVE has written: `halves` of 64 bits of each, to
 * the place `first` of upper[]. */
static void take_component(struct state *state, const char *saved, size_t size, unsigned component,
                           unsigned first, unsigned halves) {
    unsigned bytes = 0, offset = 0, unused;
    if (__get_cpuid_count(XSAVE_LEAF, component, &bytes, &offset, &unused, &unused) &&
        bytes == 16 * halves * sizeof(uint64_t) && offset + bytes <= size)
        for (unsigned reg = 0; reg < 16; reg++, offset += bytes / 16)
            memcpy(&state->upper[reg][first], saved + offset, bytes / 16);
}

static bool read_state(pid_t child, struct state *state) {
    char saved[XSAVE_MOST];
    struct iovec area = {saved, sizeof saved};
    memset(state->upper, 0, sizeof state->upper);
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &area) == 0) {
        take_component(state, saved, area.iov_len, YMM_UPPER, 0, 2);
        take_component(state, saved, area.iov_len, ZMM_UPPER, 2, 4);
    }
    return ptrace(PTRACE_GETREGS, child, NULL, &state->regs) == 0 &&
           ptrace(PTRACE_GETFPREGS, child, NULL, &state->fpregs) == 0;
}

/* A register of either file or a group of flags. */
struct value {
    uint64_t half[2];
};

static struct value register_value(const struct state *state, unsigned reg) {
    const struct user_regs_struct *r = &state->regs;
    const uint64_t general[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
                                  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    struct value value = {{0, 0}};
    if (reg < 16)
        value.half[0] = general[reg];
    else if (reg == REG_X86_CF)
        value.half[0] = r->eflags & CF;
    else if (reg == REG_X86_FLAGS)
        value.half[0] = r->eflags & OTHER_FLAGS;
    else if (reg == REG_X86_DF)
        value.half[0] = r->eflags & DF;
    else if (reg >= REG_VECTOR && reg < REG_VECTOR + 16)
        memcpy(&value, (const char *)state->fpregs.xmm_space + (reg - REG_VECTOR) * 16, 16);
    return value;
}

/* The first register that changed without being a destination; REG_NONE if there is none. */
static unsigned unnamed_change(const struct insn *insn, const struct state *before,
                               const struct state *after) {
    for (unsigned reg = 0; reg < REG_VECTOR + 16; reg++) {
        struct value old = register_value(before, reg), new = register_value(after, reg);
        if (memcmp(&old, &new, sizeof old) != 0 &&
            !memchr(insn->destination, (int)reg, insn->destination_count))
            return reg;
    }
    return REG_NONE;
}

/* Flags that the architecture leaves undefined, as bits of eflags: some processors change them,
 * some do not. Of shifts and rotations by another count than one, OF. */
static uint64_t undefined_flags(const uint8_t bytes[16], size_t size) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(
            ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &insn, operands)) ||
        !insn.cpu_flags)
        return 0;
    bool by_one = operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.u == 1;
    bool rotates =
        insn.meta.category == ZYDIS_CATEGORY_ROTATE || insn.meta.category == ZYDIS_CATEGORY_SHIFT;
    return insn.cpu_flags->undefined | (rotates && !by_one ? ZYDIS_CPUFLAG_OF : 0);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_registers(uint64_t hash, const struct state *state, const uint8_t *list,
                               unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        struct value value = register_value(state, list[i]);
        hash = mix(mix(hash, value.half[0]), value.half[1]);
    }
    return hash;
}

/* Instructions may read more of a vector register than its lower 128 bits. What they leave in the
 * rest of it is not compared: many leave there what it was. */
static uint64_t hash_upper(uint64_t hash, const struct state *state, const uint8_t *list,
                           unsigned count) {
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; list[i] >= REG_VECTOR && k < 6; k++)
            hash = mix(hash, state->upper[list[i] - REG_VECTOR][k]);
    return hash;
}

/* Results by (address, values of sources). */
struct memo {
    uint64_t inputs, results;
};

static bool reads_only_its_sources(const struct insn *insn) {
    bool seen = insn->operation != OP_SYSTEM && insn->memory_count == 0;
    for (unsigned i = 0; i < insn->source_count + insn->destination_count; i++) {
        uint8_t reg =
            i < insn->source_count ? insn->source[i] : insn->destination[i - insn->source_count];
        seen = seen && reg < REG_VECTOR + 16; /* ptrace shows it to us */
    }
    return seen;
}

/* False: an execution with the same sources left something else. Counts those it could compare. */
static bool same_results(struct memo *memo, const struct insn *insn, const struct state *before,
                         const struct state *after, unsigned long *compared) {
    if (!reads_only_its_sources(insn))
        return true;
    uint64_t inputs =
        hash_registers(mix(0, before->regs.rip), before, insn->source, insn->source_count);
    inputs = hash_upper(inputs, before, insn->source, insn->source_count);
    uint64_t results =
        hash_registers(mix(0, after->regs.rip), after, insn->destination, insn->destination_count);
    struct memo *entry = &memo[inputs % MEMO_SIZE];
    bool known = entry->inputs == inputs;
    bool same = !known || entry->results == results;
    *entry = (struct memo){inputs, results};
    *compared += known;
    return same;
}

static bool right_successor(const struct insn *insn, uint64_t from, uint64_t to) {
    uint64_t next = from + insn->length, target = from + (uint64_t)insn->target;
    switch (insn->branch) {
    case BRANCH_NONE:
        return to == next || ((insn->flags & INSN_REP) && to == from);
    case BRANCH_CONDITIONAL:
        return to == next || to == target;
    case BRANCH_JUMP:
    case BRANCH_CALL:
        return to == target;
    default:
        return true;
    }
}

/* Up to 16 bytes, fewer before a page that cannot be read. */
static size_t read_code(pid_t child, uint64_t address, uint8_t bytes[16]) {
    size_t rest = 4096 - address % 4096;
    struct iovec local = {bytes, 16};
    struct iovec remote[2] = {{(void *)(uintptr_t)address, rest < 16 ? rest : 16},
                              {(void *)(uintptr_t)(address + rest), rest < 16 ? 16 - rest : 0}};
    ssize_t size = process_vm_readv(child, &local, 1, remote, 2, 0);
    return size > 0 ? (size_t)size : 0;
}

static pid_t start(char *const command[]) {
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(126);
        execv(command[0], command);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSTOPPED(status))
        return child;
    if (WEXITSTATUS(status) == 127) {
        print_message("%s is not installed\n", command[0]);
        skip();
    }
    print_message("ptrace is not permitted\n");
    skip();
    return -1;
}

/* Past the dynamic loader: lets the child run until it has made some system calls. */
static void skip_system_calls(pid_t child, unsigned calls) {
    for (unsigned stops = 0; stops < 2 * calls; stops++) { /* entry and exit of each */
        int status;
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSTOPPED(status));
    }
}

static void check_steps(char *const command[], unsigned calls, unsigned long steps) {
    pid_t child = start(command);
    struct state states[2];
    struct memo *memo = calloc(MEMO_SIZE, sizeof *memo);
    unsigned long wrong = 0, done = 0, compared = 0;
    assert_non_null(memo);
    skip_system_calls(child, calls);
    assert_true(read_state(child, &states[0]));
    for (int status; done < steps; done++) {
        const struct state *before = &states[done % 2];
        struct state *after = &states[1 - done % 2];
        uint8_t bytes[16];
        struct insn insn;
        size_t size = read_code(child, before->regs.rip, bytes);
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
            break;
        assert_true(read_state(child, after));
        assert_true(insn_decode(ISA_X86_64, bytes, size, &insn));
        /* As if they had kept their values, and, for the results, as if those were all the same. */
        uint64_t undefined = undefined_flags(bytes, size);
        struct state defined = *after;
        defined.regs.eflags = (after->regs.eflags & ~undefined) | (before->regs.eflags & undefined);
        unsigned unnamed = unnamed_change(&insn, before, &defined);
        defined.regs.eflags &= ~undefined;
        if (insn.operation == OP_SYSTEM && insn.memory_count == 1 && insn.memory[0].size_bytes == 0)
            unnamed = REG_NONE; /* xrstor: the registers it restores are not named */
        bool successor = right_successor(&insn, before->regs.rip, after->regs.rip);
        bool same = same_results(memo, &insn, before, &defined, &compared);
        if ((unnamed != REG_NONE || !successor || !same) && wrong++ < SHOWN) {
            char text[128];
            insn_text(ISA_X86_64, bytes, size, before->regs.rip, text, sizeof text);
            print_message("  %s at %llx:%s%s", text, before->regs.rip,
                          same ? "" : " results differ with equal sources",
                          successor ? "" : " wrong successor");
            if (unnamed != REG_NONE)
                print_message(" register %u changed but is not named", unnamed);
            print_message("\n");
        }
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    free(memo);
    print_message("%s: %lu steps, %lu with sources seen before, %lu wrong\n", command[0], done,
                  compared, wrong);
    assert_true(done > 10000);
    assert_true(compared > 1000);
    assert_int_equal(wrong, 0);
}

static void gzip(void **state) {
    (void)state;
    check_steps((char *[]){"/usr/bin/gzip", "-c", "src/isa/insn.h", NULL}, 30, 12000);
}

static void xz(void **state) {
    (void)state;
    check_steps((char *[]){"/usr/bin/xz", "-c", "src/isa/insn.h", NULL}, 40, 12000);
}

static void awk_with_floating_point(void **state) {
    (void)state;
    check_steps(
        (char *[]){"/usr/bin/awk", "BEGIN { while (++i < 999) s += sin(i) / i; print s }", NULL},
        36, 12000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip),
        cmocka_unit_test(xz),
        cmocka_unit_test(awk_with_floating_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void elsewhere(void **state) {
    (void)state;
    print_message("this processor is not x86-64\n");
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elsewhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
