/* The machine that is simulated: the description with its idealisations applied. */
#include "core/ooo/ooo.h"

#include <string.h>

enum { UNLIMITED = 255, WINDOW_TIMES = 20 };
#define QUEUE_FULL UINT64_C(0x8000) /* a full queue's occupancy; no queue is larger */

static void widen_window(struct ooo *core) {
    struct machine_core *machine = &core->machine;
    machine->rob = (uint32_t)lesser(machine->rob * WINDOW_TIMES, ORDER_MAX);
    machine->load_queue *= WINDOW_TIMES;
    machine->store_queue = (uint32_t)lesser(machine->store_queue * WINDOW_TIMES, ORDER_MAX);
    machine->int_registers *= WINDOW_TIMES;
    machine->fp_registers *= WINDOW_TIMES;
    machine->outstanding_branches *= WINDOW_TIMES;
    machine->fetch_target_queue *= WINDOW_TIMES;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queues[queue].entries *= WINDOW_TIMES;
}

static void free_bandwidth(struct ooo *core) {
    struct machine_core *machine = &core->machine;
    machine->fetch_width = machine->dispatch_width = machine->commit_width = UNLIMITED;
    machine->store_drain = UNLIMITED;
    machine->taken_branches = UNLIMITED + 1;
    core->taken_bubble = 0;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->queues[queue].issue = UINT32_MAX;
    for (uint32_t pool = 0; pool < core->pool_count; pool++)
        core->pools[pool].units = UINT32_MAX;
    for (unsigned operation = 0; operation < OP_COUNT; operation++)
        core->classes[operation].interval = 1;
}

static void shorten_operations(struct ooo *core, bool one_cycle) {
    for (unsigned operation = 0; operation < OP_COUNT; operation++) {
        struct machine_class *class = &core->classes[operation];
        if (operation == OP_LOAD || operation == OP_STORE || operation == OP_SYSTEM ||
            operation == OP_CLOCK || operation == OP_NOP)
            continue;
        bool integer = operation == OP_INT_ALU || operation == OP_BRANCH;
        if (one_cycle == (integer && class->latency <= 1))
            class->latency = 0;
    }
}

static struct unit unit_for(const struct ooo *core, const struct machine_class *class) {
    const uint32_t latency = class->latency, least = core->machine.issue_wakeup;
    const struct machine_pool *pool = &core->pools[class->pool];
    return (struct unit){.latency = latency,
                         .wake = latency && latency < least ? least : latency,
                         .interval = class->interval ? class->interval : 1,
                         .queue = (uint8_t)pool->queue,
                         .pool = (uint8_t) class->pool,
                         .queue_issues = low16(core->queues[pool->queue].issue),
                         .pool_units = low16(pool->units),
                         .place = UINT64_C(1) << 16 * pool->queue,
                         .full = QUEUE_FULL << 16 * pool->queue};
}

void configure(struct ooo *core, const struct machine *machine) {
    core->machine = machine->core;
    core->queue_count = machine->queue_count;
    core->pool_count = machine->pool_count;
    memcpy(core->queues, machine->queues, sizeof core->queues);
    memcpy(core->pools, machine->pools, sizeof core->pools);
    memcpy(core->classes, machine->classes, sizeof core->classes);
    core->l1i_latency = machine->l1i.present ? machine->l1i.latency : 1;
    core->l1d_latency = machine->l1d.latency;
    core->fetch_line_shift = (uint32_t)__builtin_ctz(machine->l1i.present ? machine->l1i.line : 64);
    core->fetch_line_mask = ~UINT64_C(0) << core->fetch_line_shift;
    core->fetch_block_mask = machine->core.fetch_bytes && !(core->ideal & IDEAL_BW)
                                 ? -(uint64_t)machine->core.fetch_bytes
                                 : UINT64_C(1) << 63; /* two blocks */
    core->btb_miss_penalty = machine->branch.btb_miss_penalty;
    core->taken_bubble = machine->branch.taken_bubble;
    if (core->ideal & IDEAL_WIN)
        widen_window(core);
    if (core->ideal & IDEAL_BW)
        free_bandwidth(core);
    if (core->ideal & IDEAL_SHALU)
        shorten_operations(core, true);
    if (core->ideal & IDEAL_LGALU)
        shorten_operations(core, false);
    core->load_latency =
        core->classes[OP_LOAD].latency + (core->ideal & IDEAL_DL1 ? 0 : core->l1d_latency);
    core->branches_available = core->machine.outstanding_branches;
    core->limited = core->machine.outstanding_branches ? U_BRANCH_ENTRY : 0;
    core->zero_latencies = core->ideal & (IDEAL_SHALU | IDEAL_LGALU);
    core->packet_limit = core->machine.fetch_target_queue;
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        core->no_occupancy |= (QUEUE_FULL - lesser(core->queues[queue].entries, QUEUE_FULL))
                              << 16 * queue;
    core->occupancy = core->no_occupancy;
    for (unsigned operation = 0; operation < OP_COUNT; operation++)
        core->units[operation] = unit_for(core, &core->classes[operation]);
    /* µops on their way through the front end, and the buffer behind it. */
    core->fetch_capacity = core->machine.fetch_buffer + 2 * INSN_MAX_UOPS +
                           core->machine.frontend_depth * core->machine.dispatch_width;
}
