/* A block's execution is known only when the next block is: its memory events follow it, and its
 * successor tells whether its branch was taken and whether all of it was executed. So the last
 * block of a chunk is held, with its events, until the thread's next chunk. */
#include "trace/decode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/code.h"
#include "trace/emit.h"
#include "trace/event.h"
#include "trace/event_queue.h"
#include "util/array.h"

enum {
    HELD_MAX_EVENTS = 1 << 17,  /* of one block */
    THREAD_MAX_AHEAD = 1 << 16, /* by which a new thread number may exceed all before */
};

struct guest_thread {
    uint32_t process;
    uint32_t held_block; /* index into table.blocks, or CODE_NONE */
    uint64_t *held;      /* its events so far */
    size_t held_count, held_capacity;
    uint64_t insn_count, access_count; /* handed out */
    uint64_t captured;                 /* first_insn that the next chunk must have */
    bool passed; /* the chunk before was passed over: events may belong to its last block */
};

struct decoder {
    struct code_table own, *table; /* its own, or that of another, which has all code */
    struct notes *notes;
    struct guest_thread **threads; /* by number; NULL: not yet seen; &ended: ended */
    size_t thread_capacity;
    uint32_t thread_count;
    struct guest_thread ended;

    struct item_data chunk; /* being decoded if `in_chunk` */
    uint32_t position;      /* of its next event */
    bool in_chunk;
    uint64_t entered;                 /* instructions of the blocks entered in the chunk so far */
    uint64_t cut;                     /* of them, marked as not executed */
    struct event_queue thread_events; /* that wait for their instructions */
    struct thread_event *told;        /* of the batch being filled */
    size_t told_capacity;
    uint32_t told_count;
    uint32_t ending; /* thread being ended, or CODE_NONE */
    uint64_t pass;   /* instructions that may be passed over */
    int only;        /* thread that is looked at; −1: all */
    uint64_t passed; /* instructions of the chunk that was, to be told with the batch */
    bool outline;    /* all chunks are passed over, whether or not they have events */
    bool finishing;
    uint32_t finished; /* threads below it were ended by decoder_finish() */

    struct error failure; /* handed out after the batch before it */
    bool failed;

    struct emitter emitter; /* the batch being filled */
};

struct decoder *decoder_new(enum isa isa, bool addresses, struct notes *notes) {
    struct decoder *decoder = malloc(sizeof *decoder);
    if (!decoder)
        return NULL;
    memset(decoder, 0, offsetof(struct decoder, emitter.insns));
    decoder->table = &decoder->own;
    code_table_init(decoder->table, isa);
    decoder->emitter.table = decoder->table;
    decoder->emitter.addresses = addresses;
    decoder->notes = notes;
    decoder->ending = CODE_NONE;
    decoder->only = -1;
    return decoder;
}

static void free_thread(struct decoder *decoder, uint32_t number) {
    struct guest_thread *thread = decoder->threads[number];
    if (thread && thread != &decoder->ended) {
        free(thread->held);
        free(thread);
    }
    decoder->threads[number] = &decoder->ended;
}

void decoder_settle(struct decoder *decoder) {
    for (uint32_t i = 0; i < decoder->thread_count; i++)
        free_thread(decoder, i);
    code_table_settle(&decoder->own);
}

void decoder_free(struct decoder *decoder) {
    if (!decoder)
        return;
    decoder_settle(decoder);
    free(decoder->threads);
    free(decoder->told);
    event_queue_free(&decoder->thread_events);
    code_table_free(&decoder->own);
    free(decoder);
}

const struct code_table *decoder_table(const struct decoder *decoder) {
    return decoder->table;
}

const struct code *decoder_code(const struct decoder *decoder) {
    return &decoder->table->code;
}

uint32_t decoder_thread_count(const struct decoder *decoder) {
    return decoder->thread_count;
}

/* ---- events of threads ---- */

