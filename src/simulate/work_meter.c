#include "simulate/work_meter.h"

#include <stdlib.h>

bool work_meter_init(struct work_meter *meter, const struct code *code, const uint8_t *flags,
                     uint32_t threads) {
    *meter = (struct work_meter){.code = code,
                                 .flags = flags,
                                 .threads = calloc((size_t)threads + 1, sizeof *meter->threads)};
    return meter->threads;
}

void work_meter_free(struct work_meter *meter) {
    free(meter->threads);
    *meter = (struct work_meter){.work = 0};
}

struct work_step work_meter_close(struct work_meter *meter, struct work_thread *thread,
                                  const struct dynamic_insn *head) {
    struct work_step step = {.waited = spin_watch_close(&thread->spin, thread->branch - 1)};
    step.head = !step.waited && !(meter->flags[head->insn] & (WORK_NONE | WORK_FOREIGN));
    if (step.waited > meter->work)
        step.waited = (uint32_t)meter->work;
    meter->work -= step.waited;
    return step;
}

void work_meter_piece(struct work_meter *meter, const struct trace_batch *piece) {
    struct work_thread *thread = &meter->threads[piece->thread];
    for (uint32_t i = 0; i < piece->insn_count;) {
        if (!thread->branch)
            i += work_meter_plain(meter, thread, piece, i, UINT64_MAX);
        if (i < piece->insn_count)
            work_meter_see(meter, thread, piece, &piece->insns[i++]);
    }
}
