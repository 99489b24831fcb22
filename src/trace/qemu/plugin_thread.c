/* The current thread: everything that is not just appending to its chunk.
 *
 * `thread_chunk->end` is where the hot callbacks stop appending and come here. It lies before the
 * chunk's true end whenever the next event needs a look: an open rep, a block cut by the limit, or
 * an instruction budget that the next events could exceed (each event stands for at most
 * RING_MAX_BLOCK_INSNS instructions, so `budget left / RING_MAX_BLOCK_INSNS` events are safe).
 * Thus an exact limit costs the hot path nothing. Budgets are in plugin_chunk.c. */
#include "trace/qemu/plugin_thread.h"

#include <errno.h>

void thread_set_end(void) {
    struct ring_chunk *chunk = thread_chunk;
    uint64_t *cursor = chunk_cursor(chunk);
    size_t room = cursor < self.full ? (size_t)(self.full - cursor) : 0;
    if (self.rep.open || self.cut) {
        room = 0;
    } else if (plugin.control->limited) {
        uint64_t insns = atomic_load_explicit(&chunk->insns, memory_order_relaxed);
        uint64_t safe = (chunk->allotted - insns) / RING_MAX_BLOCK_INSNS;
        if (safe < room)
            room = safe;
    }
    chunk->end = cursor + room;
}

void thread_close_block(void) {
    if (self.rep.open)
        rep_close();
    if (self.cut)
        thread_put(event_mark(MARK_EXECUTED, self.cut));
}

bool thread_settle(unsigned vcpu) {
    const struct ring_control *control = plugin.control;
    if (self.state == NEW) {
        thread_keep();
        self.state = thread_is_wanted(vcpu) ? CAPTURED : DROPPED;
        if (self.state == CAPTURED && !self.numbered)
            thread_give_number(vcpu);
    }
    if (self.state == CAPTURED && atomic_load(&control->phase) == RING_DONE) {
        if (self.held)
            thread_close_block();
        chunk_hand_over(true);
        self.state = DROPPED;
    }
    if (self.state == DROPPED) {
        plugin_follow_phase();
        chunk_drop();
        return false;
    }
    if (atomic_load(&control->phase) != atomic_load(&plugin.phase))
        plugin_follow_phase(); /* captures on until the translations are gone */
    if (self.held)
        thread_close_block();
    if (self.cut)
        chunk_stand_aside();
    else if (self.held && chunk_cursor(thread_chunk) >= self.full) {
        chunk_hand_over(false);
        addresses_chunk_ended(self.insns_before);
    }
    if (!self.held && control->limited && atomic_load(&control->left) <= 0) {
        self.gap = true;
        self.skipped_rep = 0;
        return false;
    }
    if (!self.held && (self.state == DROPPED || !chunk_take())) {
        chunk_drop();
        return false;
    }
    if (self.gap)
        thread_put(event_mark(MARK_GAP, 0));
    self.gap = false;
    return true;
}

bool thread_begin_block(unsigned vcpu, uint32_t block, uint32_t insn_count) {
    if (!thread_settle(vcpu))
        return false;
    uint32_t within = chunk_allows(insn_count);
    if (!within) {
        chunk_stand_aside();
        return false;
    }
    if (within < insn_count)
        self.cut = within;
    thread_put(event_block(block));
    atomic_fetch_add_explicit(&thread_chunk->insns, within, memory_order_relaxed);
    return true;
}

void thread_block(unsigned vcpu, uint32_t block, uint32_t insn_count) {
    int saved = errno;
    if (thread_begin_block(vcpu, block, insn_count))
        thread_set_end();
    errno = saved;
}

void thread_access(uint64_t event) {
    if (self.state == DROPPED)
        chunk_drop();
    if (!self.held || (self.cut && event_index(event) >= self.cut))
        return;
    thread_put(event);
    thread_set_end();
}

void thread_mark(unsigned vcpu, enum event_mark mark, uint64_t payload) {
    if (plugin.counting)
        return;
    pthread_mutex_lock(&thread_ownership);
    if (thread_is_capturing() && thread_settle(vcpu)) {
        thread_put(event_mark(mark, payload));
        thread_set_end();
    }
    pthread_mutex_unlock(&thread_ownership);
}

void thread_mark_pair(unsigned vcpu, uint64_t first, uint64_t second) {
    if (plugin.counting)
        return;
    pthread_mutex_lock(&thread_ownership);
    if (thread_is_capturing() && thread_settle(vcpu) &&
        self.end - chunk_cursor(thread_chunk) >= 2) {
        thread_put(first);
        thread_put(second);
        thread_set_end();
    }
    pthread_mutex_unlock(&thread_ownership);
}

void thread_tell_writer(uint32_t index, uint32_t writer, uint64_t written) {
    if (!self.held || self.cut || self.rep.open || self.end - chunk_cursor(thread_chunk) < 2)
        return;
    thread_put(event_mark(MARK_WRITER, (uint64_t)index << 45 | writer));
    thread_put(event_mark(MARK_WRITTEN, written));
    thread_set_end();
}

bool thread_tell_python(enum event_mark mark, uint64_t payload) {
    if (!self.held || self.cut || self.rep.open || chunk_cursor(thread_chunk) == self.end)
        return false;
    thread_put(event_mark(mark, payload));
    thread_set_end();
    return true;
}

/* The last block was executed up to this instruction. */
static void cut_at_fault(const struct fault *fault) {
    uint32_t counted = self.cut ? self.cut : fault->insn_count;
    if (fault->index >= counted)
        return;
    atomic_fetch_sub_explicit(&thread_chunk->insns, counted - fault->index, memory_order_relaxed);
    self.cut = 0;
    thread_put(event_mark(MARK_EXECUTED, fault->index));
    thread_set_end();
}

void thread_fault(uint64_t pc) {
    struct fault_search search = {.pc = pc};
    struct fault fault;
    if (plugin.counting) {
        count_fault(pc);
        return;
    }
    pthread_mutex_lock(&thread_ownership);
    bool captured = thread_is_capturing(), held = captured && self.held;
    uint32_t number = held ? thread_last_block() : FAULT_UNNUMBERED;
    while ((held || !captured) && fault_next_block(&search, &fault))
        if (fault.number == number) {
            if (held)
                cut_at_fault(&fault);
            else
                self.insns_before -= fault.insn_count - fault.index;
            break;
        }
    pthread_mutex_unlock(&thread_ownership);
}

/* Before a system call, which may block. */
void thread_system_call(unsigned vcpu, uint64_t number) {
    thread_mark(vcpu, MARK_SYSCALL, number);
    pthread_mutex_lock(&thread_ownership);
    if (thread_is_capturing() && self.held && plugin.control->limited) {
        ring_settle_share(plugin.control, thread_chunk);
        thread_chunk->end = chunk_cursor(thread_chunk);
    }
    pthread_mutex_unlock(&thread_ownership);
    if (ring_activity(atomic_load(&plugin.phase)) == RING_SKIP && !plugin.control->slice_size)
        skip_report();
}

void thread_publish(void) {
    if (plugin.counting) {
        count_publish();
        return;
    }
    pthread_mutex_lock(&thread_ownership);
    if (thread_is_capturing() && self.held) {
        thread_close_block();
        chunk_hand_over(false);
        self.between = true;
    }
    pthread_mutex_unlock(&thread_ownership);
}