/* The block emitted last ends in the thread's `position`-th instruction, as the capture counts. */
static bool tell_events(struct decoder *decoder, const struct guest_thread *thread, uint32_t number,
                        uint64_t position, struct error *error) {
    struct thread_event event;
    if (!decoder->emitter.entered_kernel || !decoder->emitter.insn_count)
        return true;
    while (event_queue_take(&decoder->thread_events, number, position, &event)) {
        event.position = thread->insn_count + decoder->emitter.insn_count;
        if (!array_push(decoder->told, decoder->told_capacity, decoder->told_count, event))
            return error_set(error, "out of memory for events of threads");
    }
    return true;
}

/* ---- chunks ---- */

static struct code_block *block_of(struct decoder *decoder, const struct guest_thread *thread,
                                   uint64_t event, struct error *error) {
    const struct process_blocks *process = &decoder->table->processes[thread->process];
    if (event >= process->count)
        return error_null(error, "unknown block %" PRIu64 " entered", event);
    return decoder->table->blocks + process->blocks[event];
}

static bool hold(struct guest_thread *thread, const uint64_t *events, size_t count,
                 struct error *error) {
    if (thread->held_count + count > HELD_MAX_EVENTS)
        return error_set(error, "more than %d events of one block", HELD_MAX_EVENTS);
    if (!array_room(thread->held, thread->held_capacity, thread->held_count + count))
        return error_set(error, "out of memory for a thread's events");
    if (count)
        memcpy(thread->held + thread->held_count, events, count * sizeof *events);
    thread->held_count += count;
    return true;
}

/* `position`: of its end, as the capture counts. */
static bool emit_held(struct decoder *decoder, struct guest_thread *thread, uint32_t number,
                      uint64_t position, const struct code_block *next, struct error *error) {
    if (thread->held_block == CODE_NONE)
        return true;
    enum emit emit = emit_block(&decoder->emitter, decoder->table->blocks + thread->held_block,
                                thread->held, thread->held_count, next, error);
    thread->held_block = CODE_NONE;
    thread->held_count = 0;
    if (emit == EMIT_FULL)
        return error_set(error, "a block has more than %d memory accesses", TRACE_BATCH_ACCESSES);
    return emit == EMIT_DONE && tell_events(decoder, thread, number, position, error);
}

static uint32_t next_block_at(const struct item_data *chunk, uint32_t at) {
    while (at < chunk->event_count && event_kind(chunk->events[at]) != EVENT_BLOCK)
        at++;
    return at;
}

/* The events before the first block belong to the block held from the chunk before. */
static bool begin_chunk(struct decoder *decoder, struct guest_thread *thread, struct error *error) {
    const struct item_data *chunk = &decoder->chunk;
    uint32_t at = next_block_at(chunk, 0);
    decoder->position = at;
    if (thread->held_block != CODE_NONE) {
        if (!hold(thread, chunk->events, at, error))
            return false;
        if (at == chunk->event_count)
            return true;
        const struct code_block *next = block_of(decoder, thread, chunk->events[at], error);
        return next && emit_held(decoder, thread, chunk->thread, chunk->first_insn, next, error);
    }
    for (uint32_t i = 0; i < at && !thread->passed; i++)
        if (event_kind(chunk->events[i]) != EVENT_MARK)
            return error_set(error, "a memory event belongs to no block");
    thread->passed &= at == chunk->event_count;
    return true;
}

/* Passes over the whole chunk, and over what followed the block held from the one before. */
static bool pass_chunk(struct decoder *decoder, struct guest_thread *thread, struct error *error) {
    const uint64_t gap = event_mark(MARK_GAP, 0);
    decoder->emitter.first_access = (uint32_t)thread->access_count;
    decoder->position = decoder->chunk.event_count;
    decoder->passed = decoder->chunk.insn_count;
    thread->passed = true;
    return thread->held_block == CODE_NONE ||
           (hold(thread, &gap, 1, error) && emit_held(decoder, thread, decoder->chunk.thread,
                                                      decoder->chunk.first_insn, NULL, error));
}

