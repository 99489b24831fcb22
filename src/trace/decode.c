/* Events to dynamic instructions.
 *
 * A block's execution is known only when the next block is: its memory events follow it, and its
 * successor tells whether its branch was taken and whether all of it was executed. The usual case
 * is quick: the memory events match the pattern of the block's last execution, another block
 * follows directly, and it is one of the two successors last seen. Then the block's template is
 * copied with the access index added and only addresses are filled in. Everything else (marks,
 * a new shape, an unexpected successor, the end of a chunk) goes through emit_block(), which
 * decides from scratch and leaves a new pattern behind. */
#include "trace/decode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/code.h"
#include "trace/event.h"
#include "util/array.h"

enum {
    HELD_MAX_EVENTS = 1 << 17,  /* of one block */
    THREAD_MAX_AHEAD = 1 << 16, /* by which a new thread number may exceed all before */
    REP_PIECE_BYTES = 1u << 31, /* size at which the access of a rep instruction is split */
    OPERAND_UNMATCHED = 255
};

struct guest_thread {
    uint32_t process;
    uint32_t held_block; /* index into table.blocks, or CODE_NONE */
    uint64_t *held;      /* its events so far */
    size_t held_count, held_capacity;
    uint64_t insn_count, access_count; /* handed out */
    uint64_t captured;                 /* first_insn that the next chunk must have */
};

struct decoder {
    struct code_table table;
    bool addresses; /* the trace has memory events */
    struct notes *notes;
    struct guest_thread **threads; /* by number; NULL: not yet seen; &ended: ended */
    size_t thread_capacity;
    uint32_t thread_count;
    struct guest_thread ended;

    struct item_data chunk; /* being decoded if `in_chunk` */
    uint32_t position;      /* of its next event */
    bool in_chunk;
    uint64_t entered; /* instructions of the blocks entered in the chunk so far */
    uint32_t ending;  /* thread being ended, or CODE_NONE */
    bool finishing;
    uint32_t finished; /* threads below it were ended by decoder_finish() */

    struct error failure; /* handed out after the batch before it */
    bool failed;

    uint32_t insn_count, access_count; /* of the batch being filled */
    struct dynamic_insn insns[TRACE_BATCH_INSNS];
    struct memory_access accesses[TRACE_BATCH_ACCESSES];
};

