/* The capture tells which blocks were entered, not how far each got. That follows from the next
 * block, from marks, and, when control was taken away, from which memory accesses are missing. */
#include "trace/outcome.h"

#include <inttypes.h>

#include "trace/event.h"

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

/* Control came to the block other than by falling through. */
static void mark_reached(struct code_table *table, const struct code_block *block) {
    table->code.insns[table->templates[block->template].insn].reached = 1;
}

static bool remember_successor(struct code_block *block, const struct code_table *table,
                               const struct code_block *next, uint16_t flags) {
    block->successor[1] = block->successor[0];
    block->successor_flags[1] = block->successor_flags[0];
    block->successor[0] = (uint32_t)(next - table->blocks);
    block->successor_flags[0] = flags;
    return true;
}

bool block_reaches(struct code_table *table, struct code_block *block,
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
    case BRANCH_RETURN: /* into the block it ends: it was cut short there, unless it runs again, as
                         * what follows the call does where a recursion returns */
        if (next != block && insn_at(table, block, next->address) != CODE_NONE)
            return false;
        break;
    }
    *flags = taken ? DYN_TAKEN : 0;
    if (taken)
        mark_reached(table, next);
    return remember_successor(block, table, next, *flags);
}

/* A successor without any mark between. */
static struct outcome outcome_of(struct code_table *table, struct code_block *block,
                                 const struct code_block *next, bool syscall) {
    struct outcome outcome = {.executed = block->insn_count};
    if (block_reaches(table, block, next, &outcome.last_flags))
        return outcome;
    uint32_t cut = syscall ? CODE_NONE : insn_at(table, block, next->address);
    if (cut != CODE_NONE)
        outcome.executed = cut;
    else
        outcome.last_flags = DYN_SIGNAL | (always_taken(block) ? DYN_TAKEN : 0);
    return outcome;
}

static bool is_order(const struct code_block *block, const uint64_t *events, size_t count) {
    const uint64_t payload = event_payload(events[0]);
    return payload >> 45 < block->insn_count && (payload & WRITER_THREAD) < UINT32_MAX &&
           count > 1 && event_kind(events[1]) == EVENT_MARK &&
           event_mark_kind(events[1]) == MARK_WRITTEN;
}

static bool is_memory(const uint64_t *events, size_t count) {
    const uint64_t kind = event_payload(events[0]) >> 48;
    return kind > 0 && kind < TRACE_MEMORY_KINDS && count > 1 &&
           event_kind(events[1]) == EVENT_MARK && event_mark_kind(events[1]) == MARK_EXTENT;
}

bool marks_read(const struct code_block *block, const uint64_t *events, size_t count,
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
            if (event_payload(events[i]) > block->insn_count)
                return error_set(error, "%" PRIu64 " of %" PRIu32 " instructions executed",
                                 event_payload(events[i]), block->insn_count);
            marks->executed = (uint32_t)event_payload(events[i]);
            break;
        case MARK_SYSCALL:
            marks->syscall = true;
            marks->vdso = event_payload(events[i]) & SYSCALL_OF_VDSO;
            break;
        case MARK_SIGNAL:
            marks->returned |= !event_payload(events[i]);
            marks->handler |= event_payload(events[i]) & (HANDLER_OF_OTHERS | HANDLER_OF_FAULTS);
            break;
        case MARK_GAP:
            marks->gap = true;
            break;
        case MARK_WRITER:
            if (!is_order(block, events + i, count - i))
                return error_set(error, "a writer of memory is malformed");
            marks->orders = true;
            break;
        case MARK_MEMORY:
            if (!is_memory(events + i, count - i))
                return error_set(error, "an event of memory is malformed");
            marks->memory = true;
            break;
        case MARK_WRITTEN:
        case MARK_EXTENT:
            break;
        case MARK_PYTHON:
        case MARK_PYTHON_FRAME:
            if (python_mark_of(event_payload(events[i])).index >= block->insn_count)
                return error_set(error, "a place of Python is malformed");
            marks->python++;
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
    bool conditional = operands->gather || (insn->flags & (INSN_REP | INSN_NOP)) ||
                       (isa == ISA_X86_64 && (insn->flags & INSN_PREFETCH)) ||
                       (isa == ISA_RISCV64 && (insn->flags & INSN_ATOMIC));
    for (int i = 0; i < operands->count && !conditional; i++)
        directions |= operands->directions[i];
    return directions;
}

