/* Which of a program's code is work, and which only waits: what the routines that threads
 * synchronise with execute is none (LoopPoint: Sabu et al. 2022), nor is what pauses. How
 * often that is executed depends on who is late, not on what the program has to do. */
#pragma once

#include <stdint.h>

#include "trace/trace.h"

enum {
    WORK_NONE = 1 << 0,    /* of a routine that synchronises, or a pause */
    WORK_FOREIGN = 1 << 1, /* of a shared library that has such routines, or of the kernel: a loop
                              of it is nobody's landmark */
    WORK_BRANCH = 1 << 2,  /* direct, and no call: loops are closed by such */
    WORK_PAUSE = 1 << 3,   /* tells the processor that it spins */
    WORK_ENDS = 1 << 4,    /* any branch */
    WORK_ATOMIC = 1 << 5
};

/* By static instruction, of all the code that the trace, read to its end, has: one WORK_* mask
 * each. The caller's (free). NULL: out of memory. */
uint8_t *work_code(const struct trace *trace, struct error *error);
