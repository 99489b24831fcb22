/* The caller's rsp is the CFA, and its rip lies below that. A stack grows down: a CFA that is not
 * above the stack pointer is of rules that do not fit the code, but behind a signal, whose handler
 * may have a stack of its own. */
#include "program/unwind_step.h"

#include <string.h>

/* Where the kernel has the registers, bytes above rsp when the handler has returned
 * (struct ucontext, struct sigcontext). */
enum { SIGNAL_REGISTERS = 40, SIGNAL_RIP = 168 };

static bool is_known(const struct unwind_registers *registers, unsigned number) {
    return registers->known >> number & 1;
}

/* STEPPED: it was read. */
static enum unwind_outcome read_word(const struct unwind_memory *memory, uint64_t address,
                                     uint64_t *word) {
    uint64_t at = address - memory->address;
    if (address < memory->address)
        return UNWIND_FAILED; /* below the stack pointer */
    if (memory->size < 8 || at > memory->size - 8)
        return UNWIND_TRUNCATED;
    memcpy(word, memory->bytes + at, sizeof *word);
    return UNWIND_STEPPED;
}

static enum unwind_outcome find_cfa(const struct unwind_registers *registers,
                                    const struct unwind_row *row, const struct unwind_memory *stack,
                                    uint64_t *cfa) {
    if (row->base >= UNWIND_REGISTERS || !is_known(registers, row->base))
        return UNWIND_FAILED;
    *cfa = registers->values[row->base] + (uint64_t)(int64_t)row->cfa_offset;
    if (row->kind == UNWIND_LINKAGE)
        *cfa = registers->values[UNWIND_RSP] + 8 +
               8 * ((registers->values[UNWIND_RIP] & 15) >= (uint64_t)row->cfa_offset);
    if (row->kind != UNWIND_DEREFERENCE)
        return UNWIND_STEPPED;
    enum unwind_outcome outcome = read_word(stack, *cfa, cfa);
    *cfa += row->after;
    return outcome;
}

/* Where a register was saved below the stack pointer, an epilogue has popped it already: compilers
 * do not say so, since what was saved there is still there. */
static enum unwind_outcome find_saved(const struct unwind_registers *registers, int16_t words,
                                      bool by_rbp, unsigned number, uint64_t cfa,
                                      const struct unwind_memory *stack, uint64_t *value) {
    const uint64_t from = by_rbp ? registers->values[UNWIND_RBP] : cfa;
    const uint64_t at = from + (uint64_t)(8 * (int64_t)words);
    *value = registers->values[number];
    if ((!words && !by_rbp) || at < registers->values[UNWIND_RSP])
        return UNWIND_STEPPED;
    if (by_rbp && !is_known(registers, UNWIND_RBP))
        return UNWIND_FAILED;
    return read_word(stack, at, value);
}

static enum unwind_outcome return_to(struct unwind_registers *registers, uint64_t cfa, uint64_t rbp,
                                     uint64_t rbx, const struct unwind_memory *stack) {
    if (cfa <= registers->values[UNWIND_RSP])
        return UNWIND_FAILED;
    enum unwind_outcome outcome = read_word(stack, cfa - 8, &registers->values[UNWIND_RIP]);
    registers->values[UNWIND_RSP] = cfa;
    registers->values[UNWIND_RBP] = rbp;
    registers->values[UNWIND_RBX] = rbx;
    registers->known &= 1u << UNWIND_RIP | 1u << UNWIND_RSP | 1u << UNWIND_RBP | 1u << UNWIND_RBX;
    return outcome == UNWIND_STEPPED && !registers->values[UNWIND_RIP] ? UNWIND_ENDED : outcome;
}

static enum unwind_outcome step_by_row(struct unwind_registers *registers,
                                       const struct unwind_row *row,
                                       const struct unwind_memory *stack) {
    uint64_t cfa, rbp, rbx;
    enum unwind_outcome outcome = find_cfa(registers, row, stack, &cfa);
    if (outcome == UNWIND_STEPPED)
        outcome = find_saved(registers, row->rbp, row->flags & UNWIND_RBP_BY_RBP, UNWIND_RBP, cfa,
                             stack, &rbp);
    if (outcome == UNWIND_STEPPED)
        outcome = find_saved(registers, row->rbx, row->flags & UNWIND_RBX_BY_RBP, UNWIND_RBX, cfa,
                             stack, &rbx);
    return outcome == UNWIND_STEPPED ? return_to(registers, cfa, rbp, rbx, stack) : outcome;
}

/* The ABI has the outermost frame say so by a frame pointer of 0. */
static enum unwind_outcome step_by_frame_pointer(struct unwind_registers *registers,
                                                 const struct unwind_memory *stack) {
    uint64_t frame = registers->values[UNWIND_RBP], rbp;
    if (!is_known(registers, UNWIND_RBP))
        return UNWIND_FAILED;
    if (!frame)
        return UNWIND_ENDED;
    if (frame < registers->values[UNWIND_RSP] || frame % 8)
        return UNWIND_FAILED;
    enum unwind_outcome outcome = read_word(stack, frame, &rbp);
    return outcome == UNWIND_STEPPED
               ? return_to(registers, frame + 16, rbp, registers->values[UNWIND_RBX], stack)
               : outcome;
}

static enum unwind_outcome step_over_signal(struct unwind_registers *registers,
                                            const struct unwind_memory *stack) {
    /* struct sigcontext's order, by DWARF's numbers: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx,
     * rsp. */
    static const uint8_t ORDER[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7};
    uint64_t at = registers->values[UNWIND_RSP];
    enum unwind_outcome outcome = read_word(stack, at + SIGNAL_RIP, &registers->values[UNWIND_RIP]);
    for (unsigned i = 0; outcome == UNWIND_STEPPED && i < sizeof ORDER; i++)
        outcome = read_word(stack, at + SIGNAL_REGISTERS + 8 * i, &registers->values[ORDER[i]]);
    registers->known = (1u << UNWIND_REGISTERS) - 1;
    return outcome;
}

enum unwind_outcome unwind_step(struct unwind_registers *registers, const struct unwind_row *row,
                                const struct unwind_memory *stack) {
    switch (row->kind) {
    case UNWIND_NO_RULE:
        return step_by_frame_pointer(registers, stack);
    case UNWIND_OUTERMOST:
        return UNWIND_ENDED;
    case UNWIND_SIGNAL:
        return step_over_signal(registers, stack);
    case UNWIND_UNKNOWN:
        return UNWIND_FAILED;
    default:
        return step_by_row(registers, row, stack);
    }
}
