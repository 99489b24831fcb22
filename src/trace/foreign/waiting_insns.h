/* Inside of this room: instructions of another tool's trace on their way into blocks. A thread's
 * last instruction waits until its accesses have come, and what follows it. Machine code is learned
 * as the trace tells it; an instruction without any is described by its kind and accesses. */
#pragma once

#include "trace/foreign/blocks.h"
#include "util/hash_index.h"

struct waiting_insns {
    struct foreign_blocks blocks;   /* made so far */
    uint64_t instructions, unknown; /* put into blocks; of them, those without machine code */
    uint64_t gaps;                  /* what follows an instruction did not follow from it */
    uint64_t dropped;               /* accesses that no instruction had room for */
    uint32_t thread;                /* UINT32_MAX: none yet */

    uint8_t encoding[2 * INSN_MAX_LENGTH + 8]; /* of the instruction that comes next */
    size_t encoding_size;
    struct place *places;
    size_t place_capacity;
    uint32_t place_count;
    struct hash_index place_index;
    struct thread *threads;
    size_t thread_capacity;
    uint32_t thread_count, finished;
};
void waiting_insns_begin(struct waiting_insns *insns);
void waiting_insns_free(struct waiting_insns *insns);

/* What follows is of the thread with this number. 1; 0: it is another thread, and the blocks of the
 * one before have to be taken first; −1: error. */
int waiting_insns_thread(struct waiting_insns *insns, uint64_t id, struct error *error);

/* The functions from here on need a thread, but for the two about code. */

/* Machine code of the next instruction, or the next bytes of it. */
bool waiting_insns_code(struct waiting_insns *insns, const uint8_t *bytes, size_t size,
                        struct error *error);
void waiting_insns_forget_code(struct waiting_insns *insns);
/* The next instruction. `branch` is what the trace calls it. */
bool waiting_insns_add(struct waiting_insns *insns, enum branch_kind branch, uint32_t size,
                       uint64_t address, struct error *error);
/* Another element of the repeated instruction that waits, if it is at this address. */
void waiting_insns_element(struct waiting_insns *insns, uint64_t address);
/* An access of the instruction that waits. */
void waiting_insns_access(struct waiting_insns *insns, bool store, uint32_t size, uint64_t address);
/* An event behind the instruction that waits, if there is one. */
void waiting_insns_mark(struct waiting_insns *insns, uint64_t mark);

/* At the end: first the open block of the thread, if there is one, then the last instruction of
 * each thread in turn. waiting_insns_finish(): 1; 0: there are no more threads; −1: error. */
bool waiting_insns_leave(struct waiting_insns *insns, struct error *error);
int waiting_insns_finish(struct waiting_insns *insns, struct error *error);