struct decoder *decoder_new(enum isa isa, bool addresses, struct notes *notes) {
    struct decoder *decoder = malloc(sizeof *decoder);
    if (!decoder)
        return NULL;
    memset(decoder, 0, offsetof(struct decoder, insns));
    code_table_init(&decoder->table, isa);
    decoder->addresses = addresses;
    decoder->notes = notes;
    decoder->ending = CODE_NONE;
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

void decoder_free(struct decoder *decoder) {
    if (!decoder)
        return;
    for (uint32_t i = 0; i < decoder->thread_count; i++)
        free_thread(decoder, i);
    free(decoder->threads);
    code_table_free(&decoder->table);
    free(decoder);
}

const struct code *decoder_code(const struct decoder *decoder) {
    return &decoder->table.code;
}

uint32_t decoder_thread_count(const struct decoder *decoder) {
    return decoder->thread_count;
}

/* ---- what followed a block ---- */

struct outcome {
    uint32_t executed;   /* instructions that completed */
    bool fault;          /* the one after them did not */
    uint16_t last_flags; /* enum dynamic_flags of the last instruction handed out */
};

static bool always_taken(const struct code_block *block) {
    return block->branch != BRANCH_NONE && block->branch != BRANCH_CONDITIONAL;
}

/* Index of the instruction of the block that begins at this address, or CODE_NONE. */
static uint32_t insn_at(const struct code_table *table, const struct code_block *block,
                        uint64_t address) {
    uint64_t at = block->address;
    for (uint32_t i = 0; i < block->insn_count && at <= address; i++) {
        if (at == address)
            return i;
        at += table->code.insns[table->templates[block->template + i].insn].length;
    }
    return CODE_NONE;
}

static bool remember_successor(struct code_block *block, const struct code_table *table,
                               const struct code_block *next, uint16_t flags) {
    block->successor[1] = block->successor[0];
    block->successor_flags[1] = block->successor_flags[0];
    block->successor[0] = (uint32_t)(next - table->blocks);
    block->successor_flags[0] = flags;
    return true;
}

/* True if control could go from the end of the block to the next; then *flags is set. */
static bool reaches(struct code_table *table, struct code_block *block,
                    const struct code_block *next, uint16_t *flags) {
    bool taken = always_taken(block);
    switch (block->branch) {
    case BRANCH_NONE:
        if (next->address != block->end)
            return false;
        break;
    case BRANCH_CONDITIONAL:
    case BRANCH_JUMP:
    case BRANCH_CALL:
        if (block->branch == BRANCH_CONDITIONAL && next->address == block->end)
            break;
        if (next->address != block->target)
            return false;
        taken = true;
        struct static_insn *branch =
            &table->code.insns[table->templates[block->template + block->insn_count - 1].insn];
        if (branch->target == UINT32_MAX)
            branch->target = table->templates[next->template].insn;
        break;
    case BRANCH_RETURN: /* into the block it ends: only if the block was cut short there */
        if (insn_at(table, block, next->address) != CODE_NONE)
            return false;
        break;
    }
    *flags = taken ? DYN_TAKEN : 0;
    return remember_successor(block, table, next, *flags);
}

/* A successor without any mark between. */
static struct outcome outcome_of(struct code_table *table, struct code_block *block,
                                 const struct code_block *next, bool syscall) {
    struct outcome outcome = {.executed = block->insn_count};
    if (reaches(table, block, next, &outcome.last_flags))
        return outcome;
    uint32_t cut = syscall ? CODE_NONE : insn_at(table, block, next->address);
    if (cut != CODE_NONE)
        outcome.executed = cut;
    else
        outcome.last_flags = DYN_SIGNAL | (always_taken(block) ? DYN_TAKEN : 0);
    return outcome;
}

struct marks {
    uint32_t executed; /* CODE_NONE: not told */
    bool syscall, signal, gap, rep;
};

static bool read_marks(const struct code_block *block, const uint64_t *events, size_t count,
                       struct marks *marks, struct error *error) {
    *marks = (struct marks){.executed = CODE_NONE};
    for (size_t i = 0; i < count; i++) {
        if (event_kind(events[i]) != EVENT_MARK)
            continue;
        switch (event_mark_kind(events[i])) {
        case MARK_REP:
        case MARK_SPAN:
            marks->rep = true;
            break;
        case MARK_EXECUTED:
            if (event_payload(events[i]) > block->reported)
                return error_set(error, "%" PRIu64 " of %" PRIu32 " instructions executed",
                                 event_payload(events[i]), block->reported);
            marks->executed = (uint32_t)event_payload(events[i]);
            break;
        case MARK_SYSCALL:
            marks->syscall = true;
            break;
        case MARK_SIGNAL:
            marks->signal = true;
            break;
        case MARK_GAP:
            marks->gap = true;
            break;
        default:
            return error_set(error, "unknown mark %u", event_mark_kind(events[i]));
        }
    }
    return true;
}

/* The memory operands that an instruction uses whenever it completes, or 0 if that depends. */
static unsigned certain_directions(const struct static_insn *insn,
                                   const struct insn_operands *operands, enum isa isa) {
    unsigned directions = 0;
    bool conditional = operands->gather || (insn->flags & (INSN_REP | INSN_PREFETCH | INSN_NOP)) ||
                       (isa == ISA_RISCV64 && (insn->flags & INSN_ATOMIC));
    for (int i = 0; i < operands->count && !conditional; i++)
        directions |= operands->directions[i];
    return directions;
}

/* Control was taken away somewhere in this block. The first instruction whose memory access is
 * missing, or that can raise an exception after the last access, did not complete; if there is
 * none, all did, and the signal came from outside. */
static uint32_t stopped_at(const struct decoder *decoder, const struct code_block *block,
                           const uint64_t *events, size_t count) {
    const struct code *code = &decoder->table.code;
    uint32_t last = 0;
    unsigned seen = 0; /* directions at `last` */
    for (size_t i = 0; i < count; i++) {
        unsigned kind = event_kind(events[i]);
        if (kind != EVENT_LOAD && kind != EVENT_STORE)
            continue;
        seen = event_index(events[i]) == last ? seen : 0;
        last = event_index(events[i]);
        seen |= kind == EVENT_STORE ? OPERAND_STORE : OPERAND_LOAD;
    }
    for (uint32_t i = last; i < block->insn_count; i++, seen = 0) {
        uint32_t number = decoder->table.templates[block->template + i].insn;
        const struct static_insn *insn = &code->insns[number];
        unsigned certain = certain_directions(insn, &decoder->table.operands[number], code->isa);
        if (decoder->addresses && (certain & ~seen))
            return i;
        bool divides = insn->operation == OP_INT_DIV && code->isa == ISA_X86_64;
        if (divides || (insn->flags & INSN_TRAP))
            return i;
    }
    return block->insn_count;
}

/* `next` is NULL when nothing follows. */
static struct outcome judge(struct decoder *decoder, struct code_block *block,
                            const uint64_t *events, size_t count, const struct marks *marks,
                            const struct code_block *next) {
    struct code_table *table = &decoder->table;
    struct outcome outcome = {.executed = block->insn_count,
                              .last_flags = always_taken(block) ? DYN_TAKEN : 0};
    bool signal = marks->signal;
    if (marks->executed < block->insn_count) {
        outcome.executed = marks->executed;
        outcome.last_flags = 0;
        if (next && !signal && !marks->gap)
            signal = insn_at(table, block, next->address) != marks->executed;
        outcome.fault = marks->signal;
    } else {
        if (next && !signal && !marks->gap) {
            outcome = outcome_of(table, block, next, marks->syscall);
            signal = outcome.last_flags & DYN_SIGNAL;
        }
        bool interrupted = (signal || !next) && !marks->syscall && !marks->gap;
        uint32_t stop = interrupted && marks->executed == CODE_NONE
                            ? stopped_at(decoder, block, events, count)
                            : block->insn_count;
        if (stop < block->insn_count) {
            outcome = (struct outcome){.executed = stop, .fault = signal};
        }
    }
    outcome.last_flags |= (signal ? DYN_SIGNAL : 0) | (outcome.fault ? DYN_FAULT : 0);
    outcome.last_flags |= (marks->syscall ? DYN_SYSCALL : 0) | (marks->gap ? DYN_GAP : 0);
    return outcome;
}

/* ---- memory accesses ---- */

/* Joins the pieces of wide accesses and matches them with operands, event by event. */
struct joiner {
    struct memory_access *first, *end, *limit;
    const struct insn_operands *operands;
    uint32_t index;      /* of the instruction in the block; CODE_NONE before the first */
    uint8_t cursor[2];   /* next operand to try, loads and stores */
    bool rep;            /* inside MARK_REP */
    bool open;           /* end[-1] may grow */
    uint64_t base, size; /* extent of the operand of end[-1]; size 0: not known */
};

static void joiner_start_insn(struct joiner *joiner, uint32_t index,
                              const struct insn_operands *operands) {
    joiner->index = index;
    joiner->operands = operands;
    joiner->cursor[0] = joiner->cursor[1] = 0;
    joiner->rep = joiner->open = false;
}

static uint8_t pick_operand(struct joiner *joiner, bool store) {
    const struct insn_operands *operands = joiner->operands;
    unsigned direction = store ? OPERAND_STORE : OPERAND_LOAD;
    for (uint8_t i = joiner->cursor[store]; i < operands->count; i++)
        if (operands->directions[i] & direction) {
            joiner->cursor[store] = operands->gather ? i : i + 1;
            return i;
        }
    return OPERAND_UNMATCHED;
}

enum join { JOIN_NEW, JOIN_PIECE, JOIN_FULL };

static enum join joiner_add(struct joiner *joiner, uint64_t event) {
    bool store = event_kind(event) == EVENT_STORE;
    uint32_t size = 1u << event_log2_size(event);
    uint64_t address = event_address(event);
    struct memory_access *last = joiner->end - 1;
    bool open = joiner->open && last->is_store == store;
    if (open && address == last->address + last->size_bytes &&
        (joiner->size ? address + size - joiner->base <= joiner->size
                      : last->size_bytes < REP_PIECE_BYTES)) {
        last->size_bytes += size;
        return JOIN_PIECE;
    }
    if (joiner->end == joiner->limit)
        return JOIN_FULL;
    bool same = open && (!joiner->size || address - joiner->base < joiner->size);
    uint8_t operand = same ? last->operand : pick_operand(joiner, store);
    *joiner->end++ = (struct memory_access){
        .address = address, .size_bytes = size, .is_store = store, .operand = operand};
    if (!same) {
        joiner->open = operand != OPERAND_UNMATCHED && !joiner->operands->gather && !joiner->rep;
        joiner->base = address;
        joiner->size = operand == OPERAND_UNMATCHED ? 0 : joiner->operands->size_bytes[operand];
    }
    return JOIN_NEW;
}

/* Gives the last access the extent of all elements of a rep instruction. */
static bool joiner_span(struct joiner *joiner, uint64_t payload) {
    struct memory_access access = *--joiner->end;
    uint64_t left = payload & ((UINT64_C(1) << 55) - 1);
    access.descending = payload >> 55 & 1;
    if (left / REP_PIECE_BYTES >= (uint64_t)(joiner->limit - joiner->end))
        return false;
    while (left) {
        access.size_bytes = left < REP_PIECE_BYTES ? (uint32_t)left : REP_PIECE_BYTES;
        *joiner->end++ = access;
        access.address += access.size_bytes;
        left -= access.size_bytes;
    }
    return true;
}

/* ---- blocks ---- */

enum emit { EMIT_DONE, EMIT_FULL, EMIT_ERROR };

/* Keeps how the block was executed for match_pattern(). */
static void learn_template(struct code_table *table, struct code_block *block,
                           const struct dynamic_insn *insns, uint32_t first, uint32_t events,
                           uint32_t accesses) {
    struct dynamic_insn *template = table->templates + block->template;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        template[i].memory = insns[i].memory - first;
        template[i].memory_count = insns[i].memory_count;
    }
    block->event_count = events;
    block->access_count = accesses;
    block->patterned = true;
}