/* A chunk cannot have executed more than it entered; less if it was cut short. */
static bool check_count(const struct decoder *decoder, struct error *error) {
    if (decoder->chunk.insn_count <= decoder->entered)
        return true;
    return error_set(error,
                     "a chunk of %" PRIu64 " instructions enters blocks of only %" PRIu64 " in all",
                     decoder->chunk.insn_count, decoder->entered);
}

/* Decodes until the batch is full or the chunk ends. */
static bool decode_chunk(struct decoder *decoder, struct error *error) {
    const struct item_data *chunk = &decoder->chunk;
    struct guest_thread *thread = decoder->threads[chunk->thread];
    decoder->emitter.first_access = (uint32_t)thread->access_count;
    if (decoder->outline || !chunk->events || chunk->counted ||
        (decoder->position == 0 && decoder_passes(chunk->insn_count, decoder->pass)))
        return pass_chunk(decoder, thread, error);
    if (decoder->position == 0 && !begin_chunk(decoder, thread, error))
        return false;
    while (decoder->position < chunk->event_count) {
        struct code_block *block =
            block_of(decoder, thread, chunk->events[decoder->position], error);
        if (!block)
            return false;
        decoder->position =
            emit_plain(&decoder->emitter, &decoder->table->processes[thread->process],
                       chunk->events, chunk->event_count, decoder->position, &decoder->entered);
        block = block_of(decoder, thread, chunk->events[decoder->position], error);
        const uint64_t *events = chunk->events + decoder->position + 1;
        uint32_t end = next_block_at(chunk, decoder->position + 1);
        uint32_t count = end - decoder->position - 1;
        if (end == chunk->event_count) {
            thread->held_block = (uint32_t)(block - decoder->table->blocks);
            decoder->position = end;
            decoder->entered += block->insn_count;
            return hold(thread, events, count, error) && check_count(decoder, error);
        }
        const struct code_block *next = block_of(decoder, thread, chunk->events[end], error);
        if (!next)
            return false;
        switch (emit_block(&decoder->emitter, block, events, count, next, error)) {
        case EMIT_DONE:
            decoder->position = end;
            decoder->entered += block->insn_count;
            decoder->cut += decoder->emitter.cut;
            if (!tell_events(decoder, thread, chunk->thread,
                             chunk->first_insn + decoder->entered - decoder->cut, error))
                return false;
            break;
        case EMIT_FULL:
            if (decoder->emitter.insn_count > 0)
                return true;
            return error_set(error, "a block has more than %d memory accesses",
                             TRACE_BATCH_ACCESSES);
        case EMIT_ERROR:
            return false;
        }
    }
    return true;
}

/* ---- items ---- */

static bool reserve_threads(struct decoder *decoder, uint32_t number, struct error *error) {
    if (number < decoder->thread_count)
        return true;
    if (number - decoder->thread_count > THREAD_MAX_AHEAD)
        return error_set(error, "thread number %" PRIu32 " after only %" PRIu32 " threads", number,
                         decoder->thread_count);
    if (!array_zeroed_room(decoder->threads, decoder->thread_capacity, (size_t)number + 1))
        return error_set(error, "out of memory for %" PRIu32 " threads", number);
    decoder->thread_count = number + 1;
    return true;
}

static bool feed_data(struct decoder *decoder, const struct item_data *chunk, struct error *error) {
    if (chunk->process >= decoder->table->process_count)
        return error_set(error, "data of unknown process %" PRIu32, chunk->process);
    if (decoder->only >= 0 && chunk->thread != (uint32_t)decoder->only)
        return true;
    if (!reserve_threads(decoder, chunk->thread, error))
        return false;
    struct guest_thread *thread = decoder->threads[chunk->thread];
    if (!thread) {
        thread = calloc(1, sizeof *thread);
        if (!thread)
            return error_set(error, "out of memory for a thread");
        thread->process = chunk->process;
        thread->held_block = CODE_NONE;
        thread->captured = chunk->first_insn;
        decoder->threads[chunk->thread] = thread;
    }
    if (thread == &decoder->ended)
        return error_set(error, "data of thread %" PRIu32 " after its end", chunk->thread);
    if (thread->process != chunk->process)
        return error_set(error, "thread %" PRIu32 " moves from process %" PRIu32 " to %" PRIu32,
                         chunk->thread, thread->process, chunk->process);
    if (thread->captured != chunk->first_insn)
        return error_set(
            error, "thread %" PRIu32 " continues at instruction %" PRIu64 " instead of %" PRIu64,
            chunk->thread, chunk->first_insn, thread->captured);
    thread->captured += chunk->insn_count;
    decoder->chunk = *chunk;
    decoder->position = 0;
    decoder->entered = decoder->cut = 0;
    decoder->in_chunk = chunk->event_count > 0 || !chunk->events || decoder->outline;
    return true;
}

