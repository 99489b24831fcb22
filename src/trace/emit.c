/* The usual case is quick: the memory events match the pattern of the block's last execution,
 * another block follows directly, and it is one of the two successors last seen. Then the block's
 * template is copied with the access index added, and only addresses are filled in. Everything else
 * (marks, a new shape, an unexpected successor) goes through emit_block(), which decides from
 * scratch and leaves a new pattern behind. */
#include "trace/emit.h"

#include <inttypes.h>
#include <string.h>

#include "trace/event.h"
#include "trace/frame.h"
#include "trace/joiner.h"
#include "trace/outcome.h"
#include "util/array.h"

/* One execution of a block. */
struct execution {
    const struct code_block *block;
    const uint64_t *events; /* all between it and the next block */
    size_t count;
    struct foreign_events foreign; /* among them */
    uint32_t emitted;              /* instructions of the block, from its first on */
    uint32_t base;                 /* number of its first access in its thread, low 32 bits */
};

/* Keeps how the block was executed for match_pattern(). */
static void learn_template(struct code_table *table, struct code_block *block,
                           const struct execution *execution, const struct dynamic_insn *insns,
                           uint32_t accesses) {
    struct dynamic_insn *template = table->templates + block->template;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        template[i].memory = insns[i].memory - execution->base;
        template[i].memory_count = insns[i].memory_count;
    }
    block->event_count = (uint32_t)execution->count;
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

/* Fills memory counts and accesses of the instructions that are emitted; `pattern`, if not NULL, is
 * learned on the way. */