static void learn_event(struct event_pattern *pattern, uint32_t position, uint32_t *first,
                        uint64_t event, enum join join, const struct memory_access *access) {
    pattern[position] =
        (struct event_pattern){.tag = (uint16_t)(event >> 48), .piece = join == JOIN_PIECE};
    if (join == JOIN_NEW)
        *first = position;
    pattern[*first].size_bytes = access->size_bytes;
    pattern[*first].is_store = access->is_store;
    pattern[*first].operand = access->operand;
}

/* Fills memory counts and accesses of the instructions below `emitted`; `pattern`, if not NULL, is
 * learned on the way. */
static enum emit fill_accesses(struct decoder *decoder, const struct code_block *block,
                               const uint64_t *events, size_t count, uint32_t emitted,
                               uint32_t base, struct event_pattern *pattern, struct joiner *joiner,
                               struct error *error) {
    const struct code_table *table = &decoder->table;
    struct dynamic_insn *insns = decoder->insns + decoder->insn_count;
    uint32_t filled = 0; /* instructions whose .memory is set */
    uint32_t first_piece = 0;
    bool after_access = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t event = events[i];
        bool mark = event_kind(event) == EVENT_MARK;
        if (mark && event_mark_kind(event) > MARK_SPAN)
            continue;
        if (mark && event_mark_kind(event) == MARK_SPAN) {
            if (!joiner->rep || !after_access)
                return error_set(error, "a span follows no access"), EMIT_ERROR;
            after_access = false;
            if (joiner->index < emitted && !joiner_span(joiner, event_payload(event)))
                return EMIT_FULL;
            continue;
        }
        uint32_t index = mark ? (uint32_t)(event_payload(event) >> 45) : event_index(event);
        if (index >= block->insn_count || (joiner->index != CODE_NONE && index < joiner->index))
            return error_set(error, "memory event of instruction %" PRIu32 " is out of order",
                             index),
                   EMIT_ERROR;
        if (index >= emitted) { /* of what did not complete */
            joiner->index = index;
            joiner->rep |= mark;
            after_access = !mark;
            continue;
        }
        if (index != joiner->index) {
            uint32_t at = base + (uint32_t)(joiner->end - joiner->first);
            if (joiner->index != CODE_NONE)
                insns[joiner->index].memory_count = (uint16_t)(at - insns[joiner->index].memory);
            for (; filled <= index; filled++)
                insns[filled].memory = at;
            joiner_start_insn(joiner, index, &table->operands[insns[index].insn]);
        }
        if (mark) {
            uint64_t elements = event_payload(event) & ((UINT64_C(1) << 45) - 1);
            insns[index].flags |= DYN_REP;
            insns[index].repeat = elements < UINT32_MAX ? (uint32_t)elements : UINT32_MAX;
            joiner->rep = true;
            joiner->open = after_access = false;
            continue;
        }
        enum join join = joiner_add(joiner, event);
        if (join == JOIN_FULL)
            return EMIT_FULL;
        if (pattern)
            learn_event(pattern, (uint32_t)i, &first_piece, event, join, joiner->end - 1);
        after_access = true;
    }
    uint32_t at = base + (uint32_t)(joiner->end - joiner->first);
    if (filled > 0)
        insns[filled - 1].memory_count = (uint16_t)(at - insns[filled - 1].memory);
    for (; filled < emitted; filled++)
        insns[filled].memory = at;
    return EMIT_DONE;
}

