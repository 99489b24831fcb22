/* One guest thread of a trace file, by a reader of its own: its instructions up to each of its
 * events, then the event. Memory is bounded by the static code. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"
#include "util/error.h"

struct guest_input {
    struct trace *trace;
    struct trace_batch batch;
    uint32_t taken;        /* instructions of it */
    uint32_t events_taken; /* events of it */
    uint32_t orders_taken; /* orders of it */
    bool over;             /* no batch follows */
};

/* `read`: the file's trace, which has been read to its end (trace_open_beside()). */
bool guest_input_open(struct guest_input *input, const char *path, struct trace *read,
                      uint32_t thread, struct error *error);
void guest_input_close(struct guest_input *input);

/* What comes next: some instructions, the event behind those before, or the order that binds the
 * one that comes next. */
struct guest_next {
    struct trace_batch piece;
    const struct thread_event *event;
    const struct trace_order *order;
};
enum guest_step { GUEST_FAILED, GUEST_INSNS, GUEST_EVENT, GUEST_ORDER, GUEST_END };
/* `most` instructions at most. All is good until the next call. */
enum guest_step guest_input_next(struct guest_input *input, uint32_t most, struct guest_next *next,
                                 struct error *error);
/* Instructions handed out so far. */
uint64_t guest_input_position(const struct guest_input *input);
/* The instruction that comes next, and the address that it accesses first, or 0; behind a
 * GUEST_ORDER. */
uint32_t guest_input_ahead(const struct guest_input *input, uint64_t *address);

/* The last so many of the instructions that it gave were not taken. */
void guest_input_give_back(struct guest_input *input, uint32_t count);

/* The image of the instruction handed out last; UINT32_MAX: not known. */
uint32_t guest_input_image(const struct guest_input *input);