static enum emit fill_accesses(struct emitter *emitter, const struct execution *execution,
                               struct event_pattern *pattern, struct joiner *joiner,
                               struct error *error) {
    const struct code_table *table = emitter->table;
    const uint32_t emitted = execution->emitted, base = execution->base;
    struct dynamic_insn *insns = emitter->insns + emitter->insn_count;
    uint32_t filled = 0; /* instructions whose .memory is set */
    uint32_t first_piece = 0;
    bool after_access = false;
    for (size_t i = 0; i < execution->count; i++) {
        uint64_t event = execution->events[i];
        bool mark = event_kind(event) == EVENT_MARK;
        if ((mark && event_mark_kind(event) > MARK_SPAN) ||
            (i >= execution->foreign.begin && i < execution->foreign.end))
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
        if (index >= execution->block->insn_count ||
            (joiner->index != CODE_NONE && index < joiner->index))
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

/* Sorted by reader, as accesses are. What does not fit is forgotten: that costs order, not truth.
 */
static void emit_orders(struct emitter *emitter, const struct execution *execution) {
    const uint64_t *events = execution->events;
    for (size_t i = 0; i + 1 < execution->count; i++) {
        const uint64_t payload = event_payload(events[i]);
        if (event_kind(events[i]) != EVENT_MARK || event_mark_kind(events[i]) != MARK_WRITER ||
            payload >> 45 >= execution->emitted || emitter->order_count == TRACE_BATCH_ORDERS)
            continue;
        struct trace_order *order = &emitter->orders[emitter->order_count];
        *order = (struct trace_order){.reader = emitter->insn_count + (payload >> 45),
                                      .writer = (uint32_t)(payload & WRITER_THREAD),
                                      .written = event_payload(events[i + 1])};
        if (!emitter->order_count || order[-1].reader <= order->reader)
            emitter->order_count++;
    }
}

/* Sorted. More than there is room for are of no program that runs. */
static void emit_python(struct emitter *emitter, const struct execution *execution) {
    const uint64_t *events = execution->events;
    for (size_t i = 0; i < execution->count; i++) {
        const unsigned kind = event_mark_kind(events[i]);
        if (event_kind(events[i]) != EVENT_MARK ||
            (kind != MARK_PYTHON && kind != MARK_PYTHON_FRAME))
            continue;
        const struct python_mark mark = python_mark_of(event_payload(events[i]));
        struct trace_python *python = &emitter->python[emitter->python_count];
        if (mark.index >= execution->emitted || emitter->python_count == TRACE_BATCH_PYTHON)
            continue;
        *python = (struct trace_python){.position = emitter->insn_count + mark.index + 1,
                                        .function = mark.function,
                                        .line = mark.line,
                                        .depth = (uint16_t)mark.depth,
                                        .begins = mark.begins,
                                        .innermost = kind == MARK_PYTHON};
        if (!emitter->python_count || python[-1].position <= python->position)
            emitter->python_count++;
    }
}

static struct trace_memory memory_event_of(const uint64_t *events, uint64_t position) {
    const uint64_t what = event_payload(events[0]), extent = event_payload(events[1]);
    struct trace_memory event = {.position = position,
                                 .address = event_address(events[0]),
                                 .size = extent,
                                 .image = UINT32_MAX,
                                 .kind = (uint32_t)(what >> 48)};
    if (event.kind == MEMORY_MAPPED) {
        event.size = extent >> EXTENT_IMAGE_BITS << EXTENT_PAGE_BITS;
        event.image = (uint32_t)(extent & ((1u << EXTENT_IMAGE_BITS) - 1)) - 1;
    }
    return event;
}

static uint32_t count_memory(const uint64_t *events, size_t count) {
    return sum_over(uint32_t, i, count,
                    event_kind(events[i]) == EVENT_MARK &&
                        event_mark_kind(events[i]) == MARK_MEMORY);
}

/* What one block cannot have is forgotten. */
static void emit_memory(struct emitter *emitter, const uint64_t *events, size_t count) {
    for (size_t i = 0; i + 1 < count && emitter->memory_count < TRACE_BATCH_MEMORY; i++)
        if (event_kind(events[i]) == EVENT_MARK && event_mark_kind(events[i]) == MARK_MEMORY)
            emitter->memory[emitter->memory_count++] =
                memory_event_of(events + i, emitter->insn_count);
}

enum emit emit_block(struct emitter *emitter, struct code_block *block, const uint64_t *events,
                     size_t count, const struct code_block *next, struct error *error) {
    struct code_table *table = emitter->table;
    struct marks marks;
    if (emitter->insn_count + block->insn_count > TRACE_BATCH_INSNS)
        return EMIT_FULL;
    if (!marks_read(block, events, count, &marks, error))
        return EMIT_ERROR;
    if (marks.python > TRACE_BATCH_PYTHON - emitter->python_count && emitter->insn_count)
        return EMIT_FULL;
    if (marks.memory && emitter->insn_count &&
        count_memory(events, count) > TRACE_BATCH_MEMORY - emitter->memory_count)
        return EMIT_FULL;
    struct execution execution = {.block = block,
                                  .events = events,
                                  .count = count,
                                  .foreign = foreign_events(table, block, events, count),
                                  .base = emitter->first_access + emitter->access_count};
    marks.framed = execution.foreign.signal;
    struct outcome outcome = outcome_judge(table, emitter->addresses, block, events,
                                           execution.foreign.begin, &marks, next);
    const uint32_t emitted = execution.emitted = outcome.executed + outcome.fault;

    struct dynamic_insn *insns = emitter->insns + emitter->insn_count;
    const struct dynamic_insn *template = table->templates + block->template;
    for (uint32_t i = 0; i < emitted; i++)
        insns[i] = (struct dynamic_insn){.insn = template[i].insn, .flags = template[i].flags};

    struct dynamic_insn *last = insns + emitted - 1;
    bool clock = marks.vdso && emitted && table->code.insns[last->insn].flags & INSN_SYSCALL;
    if (clock && (last->insn = code_table_clock_call(table, last->insn)) == CODE_NONE)
        return error_set(error, "out of memory for the code"), EMIT_ERROR;
    bool plain = !marks.rep && !marks.orders && !marks.python && !marks.memory && !marks.syscall &&
                 !marks.returned && !marks.handler && !marks.gap && !marks.framed &&
                 marks.executed == CODE_NONE && emitted == block->insn_count;
    bool learn = plain && count <= 8 * (size_t)block->insn_count + 8 &&
                 code_table_reserve_pattern(table, block, (uint32_t)count);
    struct memory_access *first = emitter->accesses + emitter->access_count;
    struct joiner joiner = {.first = first,
                            .end = first,
                            .limit = emitter->accesses + TRACE_BATCH_ACCESSES,
                            .index = CODE_NONE};
    block->patterned &= !learn;
    enum emit emit = fill_accesses(emitter, &execution,
                                   learn ? table->patterns + block->pattern : NULL, &joiner, error);
    if (emit != EMIT_DONE)
        return emit;
    uint32_t accesses = (uint32_t)(joiner.end - joiner.first);
    if (learn)
        learn_template(table, block, &execution, insns, accesses);
    if (marks.orders)
        emit_orders(emitter, &execution);
    if (marks.python)
        emit_python(emitter, &execution);
    emitter->insn_count += emitted;
    emitter->access_count += accesses;
    if (marks.memory && emitter->insn_count)
        emit_memory(emitter, events, count);
    emitter->faulted |= outcome.fault;
    emitter->entered_kernel = marks.syscall;
    emitter->cut = marks.executed < block->insn_count ? block->insn_count - marks.executed : 0;
    if (emitter->insn_count > 0)
        emitter->insns[emitter->insn_count - 1].flags |= outcome.last_flags;
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

/* Up to the end of a group, as most blocks are no longer than one. */
static inline void copy_template(struct dynamic_insn *insns, const struct dynamic_insn *template,
                                 uint32_t count, uint32_t first_access) {
    typedef uint32_t lanes __attribute__((vector_size(16), aligned(4), may_alias));
    const lanes add = {0, first_access, 0, 0};
    const lanes *from = (const lanes *)template;
    lanes *to = (lanes *)insns, *end = to + count;
    do {
        for (uint32_t i = 0; i < TEMPLATE_GROUP; i++)
            to[i] = from[i] + add;
        from += TEMPLATE_GROUP;
        to += TEMPLATE_GROUP;
    } while (to < end);
}

uint32_t emit_plain(struct emitter *emitter, const struct process_blocks *process,
                    const uint64_t *events, uint32_t event_count, uint32_t at, uint64_t *entered) {
    struct code_table *table = emitter->table;
    const uint32_t *numbers = process->blocks;
    uint32_t block_count = process->count;
    uint32_t insn_count = emitter->insn_count, access_count = emitter->access_count;
    uint32_t base = emitter->first_access;
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
                           emitter->accesses + access_count))
            break;
        uint16_t flags;
        if (next_number == block->successor[0])
            flags = block->successor_flags[0];
        else if (next_number == block->successor[1])
            flags = block->successor_flags[1];
        else if (!block_reaches(table, block, next, &flags))
            break;
        copy_template(emitter->insns + insn_count, table->templates + block->template,
                      block->insn_count, base + access_count);
        insn_count += block->insn_count;
        access_count += block->access_count;
        *entered += block->insn_count;
        emitter->insns[insn_count - 1].flags |= flags;
        at = after;
        block = next;
    }
    emitter->insn_count = insn_count;
    emitter->access_count = access_count;
    return at;
}
