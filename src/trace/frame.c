/* A frame is known by its first stores, which no other instruction makes in this order: control,
 * status and tag word of the x87, then two pointers (Intel SDM vol. 1, table 10-2). An FXSAVE or
 * XSAVE of the block itself begins in the same way; a second one at its place is a frame. */
#include "trace/frame.h"

#include "trace/event.h"
#include "util/array.h"

enum { STATE_ALIGNMENT = 16, STATE_MIN_BYTES = 160 };

static bool is_access(uint64_t event) {
    return event_kind(event) == EVENT_LOAD || event_kind(event) == EVENT_STORE;
}

static bool is_state_saved(const uint64_t *events, size_t count) {
    static const struct {
        uint64_t offset;
        unsigned log2_size;
    } FIRST[] = {{0, 1}, {2, 1}, {4, 1}, {8, 3}, {16, 3}};
    const size_t length = sizeof FIRST / sizeof *FIRST;
    uint64_t base = event_address(events[0]);
    if (count < length || base % STATE_ALIGNMENT)
        return false;
    return !any_where(i, length,
                      event_kind(events[i]) != EVENT_STORE ||
                          event_index(events[i]) != event_index(events[0]) ||
                          event_log2_size(events[i]) != FIRST[i].log2_size ||
                          event_address(events[i]) != base + FIRST[i].offset);
}

/* The instruction may store all that state itself. Zydis does not tell the size that XSAVE has. */
static bool saves_state(const struct code_table *table, const struct code_block *block,
                        uint32_t index) {
    if (index >= block->insn_count)
        return false;
    const struct insn_operands *operands =
        &table->operands[table->templates[block->template + index].insn];
    return any_where(i, operands->count,
                     (operands->directions[i] & OPERAND_STORE) &&
                         (!operands->size_bytes[i] || operands->size_bytes[i] >= STATE_MIN_BYTES));
}

static size_t end_of_accesses(const uint64_t *events, size_t count, size_t at) {
    while (at < count && is_access(events[at]))
        at++;
    return at;
}

struct foreign_events foreign_events(const struct code_table *table, const struct code_block *block,
                                     const uint64_t *events, size_t count) {
    uint32_t saved = CODE_NONE; /* the instruction of the block that saved state */
    for (size_t i = 0; i < count; i++) {
        if (event_kind(events[i]) == EVENT_MARK && event_mark_kind(events[i]) == MARK_SYSCALL)
            return (struct foreign_events){i + 1, count, false};
        if (!is_access(events[i]) || !is_state_saved(events + i, count - i))
            continue;
        uint32_t index = event_index(events[i]);
        if (saved != index && saves_state(table, block, index))
            saved = index;
        else
            return (struct foreign_events){i, end_of_accesses(events, count, i), true};
    }
    return (struct foreign_events){count, count, false};
}