/* Control was taken away somewhere in this block. The first instruction whose memory access is
 * missing, or that can raise an exception after the last access, did not complete; if there is
 * none, all did, and the signal came from outside. A division is not suspected when the handler
 * also takes signals that come from outside, which are the more frequent ones. */
static uint32_t stopped_at(const struct code_table *table, bool addresses,
                           const struct code_block *block, const uint64_t *events, size_t count,
                           enum event_handler handler) {
    const struct code *code = &table->code;
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
        uint32_t number = table->templates[block->template + i].insn;
        const struct static_insn *insn = &code->insns[number];
        unsigned certain = certain_directions(insn, &table->operands[number], code->isa);
        if (addresses && (certain & ~seen))
            return i;
        bool divides = insn->operation == OP_INT_DIV && code->isa == ISA_X86_64 &&
                       !(handler & HANDLER_OF_OTHERS);
        if (divides || (insn->flags & INSN_TRAP))
            return i;
    }
    return block->insn_count;
}

/* The block called, or fell into, the function that is also a handler. */
static bool leads_to(const struct code_block *block, const struct code_block *next) {
    return (block->target && block->target == next->address) ||
           (!always_taken(block) && block->end == next->address);
}

/* Between the block and the next, control went to a handler or came from one. */
static bool is_signal(const struct code_block *block, const struct marks *marks,
                      const struct code_block *next) {
    bool cut = marks->executed < block->insn_count;
    bool handled = marks->handler && (cut || !(next && leads_to(block, next)));
    return marks->returned || marks->framed || handled;
}

/* How many instructions completed of a block after which control was taken away, or nothing
 * follows. A rep that a signal from outside interrupts counts for the elements it did; the rest is
 * an instruction of its own, after the handler. */
static uint32_t completed(const struct code_table *table, bool addresses,
                          const struct code_block *block, const uint64_t *events, size_t count,
                          const struct marks *marks, bool signal) {
    if (marks->syscall || marks->gap || marks->handler == HANDLER_OF_OTHERS)
        return block->insn_count;
    if (signal && marks->rep && marks->handler == HANDLER_OF_FAULTS)
        return block->insn_count - 1;
    return stopped_at(table, addresses, block, events, count, marks->handler);
}

struct outcome outcome_judge(struct code_table *table, bool addresses, struct code_block *block,
                             const uint64_t *events, size_t count, const struct marks *marks,
                             const struct code_block *next) {
    struct outcome outcome = {.executed = block->insn_count,
                              .last_flags = always_taken(block) ? DYN_TAKEN : 0};
    bool signal = is_signal(block, marks, next);
    if (marks->executed < block->insn_count) {
        outcome.executed = marks->executed;
        outcome.last_flags = 0;
        outcome.fault = signal;
        if (next && !signal && !marks->gap)
            signal = insn_at(table, block, next->address) != marks->executed;
    } else {
        if (next && !signal && !marks->gap) {
            outcome = outcome_of(table, block, next, marks->syscall);
            signal = outcome.last_flags & DYN_SIGNAL;
        }
        if ((signal || !next) && marks->executed == CODE_NONE) {
            uint32_t stop = completed(table, addresses, block, events, count, marks, signal);
            if (stop < block->insn_count)
                outcome = (struct outcome){.executed = stop, .fault = signal};
        }
    }
    if (signal && next)
        mark_reached(table, next);
    outcome.last_flags |= (signal ? DYN_SIGNAL : 0) | (outcome.fault ? DYN_FAULT : 0);
    outcome.last_flags |= (marks->syscall ? DYN_SYSCALL : 0) | (marks->gap ? DYN_GAP : 0);
    return outcome;
}
