/* What the files about the current thread share. Inside of the plugin.
 *
 *     plugin_thread.c     its events
 *     plugin_chunk.c      the chunks that they go to, and budgets of instructions
 *     plugin_rep.c        instructions with a rep prefix, element by element
 *     plugin_skip.c       what it executes while nothing is captured
 *     plugin_pause.c      blocks meanwhile
 *     plugin_position.c   how far it has come
 *     plugin_life.c       beginnings, numbers, ends */
#pragma once

#include <pthread.h>

#include "trace/qemu/plugin.h"

#pragma GCC visibility push(hidden)

/* An instruction with a rep prefix that is being executed, element by element. */
struct rep {
    bool open;
    const struct rep_block *block;
    uint32_t index; /* in its block */
    uint32_t slot;  /* operand that comes next in this element */
    uint32_t slots; /* operands seen in the first element */
    struct rep_operand {
        uint64_t first, low, high; /* addresses of elements */
        uint64_t count;
        uint8_t log2_size;
        bool is_store, descending;
    } operands[REP_OPERANDS];
};

struct thread_state {
    enum { NEW, CAPTURED, DROPPED } state;
    bool numbered;
    uint32_t number, ordinal;
    uint32_t chunk; /* number of thread_chunk, when state is CAPTURED and `held` */
    bool held;
    bool between;   /* thread_publish() handed the last chunk on, and no block was executed since */
    uint64_t *full; /* new blocks go to a new chunk from here */
    uint64_t *end;  /* true end */
    uint64_t insns_before; /* executed before the chunk, in all phases */
    uint32_t cut;          /* instructions of the last block within the limit; 0: all */
    bool gap;              /* it stood aside, so the next event does not follow the last one */
    uint64_t skip_until;   /* insns_before at which to look whether to go on skipping */
    uint64_t skipped;      /* of insns_before: known to all threads */
    uint64_t skipped_rep;  /* address of the rep instruction that runs uncaptured; 0: none */
    uint64_t skipped_at;   /* insns_before behind it: it still runs as long as that is so */
    bool rep_continues;    /* the last rep block is a further element of an open one */
    struct rep rep;
};
extern THREAD_LOCAL struct thread_state self;

/* Chunks of this process change their owner under it, except those of a thread itself inside a
 * block. */
extern pthread_mutex_t thread_ownership;

static inline bool thread_is_capturing(void) {
    return ring_activity(atomic_load(&plugin.phase)) == RING_CAPTURE;
}

static inline uint64_t *chunk_cursor(struct ring_chunk *chunk) {
    return atomic_load_explicit(&chunk->cursor, memory_order_relaxed);
}

static inline void thread_put(uint64_t event) {
    uint64_t *cursor = chunk_cursor(thread_chunk);
    if (cursor == self.end)
        return; /* a block with thousands of accesses: not on any compiler's output */
    *cursor = event;
    atomic_store_explicit(&thread_chunk->cursor, cursor + 1, memory_order_release);
}

/* ---- plugin_thread.c ---- */

/* Makes the thread ready for a new block or mark. False: its events are dropped. */
bool thread_settle(unsigned vcpu);
/* Up to where the hot callbacks may append, after any change of the chunk or of what is open. */
void thread_set_end(void);
/* False: the block is not captured. */
bool thread_begin_block(unsigned vcpu, uint32_t block, uint32_t insn_count);
/* The last block's events are complete. */
void thread_close_block(void);

/* ---- plugin_chunk.c ---- */

/* False: this thread's events are lost (the consumer is gone, or 4096 threads hold chunks). */
bool chunk_take(void);
/* The thread's chunk, if it has one, goes to the consumer; `last`: of the thread. */
void chunk_hand_over(bool last);
/* Events of this thread are dropped, at little cost. */
void chunk_drop(void);
/* The thread has used its share up, and nothing is left for it. */
void chunk_stand_aside(void);
/* How many of the instructions the limit allows. */
uint32_t chunk_allows(uint32_t insn_count);
void chunk_share(void); /* the guest has more than one thread now: lone_chunk is always full */
void chunk_leave(void); /* the thread ends */
void chunk_forked(void);

/* ---- plugin_rep.c ---- */

/* The rep instruction at the address begins uncaptured, and was counted. */
static inline void rep_skipped(struct thread_state *thread, uint64_t address) {
    thread->skipped_rep = address;
    thread->skipped_at = thread->insns_before;
}
static inline bool rep_runs_skipped(uint64_t address) {
    return self.skipped_rep == address && self.skipped_at == self.insns_before;
}

/* All elements that will be executed were. */
void rep_close(void);

/* ---- plugin_skip.c ---- */

/* The current thread has come to where it looks whether to go on skipping. */
void skip_look(unsigned vcpu);

/* Counts what this thread has executed as skipped. Returns the instructions that are then still to
 * be skipped; 0 or less: none. */
int64_t skip_report(void);

/* ---- plugin_position.c ---- */

/* The number of the block entered last, or FAULT_UNNUMBERED. */
uint32_t thread_last_block(void);

/* ---- plugin_life.c ---- */

/* Whether the capture wants the events of the vCPU's thread. */
bool thread_is_wanted(unsigned vcpu);
void thread_give_number(unsigned vcpu);
void thread_keep(void); /* its end will be noticed */

#pragma GCC visibility pop
