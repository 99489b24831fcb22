/* The shadow stack of a run at some of its instructions, so that parts of another run of the same
 * program, whose code is numbered otherwise, begin with the calls that had not returned there.
 *
 *     stack_starts_want() ──► stack_starts_see() all of the thread ──► stack_starts_end()
 *                                              stack_starts_find() ──► shadow_stack_begin()
 *
 * Stacks have most of their outer calls in common, which are kept once. */
#pragma once

#include "attribute/memory_objects.h"
#include "attribute/shadow_stack.h"

struct stack_starts;
/* `data`: what is allocated and mapped is kept as well. NULL: out of memory. */
struct stack_starts *stack_starts_new(const struct path_extents *extents, bool data);
void stack_starts_free(struct stack_starts *starts);

/* Where the thread has executed so many instructions; those of a thread ascending. False: out of
 * memory. */
bool stack_starts_want(struct stack_starts *starts, uint32_t thread, uint64_t position);
/* How many instructions of the thread come before the next that is wanted, as far as is known;
 * UINT64_MAX: none is. */
uint64_t stack_starts_left(struct stack_starts *starts, uint32_t thread);
/* The next instructions, no more of them than that, all of one thread at a time: another goes on
 * where it has ended. False: out of memory. */
bool stack_starts_see(struct stack_starts *starts, const struct code *code,
                      const struct trace_batch *piece);
/* Where the last of the instructions seen has led, as wanted. Nothing more is seen; the code lives
 * as long as the starts are used, and so do the extents. False: out of memory. */
bool stack_starts_end(struct stack_starts *starts, const struct code *code);

struct stack_start;
/* NULL: it was not wanted, or not reached. */
const struct stack_start *stack_starts_find(const struct stack_starts *starts, uint32_t thread,
                                            uint64_t position);
/* The end of what was seen, before the next instruction. NULL: nothing was. */
const struct stack_start *stack_starts_last(const struct stack_starts *starts);
uint32_t stack_start_thread(const struct stack_start *start);

/* Events of memory were seen. */
bool stack_starts_have_data(const struct stack_starts *starts);
/* Of the run, for struct path_functions. */
const struct code *stack_starts_code(const struct stack_starts *starts);
/* Puts a stack that was only initialised there: what it walks next comes next, in this code. With
 * `objects`: they get what the process had, as their `process`, below nodes of the stack's tree.
 * False: out of memory. Several threads may do so at once. */
bool shadow_stack_begin(struct shadow_stack *stack, const struct code *code,
                        const struct stack_starts *starts, const struct stack_start *start,
                        struct memory_objects *objects, uint32_t process);
