/* Executions of blocks to dynamic instructions and memory accesses, in a batch of fixed size. */
#pragma once

#include "trace/code.h"
#include "trace/trace.h"

struct emitter {
    struct code_table *table;
    bool addresses;                    /* the trace has memory events */
    uint32_t first_access;             /* of the batch in its thread, low 32 bits */
    uint32_t insn_count, access_count; /* in the batch so far */
    bool faulted;                      /* an instruction of it did not complete */
    bool entered_kernel; /* the block of the last emit_block() ended in a system call */
    uint32_t cut;        /* instructions of that block that a mark says were not executed */
    uint32_t order_count, python_count, memory_count;
    struct dynamic_insn insns[TRACE_BATCH_INSNS + TEMPLATE_GROUP];
    struct memory_access accesses[TRACE_BATCH_ACCESSES];
    struct trace_order orders[TRACE_BATCH_ORDERS];  /* `reader`: index in insns[] */
    struct trace_python python[TRACE_BATCH_PYTHON]; /* `position`: likewise; `function`: number in
                                                       the process */
    struct trace_memory memory[TRACE_BATCH_MEMORY]; /* `position`: likewise; `image` as the items
                                                       number it */
};

enum emit { EMIT_DONE, EMIT_FULL, EMIT_ERROR };

/* One execution of a block: `events` are all events between it and the next block, which is NULL
 * when nothing follows. EMIT_FULL leaves the batch as it was. */
enum emit emit_block(struct emitter *emitter, struct code_block *block, const uint64_t *events,
                     size_t count, const struct code_block *next, struct error *error);

/* Decodes plain executions from position `at`, where a block of the process is entered, for as long
 * as the usual case lasts. Returns the position of the block at which it ended, and adds what the
 * capture counted for the blocks before it to *entered. */
uint32_t emit_plain(struct emitter *emitter, const struct process_blocks *process,
                    const uint64_t *events, uint32_t event_count, uint32_t at, uint64_t *entered);