/* One execution of a block: `events` are all events between it and the next block. EMIT_FULL
 * leaves the batch as it was. */
static enum emit emit_block(struct decoder *decoder, const struct guest_thread *thread,
                            struct code_block *block, const uint64_t *events, size_t count,
                            const struct code_block *next, struct error *error) {
    struct code_table *table = &decoder->table;
    struct marks marks;
    if (decoder->insn_count + block->insn_count > TRACE_BATCH_INSNS)
        return EMIT_FULL;
    if (!read_marks(block, events, count, &marks, error))
        return EMIT_ERROR;
    struct outcome outcome = judge(decoder, block, events, count, &marks, next);
    uint32_t emitted = outcome.executed + outcome.fault;

    struct dynamic_insn *insns = decoder->insns + decoder->insn_count;
    const struct dynamic_insn *template = table->templates + block->template;
    for (uint32_t i = 0; i < emitted; i++)
        insns[i] = (struct dynamic_insn){.insn = template[i].insn, .flags = template[i].flags};

    bool plain = !marks.rep && !marks.syscall && !marks.signal && !marks.gap &&
                 marks.executed == CODE_NONE && emitted == block->insn_count;
    bool learn = plain && count <= 8 * (size_t)block->insn_count + 8 &&
                 code_table_reserve_pattern(table, block, (uint32_t)count);
    struct memory_access *first = decoder->accesses + decoder->access_count;
    struct joiner joiner = {.first = first,
                            .end = first,
                            .limit = decoder->accesses + TRACE_BATCH_ACCESSES,
                            .index = CODE_NONE};
    uint32_t base = (uint32_t)thread->access_count + decoder->access_count;
    block->patterned &= !learn;
    enum emit emit = fill_accesses(decoder, block, events, count, emitted, base,
                                   learn ? table->patterns + block->pattern : NULL, &joiner, error);
    if (emit != EMIT_DONE)
        return emit;
    uint32_t accesses = (uint32_t)(joiner.end - joiner.first);
    if (learn)
        learn_template(table, block, insns, base, (uint32_t)count, accesses);
    decoder->insn_count += emitted;
    decoder->access_count += accesses;
    if (decoder->insn_count > 0)
        decoder->insns[decoder->insn_count - 1].flags |= outcome.last_flags;
    return EMIT_DONE;
}

