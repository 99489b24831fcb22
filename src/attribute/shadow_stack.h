/* The calls of one guest thread that have not returned, as its instructions are read: which node of
 * the calling context tree each instruction belongs to.
 *
 * On x86-64 a call and a return tell where on the stack the return address lies, which a thread
 * uses for one call at a time: returns are matched by it first. Where that fails, and on riscv64,
 * by where control goes. See shadow_stack.c for longjmp, exceptions, signals and coroutines. */
#pragma once

#include "attribute/path_functions.h"
#include "attribute/path_tree.h"
#include "attribute/shadow_python.h"
#include "trace/trace.h"

enum shadow_frame_kind {
    FRAME_CALL,
    FRAME_SIGNAL,    /* its handler runs */
    FRAME_RESTORING, /* the handler has returned, but not yet to what it interrupted */
    FRAME_PUSHED     /* a call that a handler had the interrupted function make */
};

/* A call that has not returned, or what a signal's handler interrupted. */
struct shadow_frame {
    uint64_t slot;     /* address of the return address on the stack; 0: not known */
    uint64_t back;     /* place of the instruction behind the call; 0: not known */
    uint32_t node;     /* of the caller */
    uint32_t site;     /* of a signal: static number of the last instruction before it */
    uint8_t kind;      /* enum shadow_frame_kind */
    uint8_t stub_kind; /* of a signal in a linkage table's entry: how that was entered */
};

/* Calls of one stack of the program. */
struct shadow_frames {
    struct shadow_frame *items;
    size_t count, capacity;
    uint32_t node;  /* of what runs there */
    uint64_t stamp; /* when it was set aside */
};

enum { SHADOW_ASIDE = 256, SHADOW_RECENT = 4 };

/* What did not go as calls and returns alone do. */
struct shadow_counts {
    uint64_t calls, signals;
    uint64_t unwound;   /* returns and jumps to a caller further out: longjmp, exceptions */
    uint64_t switched;  /* times that control went to another stack */
    uint64_t lost;      /* times that callers were not known */
    uint64_t lost_gaps; /* of these, because instructions are missing */
};

/* The last instruction, where control left it other than to the next one. */
struct departure {
    bool any;
    uint8_t branch;                 /* enum branch_kind */
    uint16_t flags;                 /* enum dynamic_flags */
    uint32_t insn;                  /* static number */
    uint64_t slot;                  /* of a call or return; 0: not known */
    uint64_t recent[SHADOW_RECENT]; /* of an indirect jump: addresses accessed just before */
};

/* Called at the first instruction that belongs to another node than the one before it; `position`
 * instructions counted before it. False: out of memory. */
typedef bool shadow_move(void *context, uint64_t position, uint32_t node);

struct shadow_stack {
    struct path_tree *tree; /* shared */
    struct path_functions *functions;
    shadow_move *move;
    void *move_context;

    uint32_t root, node;        /* of the thread; where it is now */
    uint32_t inner;             /* the same, or what is inlined there, or Python's line */
    uint32_t scope, scope_node; /* of the last instruction: its inlined functions; its node */
    uint32_t told;              /* node, at the last move */
    uint64_t position;          /* instructions that counted */
    uint64_t next;              /* number in its thread of the instruction that should come next */
    struct departure left;
    struct shadow_frames frames;              /* of the present stack */
    struct shadow_frames aside[SHADOW_ASIDE]; /* other stacks */
    uint32_t aside_count;
    uint64_t stamp;
    bool counting;      /* the instructions that are walked count */
    bool resumes;       /* what is walked next is what comes next, whatever its number */
    bool fresh;         /* a jump went to a function: it may begin another stack */
    uint8_t stub_kind;  /* enum path_kind; in a linkage table's entry: how it was entered */
    uint32_t stub_site; /* and from where; PATH_NONE: not there */
    bool stub_lazy;     /* it goes on to what finds the function first */
    uint8_t *within;    /* by static instruction: a direct jump that stays in its function */
    size_t within_capacity;
    struct shadow_counts counts;
    struct shadow_python python;
};

/* False: out of memory. */
bool shadow_stack_init(struct shadow_stack *stack, struct path_tree *tree,
                       struct path_functions *functions, uint32_t thread, shadow_move *move,
                       void *context);
void shadow_stack_free(struct shadow_stack *stack);

/* The next instructions of the thread. Those that `count` move the position on, but for those that
 * raised an exception. False: out of memory. */
bool shadow_stack_walk(struct shadow_stack *stack, const struct code *code,
                       const struct trace_batch *piece, bool count);

/* Goes where the last instruction led, to this one, which is walked next. False: out of memory. */
bool shadow_stack_land(struct shadow_stack *stack, const struct code *code, uint32_t insn);

void shadow_counts_add(struct shadow_counts *sum, const struct shadow_counts *counts);
