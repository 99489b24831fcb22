/* Instructions with a rep prefix. QEMU runs each element as a block of its own; here the elements
 * of one execution become one MARK_REP, with the span that each operand went over. */
#include "trace/qemu/plugin_thread.h"

#include <errno.h>

void rep_close(void) {
    struct rep *rep = &self.rep;
    rep->open = false;
    if (self.cut && rep->index >= self.cut)
        return;
    /* An element that faulted half way counts only in its first operands. */
    uint64_t elements = rep->slots ? rep->operands[rep->slots - 1].count : 0;
    thread_put(event_mark(MARK_REP, (uint64_t)rep->index << 45 |
                                        (elements < 1ULL << 45 ? elements : (1ULL << 45) - 1)));
    if (!elements || !plugin.addresses)
        return;
    for (uint32_t i = 0; i < rep->slots; i++) {
        const struct rep_operand *operand = &rep->operands[i];
        uint64_t bytes = operand->high - operand->low + (1ULL << operand->log2_size);
        thread_put(event_access(operand->is_store, operand->log2_size, rep->index, operand->low));
        thread_put(
            event_mark(MARK_SPAN, (uint64_t)operand->descending << 55 | (bytes & ~(1ULL << 55))));
    }
}

/* Accesses that the instruction does not make are the emulator's (trace/frame.h). */
void thread_rep_access(uint64_t event) {
    enum { ADDRESS_BITS = 48, INDEX_BITS = 11 };
    struct rep *rep = &self.rep;
    uint64_t address = event_address(event);
    if (!rep->open || rep->slot >= rep->block->operand_count ||
        (event ^ rep->block->operands[rep->slot]) >> (ADDRESS_BITS + INDEX_BITS))
        return;
    struct rep_operand *operand = &rep->operands[rep->slot++];
    if (rep->slot > rep->slots) {
        rep->slots = rep->slot;
        *operand = (struct rep_operand){
            address, address, address, 0, event_log2_size(event), event_kind(event) == EVENT_STORE,
            false};
    }
    operand->count++;
    if (address < operand->low)
        operand->low = address;
    if (address > operand->high)
        operand->high = address;
    operand->descending = address < operand->first;
}

void thread_rep_block(unsigned vcpu, const struct rep_block *block) {
    struct rep *rep = &self.rep;
    self.rep_continues =
        block->insn_count == 1 &&
        (rep->open ? rep->block->address == block->address : rep_runs_skipped(block->address));
    if (self.rep_continues) {
        rep->slot = 0; /* the next element of the same instruction, captured or not */
        return;
    }
    int saved = errno;
    if (thread_begin_block(vcpu, block->block, block->insn_count)) {
        rep->open = true;
        rep->block = block;
        rep->index = block->insn_count - 1;
        rep->slot = rep->slots = 0;
        thread_set_end();
    } else {
        rep_skipped(&self, block->address);
    }
    errno = saved;
}

bool thread_rep_continues(void) {
    return self.rep_continues;
}