/* Fills the accesses at `out` if the events are those of the block's pattern. */
static inline bool match_pattern(const struct event_pattern *pattern, uint32_t count,
                                 const uint64_t *events, struct memory_access *out) {
    uint64_t end = 0; /* of the event before */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t event = events[i], address = event_address(event);
        if (__builtin_expect(event >> 48 != pattern[i].tag, 0))
            return false;
        if (pattern[i].piece) {
            if (__builtin_expect(address != end, 0))
                return false;
        } else {
            out->address = address;
            memcpy(&out->size_bytes, &pattern[i].size_bytes, 8);
            out++;
        }
        end = address + (UINT64_C(1) << event_log2_size(event));
    }
    return true;
}

static inline void copy_template(struct dynamic_insn *insns, const struct dynamic_insn *template,
                                 uint32_t count, uint32_t first_access) {
    typedef uint32_t lanes __attribute__((vector_size(16), aligned(4), may_alias));
    const lanes add = {0, first_access, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        *(lanes *)(insns + i) = *(const lanes *)(template + i) + add;
}

/* Decodes plain executions from position `at`, where a block is entered, for as long as the usual
 * case lasts. Returns the position of the block at which it ended. */
static uint32_t decode_plain(struct decoder *decoder, const struct guest_thread *thread,
                             uint32_t at) {
    struct code_table *table = &decoder->table;
    const struct process_blocks *process = &table->processes[thread->process];
    const uint32_t *numbers = process->blocks;
    const uint64_t *events = decoder->chunk.events;
    uint32_t event_count = decoder->chunk.event_count, block_count = process->count;
    uint32_t insn_count = decoder->insn_count, access_count = decoder->access_count;
    uint32_t base = (uint32_t)thread->access_count;
    uint64_t entered = 0;
    struct code_block *block = table->blocks + numbers[events[at]];
    for (;;) {
        uint32_t after = at + 1 + block->event_count;
        if (!block->patterned || after >= event_count ||
            insn_count + block->insn_count > TRACE_BATCH_INSNS ||
            access_count + block->access_count > TRACE_BATCH_ACCESSES)
            break;
        if (events[after] >= block_count) /* not a block, or no such block */
            break;
        uint32_t next_number = numbers[events[after]];
        struct code_block *next = table->blocks + next_number;
        if (!match_pattern(table->patterns + block->pattern, block->event_count, events + at + 1,
                           decoder->accesses + access_count))
            break;
        uint16_t flags;
        if (next_number == block->successor[0])
            flags = block->successor_flags[0];
        else if (next_number == block->successor[1])
            flags = block->successor_flags[1];
        else if (!reaches(table, block, next, &flags))
            break;
        copy_template(decoder->insns + insn_count, table->templates + block->template,
                      block->insn_count, base + access_count);
        insn_count += block->insn_count;
        access_count += block->access_count;
        entered += block->reported;
        decoder->insns[insn_count - 1].flags |= flags;
        at = after;
        block = next;
    }
    decoder->entered += entered;
    decoder->insn_count = insn_count;
    decoder->access_count = access_count;
    return at;
}

/* ---- chunks ---- */

static struct code_block *block_of(struct decoder *decoder, const struct guest_thread *thread,
                                   uint64_t event, struct error *error) {
    const struct process_blocks *process = &decoder->table.processes[thread->process];
    if (event >= process->count) {
        error_set(error, "unknown block %" PRIu64 " entered", event);
        return NULL;
    }
    return decoder->table.blocks + process->blocks[event];
}

static bool hold(struct guest_thread *thread, const uint64_t *events, size_t count,
                 struct error *error) {
    if (thread->held_count + count > HELD_MAX_EVENTS)
        return error_set(error, "more than %d events of one block", HELD_MAX_EVENTS);
    if (!array_reserve((void **)&thread->held, &thread->held_capacity, thread->held_count + count,
                       sizeof *thread->held))
        return error_set(error, "out of memory for a thread's events");
    if (count)
        memcpy(thread->held + thread->held_count, events, count * sizeof *events);
    thread->held_count += count;
    return true;
}

static bool emit_held(struct decoder *decoder, struct guest_thread *thread,
                      const struct code_block *next, struct error *error) {
    if (thread->held_block == CODE_NONE)
        return true;
    enum emit emit = emit_block(decoder, thread, decoder->table.blocks + thread->held_block,
                                thread->held, thread->held_count, next, error);
    thread->held_block = CODE_NONE;
    thread->held_count = 0;
    if (emit == EMIT_FULL)
        return error_set(error, "a block has more than %d memory accesses", TRACE_BATCH_ACCESSES);
    return emit == EMIT_DONE;
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
        return next && emit_held(decoder, thread, next, error);
    }
    for (uint32_t i = 0; i < at; i++)
        if (event_kind(chunk->events[i]) != EVENT_MARK)
            return error_set(error, "a memory event belongs to no block");
    return true;
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
    if (decoder->position == 0 && !begin_chunk(decoder, thread, error))
        return false;
    while (decoder->position < chunk->event_count) {
        struct code_block *block =
            block_of(decoder, thread, chunk->events[decoder->position], error);
        if (!block)
            return false;
        decoder->position = decode_plain(decoder, thread, decoder->position);
        block = block_of(decoder, thread, chunk->events[decoder->position], error);
        const uint64_t *events = chunk->events + decoder->position + 1;
        uint32_t end = next_block_at(chunk, decoder->position + 1);
        uint32_t count = end - decoder->position - 1;
        if (end == chunk->event_count) {
            thread->held_block = (uint32_t)(block - decoder->table.blocks);
            decoder->position = end;
            decoder->entered += block->reported;
            return hold(thread, events, count, error) && check_count(decoder, error);
        }
        const struct code_block *next = block_of(decoder, thread, chunk->events[end], error);
        if (!next)
            return false;
        switch (emit_block(decoder, thread, block, events, count, next, error)) {
        case EMIT_DONE:
            decoder->position = end;
            decoder->entered += block->reported;
            break;
        case EMIT_FULL:
            if (decoder->insn_count > 0)
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
    if (!array_reserve((void **)&decoder->threads, &decoder->thread_capacity, (size_t)number + 1,
                       sizeof *decoder->threads))
        return error_set(error, "out of memory for %" PRIu32 " threads", number);
    while (decoder->thread_count <= number)
        decoder->threads[decoder->thread_count++] = NULL;
    return true;
}

static bool feed_data(struct decoder *decoder, const struct item_data *chunk, struct error *error) {
    if (chunk->process >= decoder->table.process_count)
        return error_set(error, "data of unknown process %" PRIu32, chunk->process);
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
    decoder->entered = 0;
    decoder->in_chunk = chunk->event_count > 0;
    return true;
}

bool decoder_feed(struct decoder *decoder, const struct item *item, struct error *error) {
    switch (item->kind) {
    case ITEM_PROCESS:
        return code_table_add_process(&decoder->table, item->process.process, error);
    case ITEM_IMAGE:
        return code_table_add_image(&decoder->table, &item->image, error);
    case ITEM_CODE:
        return code_table_add_block(&decoder->table, &item->code, decoder->notes, error);
    case ITEM_DATA:
        return feed_data(decoder, &item->data, error);
    case ITEM_THREAD_END:
        if (!reserve_threads(decoder, item->thread_ended, error))
            return false;
        decoder->ending = item->thread_ended;
        return true;
    default:
        return true;
    }
}

void decoder_finish(struct decoder *decoder) {
    decoder->finishing = true;
}

/* Hands out the batch in the making. */
static int deliver(struct decoder *decoder, uint32_t number, bool ended,
                   struct trace_batch *batch) {
    struct guest_thread *thread = decoder->threads[number];
    *batch = (struct trace_batch){.thread = number,
                                  .process = thread->process,
                                  .insn_count = decoder->insn_count,
                                  .access_count = decoder->access_count,
                                  .insns = decoder->insns,
                                  .accesses = decoder->accesses,
                                  .first_insn = thread->insn_count,
                                  .first_access = thread->access_count,
                                  .thread_ended = ended};
    thread->insn_count += decoder->insn_count;
    thread->access_count += decoder->access_count;
    decoder->insn_count = decoder->access_count = 0;
    if (ended)
        free_thread(decoder, number);
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
    if (!emit_held(decoder, thread, NULL, &decoder->failure)) {
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
        if (decoder->insn_count > 0)
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
