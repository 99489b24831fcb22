/* The work that threads have done: instructions but for those that only wait (work_code.h,
 * spin_watch.h). */
#pragma once

#include "simulate/spin_watch.h"
#include "simulate/work_code.h"

struct work_thread {
    uint32_t branch; /* plus one: its last instruction, if that was a branch that was taken; or 0 */
    struct spin_watch spin;
};

struct work_meter {
    const struct code *code;
    const uint8_t *flags;        /* by static instruction (work_code()); the caller's */
    struct work_thread *threads; /* by number */
    uint64_t work;               /* of all so far */
};

/* False: out of memory. */
bool work_meter_init(struct work_meter *meter, const struct code *code, const uint8_t *flags,
                     uint32_t threads);
void work_meter_free(struct work_meter *meter);

/* What an instruction is to the thread that executes it. */
struct work_step {
    uint32_t waited; /* so many instructions of the thread before it only waited, after all */
    bool head;       /* of a loop, to which a branch has just led back; waiting loops have none */
    bool works;
};

/* A branch led back to the instruction. */
struct work_step work_meter_close(struct work_meter *meter, struct work_thread *thread,
                                  const struct dynamic_insn *head);

/* The next instruction of a thread, of this batch. */
static inline struct work_step work_meter_see(struct work_meter *meter, struct work_thread *thread,
                                              const struct trace_batch *batch,
                                              const struct dynamic_insn *insn) {
    const uint8_t flags = meter->flags[insn->insn];
    const struct static_insn *code = meter->code->insns;
    struct work_step step = {0};
    if (thread->branch) {
        if (code[insn->insn].address <= code[thread->branch - 1].address)
            step = work_meter_close(meter, thread, insn);
        thread->branch = 0;
    }
    thread->spin.insns++;
    thread->spin.pauses |= (flags & WORK_PAUSE) != 0;
    if (insn->memory_count && thread->spin.insns <= SPIN_LONGEST)
        spin_watch_access(&thread->spin,
                          batch->accesses + (insn->memory - (uint32_t)batch->first_access),
                          insn->memory_count, flags & WORK_ATOMIC);
    if (flags & WORK_BRANCH && insn->flags & DYN_TAKEN)
        thread->branch = insn->insn + 1;
    step.works = !(flags & WORK_NONE);
    meter->work += step.works;
    return step;
}

/* Plain instructions of this batch from `first` on, `most` of them: work, and no branches. How many
 * there are. A branch that led back, to the first of them, has been seen. */
static inline uint32_t work_meter_plain(struct work_meter *meter, struct work_thread *thread,
                                        const struct trace_batch *batch, uint32_t first,
                                        uint64_t most) {
    const uint32_t left = batch->insn_count - first;
    const uint32_t end = most < left ? first + (uint32_t)most : batch->insn_count;
    uint32_t i = first, insns = thread->spin.insns;
    for (; i < end && !(meter->flags[batch->insns[i].insn] & ~WORK_FOREIGN); i++) {
        const struct dynamic_insn *insn = &batch->insns[i];
        if (++insns <= SPIN_LONGEST)
            spin_watch_access(&thread->spin,
                              batch->accesses + (insn->memory - (uint32_t)batch->first_access),
                              insn->memory_count, false);
    }
    thread->spin.insns = insns;
    meter->work += i - first;
    return i - first;
}

/* The next instructions of a thread. */
void work_meter_piece(struct work_meter *meter, const struct trace_batch *piece);
