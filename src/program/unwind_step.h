/* One step from a frame to its caller, by a row of the unwind table and a copy of the stack. */
#pragma once

#include "program/unwind_table.h"

struct unwind_registers {
    uint64_t values[UNWIND_REGISTERS]; /* by DWARF's numbers */
    uint32_t known;                    /* of which: bits */
};

/* A part of the memory of a process. */
struct unwind_memory {
    uint64_t address; /* of the first byte */
    const uint8_t *bytes;
    uint64_t size;
};

enum unwind_outcome {
    UNWIND_STEPPED,   /* the registers are the caller's */
    UNWIND_ENDED,     /* there is no caller */
    UNWIND_TRUNCATED, /* the stack is deeper than the copy */
    UNWIND_FAILED     /* rules are not known, or cannot be true */
};

/* After UNWIND_STEPPED rip is the return address (of UNWIND_SIGNAL, the interrupted instruction)
 * and rsp, rbp and rbx are known if they were; at any other outcome registers are of no meaning. */
enum unwind_outcome unwind_step(struct unwind_registers *registers, const struct unwind_row *row,
                                const struct unwind_memory *stack);
