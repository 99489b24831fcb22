/* Call stacks of a run and the cycles spent in each. */
#pragma once

#include <stddef.h>

#include "tap/places.h"
#include "tap/tap.h"
#include "util/hash_index.h"

/* Calls deeper than CALL_MAX_DEPTH count for the function at that depth. At most CALL_MAX_STACKS
 * stacks are told apart; the cycles of further ones go to the stack that they would extend. */
enum { CALL_MAX_DEPTH = 256, CALL_MAX_STACKS = 1 << 20 };

enum { CALL_NONE = UINT32_MAX };

/* A stack: a function called by another, or at the root of a thread. */
struct call_node {
    uint32_t parent; /* node; of a thread: CALL_NONE */
    uint32_t insn;   /* first instruction of the function; of a thread: its number */
    uint32_t depth;  /* 0: a thread */
    uint64_t units;  /* 1/840 cycles, without those of functions called */
};

struct call_stacks {
    const struct places *places;
    struct call_node *nodes; /* callers before callees */
    size_t node_capacity;
    uint32_t node_count;
    struct hash_index index; /* of the nodes, by parent and insn */
    uint32_t *sites; /* by static instruction: the function + 1 that a call returned to there */
    size_t site_capacity;
};

/* A call that has not returned. */
struct call_frame {
    uint64_t return_address;
    uint32_t node; /* the caller's stack */
};

/* One guest thread. */
struct call_thread {
    struct call_stacks *stacks;
    uint32_t root, node;     /* of the thread; the current one */
    uint32_t last_node;      /* of the last committed µop */
    uint32_t entered;        /* instructions since the function began, while few */
    uint32_t branch;         /* enum branch_kind that the next instruction follows */
    uint64_t return_address; /* of a call that the next instruction follows */
    struct call_frame *frames;
    size_t frame_capacity, frame_count;
};

/* False: out of memory. */
bool call_stacks_init(struct call_stacks *stacks, const struct places *places);
void call_stacks_end(struct call_stacks *stacks);
bool call_thread_init(struct call_thread *thread, struct call_stacks *stacks, uint32_t number);
void call_thread_end(struct call_thread *thread);

/* Adds the cycles of a buffer to the stacks. */
bool call_thread_consume(struct call_thread *thread, const struct tap_buffer *buffer,
                         struct error *error);
