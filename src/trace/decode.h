/* The decoder: items in, batches of dynamic instructions out.
 *
 *     decoder_feed(decoder, &item, &error);
 *     while ((status = decoder_next(decoder, &batch, &error)) > 0) ...
 *     (next item; after the last, decoder_finish() and drain once more)
 *
 * The last block of a thread is held back until what follows it is known, across chunks.
 * Sequence numbers count the instructions handed out, beginning with 0 for each thread. */
#pragma once

#include "trace/event.h"
#include "trace/item.h"
#include "trace/notes.h"

/* Whether a chunk of so many instructions is passed over where the next `pass` may be: never into
 * the block in which those end. */
static inline bool decoder_passes(uint64_t insn_count, uint64_t pass) {
    return pass >= EVENT_MAX_BLOCK_INSNS && insn_count <= pass - EVENT_MAX_BLOCK_INSNS;
}

struct decoder;

/* `addresses`: the trace has memory events. `notes` (borrowed) receives warnings. NULL when out of
 * memory. */
struct decoder *decoder_new(enum isa isa, bool addresses, struct notes *notes);
void decoder_free(struct decoder *decoder);

/* Takes a PROCESS, IMAGE, CODE, THREAD_EVENT, DATA or THREAD_END item; others are ignored. The
 * events of a DATA item must stay valid until decoder_next() returns 0. */
bool decoder_feed(struct decoder *decoder, const struct item *item, struct error *error);

/* 1: a batch, valid until the next call; 0: feed another item; −1: error, now and ever after (what
 * was decoded before it has been handed out). */
int decoder_next(struct decoder *decoder, struct trace_batch *batch, struct error *error);

/* Chunks of other threads are dropped; −1: of none. */
void decoder_only(struct decoder *decoder, int thread);
void decoder_outline(struct decoder *decoder);                          /* trace_outline() */
void decoder_remember(struct decoder *decoder, struct insn_memo *memo); /* trace_open_again() */
/* Before the first item: the code is that of another, which has had all items of the same trace
 * (trace_open_beside()). */
void decoder_share(struct decoder *decoder, struct decoder *other);
struct code_placement;
void decoder_place(struct decoder *decoder,
                   const struct code_placement *placement); /* trace_place() */
/* Chunks that fit within the next `insns` instructions are passed over instead of decoded; see
 * trace_pass(). So are those that come without events. */
void decoder_pass(struct decoder *decoder, uint64_t insns);

/* No more is decoded: frees what only decoding needs. The code keeps its instructions and images,
 * but no µops. */
void decoder_settle(struct decoder *decoder);

/* No item follows: decoder_next() will hand out what was held back and end every thread. */
void decoder_finish(struct decoder *decoder);

struct code_table;
const struct code_table *decoder_table(const struct decoder *decoder);
const struct code *decoder_code(const struct decoder *decoder);
uint32_t decoder_thread_count(const struct decoder *decoder);
struct trace_thread decoder_thread(const struct decoder *decoder, uint32_t thread);
