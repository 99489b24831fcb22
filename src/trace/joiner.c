/* An access grows as long as the pieces follow each other within the size of its operand. Pieces
 * that leave gaps (masked lanes) stay apart but keep the operand. */
#include "trace/joiner.h"

#include "trace/event.h"

void joiner_start_insn(struct joiner *joiner, uint32_t index,
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
    return JOINER_UNMATCHED;
}

enum join joiner_add(struct joiner *joiner, uint64_t event) {
    bool store = event_kind(event) == EVENT_STORE;
    uint32_t size = 1u << event_log2_size(event);
    uint64_t address = event_address(event);
    struct memory_access *last = joiner->end - 1;
    bool open = joiner->open && last->is_store == store;
    if (open && address == last->address + last->size_bytes &&
        (joiner->size ? address + size - joiner->base <= joiner->size
                      : last->size_bytes < JOINER_PIECE_BYTES)) {
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
        joiner->open = operand != JOINER_UNMATCHED && !joiner->operands->gather && !joiner->rep;
        joiner->base = address;
        joiner->size = operand == JOINER_UNMATCHED ? 0 : joiner->operands->size_bytes[operand];
    }
    return JOIN_NEW;
}

bool joiner_span(struct joiner *joiner, uint64_t payload) {
    struct memory_access access = *--joiner->end;
    uint64_t left = payload & ((UINT64_C(1) << 55) - 1);
    access.descending = payload >> 55 & 1;
    if (left / JOINER_PIECE_BYTES >= (uint64_t)(joiner->limit - joiner->end))
        return false;
    while (left) {
        access.size_bytes = left < JOINER_PIECE_BYTES ? (uint32_t)left : JOINER_PIECE_BYTES;
        *joiner->end++ = access;
        access.address += access.size_bytes;
        left -= access.size_bytes;
    }
    return true;
}
