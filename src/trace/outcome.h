/* How the execution of a block ended: how many of its instructions completed, and how control went
 * on to the next block. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/code.h"
#include "trace/event.h"
#include "util/error.h"

/* The marks among the events of one execution. */
struct marks {
    uint32_t executed; /* CODE_NONE: not told */
    bool syscall, gap;
    bool rep;
    bool orders;                /* MARK_WRITER */
    uint32_t python;            /* MARK_PYTHON and MARK_PYTHON_FRAME: how many */
    bool memory;                /* MARK_MEMORY */
    bool returned;              /* rt_sigreturn() */
    enum event_handler handler; /* where the next block begins; 0: no handler */
    bool framed;                /* not a mark: a frame was seen (trace/frame.h) */
    bool vdso;                  /* a vDSO serves the system call */
};

/* False: unknown marks, or impossible ones. */
bool marks_read(const struct code_block *block, const uint64_t *events, size_t count,
                struct marks *marks, struct error *error);

struct outcome {
    uint32_t executed;   /* instructions that completed */
    bool fault;          /* the one after them did not */
    uint16_t last_flags; /* enum dynamic_flags of the last instruction handed out */
};

/* `events` are the block's own events; `next` is the block that follows, or NULL; `addresses`: the
 * trace has memory events. */
struct outcome outcome_judge(struct code_table *table, bool addresses, struct code_block *block,
                             const uint64_t *events, size_t count, const struct marks *marks,
                             const struct code_block *next);

/* True if control could go from the end of the block to the next; then *flags is set, and the block
 * remembers the pair. Fills in the branch's static target when it is first seen. */
bool block_reaches(struct code_table *table, struct code_block *block,
                   const struct code_block *next, uint16_t *flags);