static bool feed_event(struct decoder *decoder, const struct thread_event *event,
                       struct error *error) {
    if (event->process >= decoder->table->process_count)
        return error_set(error, "an event of unknown process %" PRIu32, event->process);
    if (!reserve_threads(decoder, event->thread, error) ||
        (event->other != THREAD_EVENT_NO_THREAD && !reserve_threads(decoder, event->other, error)))
        return false;
    bool wanted = (decoder->only < 0 || event->thread == (uint32_t)decoder->only) &&
                  decoder->threads[event->thread] != &decoder->ended;
    return event_queue_add(&decoder->thread_events, event, wanted, error);
}

struct trace_thread decoder_thread(const struct decoder *decoder, uint32_t thread) {
    return event_queue_origin(&decoder->thread_events, thread);
}

static bool feed_code(struct decoder *decoder, const struct item *item, struct error *error) {
    struct code_table *table = &decoder->own;
    if (decoder->table != table)
        return true;
    switch (item->kind) {
    case ITEM_PROCESS:
        return code_table_add_process(table, item->process.process, error);
    case ITEM_IMAGE:
        return code_table_add_image(table, &item->image, error);
    case ITEM_CODE:
        return code_table_add_block(table, &item->code, decoder->notes, error);
    case ITEM_SYMBOLS:
        return code_table_add_symbols(table, &item->symbols, error);
    default:
        return code_table_add_python(table, &item->python, error);
    }
}

bool decoder_feed(struct decoder *decoder, const struct item *item, struct error *error) {
    switch (item->kind) {
    case ITEM_PROCESS:
    case ITEM_IMAGE:
    case ITEM_CODE:
    case ITEM_SYMBOLS:
    case ITEM_PYTHON:
        return feed_code(decoder, item, error);
    case ITEM_THREAD_EVENT:
        return feed_event(decoder, &item->event, error);
    case ITEM_DATA:
        return reserve_threads(decoder, item->data.thread, error) &&
               event_queue_begin(&decoder->thread_events, item->data.thread, item->data.first_insn,
                                 error) &&
               feed_data(decoder, &item->data, error);
    case ITEM_THREAD_END:
        if (!reserve_threads(decoder, item->thread_ended, error))
            return false;
        decoder->ending = item->thread_ended;
        return true;
    default:
        return true;
    }
}

void decoder_pass(struct decoder *decoder, uint64_t insns) {
    decoder->pass = insns;
}

void decoder_outline(struct decoder *decoder) {
    decoder->outline = true;
}

void decoder_remember(struct decoder *decoder, struct insn_memo *memo) {
    decoder->own.memo = memo;
}

void decoder_place(struct decoder *decoder, const struct code_placement *placement) {
    decoder->own.placement = placement;
}

void decoder_share(struct decoder *decoder, struct decoder *other) {
    decoder->table = decoder->emitter.table = other->table;
}

void decoder_only(struct decoder *decoder, int thread) {
    decoder->only = thread;
}

void decoder_finish(struct decoder *decoder) {
    decoder->finishing = true;
}

static void settle_memory(const struct decoder *decoder, struct trace_memory *event,
                          uint64_t before) {
    const struct code_table *table = decoder->table;
    event->position += before;
    event->image = event->image < table->image_count ? table->images[event->image] : UINT32_MAX;
}

/* Hands out the batch in the making. */
static int deliver(struct decoder *decoder, uint32_t number, bool ended,
                   struct trace_batch *batch) {
    struct guest_thread *thread = decoder->threads[number];
    *batch = (struct trace_batch){.thread = number,
                                  .process = thread->process,
                                  .insn_count = decoder->emitter.insn_count,
                                  .access_count = decoder->emitter.access_count,
                                  .insns = decoder->emitter.insns,
                                  .accesses = decoder->emitter.accesses,
                                  .first_insn = thread->insn_count,
                                  .first_access = thread->access_count,
                                  .all_completed = !decoder->emitter.faulted,
                                  .thread_ended = ended,
                                  .passed = decoder->passed,
                                  .events = decoder->told,
                                  .event_count = decoder->told_count,
                                  .orders = decoder->emitter.orders,
                                  .order_count = decoder->emitter.order_count,
                                  .python = decoder->emitter.python,
                                  .python_count = decoder->emitter.python_count,
                                  .memory = decoder->emitter.memory,
                                  .memory_count = decoder->emitter.memory_count};
    for (uint32_t i = 0; i < decoder->emitter.order_count; i++)
        decoder->emitter.orders[i].reader += thread->insn_count;
    for (uint32_t i = 0; i < decoder->emitter.python_count; i++) {
        struct trace_python *python = &decoder->emitter.python[i];
        python->position += thread->insn_count;
        python->function = code_table_python(decoder->table, thread->process, python->function);
    }
    for (uint32_t i = 0; i < decoder->emitter.memory_count; i++)
        settle_memory(decoder, &decoder->emitter.memory[i], thread->insn_count);
    decoder->told_count = decoder->emitter.order_count = decoder->emitter.python_count = 0;
    decoder->emitter.memory_count = 0;
    thread->insn_count += decoder->emitter.insn_count + decoder->passed;
    decoder->passed = 0;
    thread->access_count += decoder->emitter.access_count;
    decoder->emitter.insn_count = decoder->emitter.access_count = 0;
    decoder->emitter.faulted = false;
    if (ended)
        free_thread(decoder, number);
    if (ended)
        event_queue_forget(&decoder->thread_events, number);
    return 1;
}

static int fail(struct decoder *decoder, struct error *error) {
    *error = decoder->failure;
    return -1;
}

static int end_thread(struct decoder *decoder, uint32_t number, struct trace_batch *batch) {
    struct guest_thread *thread = decoder->threads[number];
    if (!thread || thread == &decoder->ended) {
        decoder->threads[number] = &decoder->ended;
        return 0;
    }
    decoder->emitter.first_access = (uint32_t)thread->access_count;
    if (!emit_held(decoder, thread, number, thread->captured, NULL, &decoder->failure)) {
        error_prefix(&decoder->failure, "thread %" PRIu32, number);
        decoder->failed = true;
        return -1;
    }
    return deliver(decoder, number, true, batch);
}

int decoder_next(struct decoder *decoder, struct trace_batch *batch, struct error *error) {
    if (decoder->failed)
        return fail(decoder, error);
    if (decoder->in_chunk) {
        uint32_t number = decoder->chunk.thread;
        if (!decode_chunk(decoder, &decoder->failure)) {
            error_prefix(&decoder->failure, "thread %" PRIu32 ", event %" PRIu32 " of a chunk",
                         number, decoder->position);
            decoder->failed = true;
        }
        if (decoder->failed || decoder->position == decoder->chunk.event_count)
            decoder->in_chunk = false;
        if (decoder->emitter.insn_count > 0 || decoder->passed > 0)
            return deliver(decoder, number, false, batch);
        if (decoder->failed)
            return fail(decoder, error);
    }
    int status = 0;
    if (decoder->ending != CODE_NONE) {
        uint32_t number = decoder->ending;
        decoder->ending = CODE_NONE;
        status = end_thread(decoder, number, batch);
    }
    while (status == 0 && decoder->finishing && decoder->finished < decoder->thread_count)
        status = end_thread(decoder, decoder->finished++, batch);
    return status < 0 ? fail(decoder, error) : status;
}
