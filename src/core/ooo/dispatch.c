/* Rename and dispatch, in order: a µop enters the reorder buffer, its issue queue and the
 * load/store queue when all have room, and hangs itself on the producers that have not completed.
 */
#include "core/ooo/ooo.h"

static enum dispatch_block blocked(struct core *core, const struct uop_state *uop) {
    const struct machine_core *machine = &core->machine;
    uint32_t flags = uop->flags;
    if (core->tail - core->head >= machine->rob)
        return DISPATCH_ROB;
    if (core->serial_hold > core->head || (flags & U_SERIAL && core->tail != core->head) ||
        (flags & U_LOAD && core->load_hold > core->head))
        return DISPATCH_SERIALISING;
    if (uop->queue_index != NO_QUEUE &&
        core->queue_used[uop->queue_index] >= core->queues[uop->queue_index].entries)
        return DISPATCH_QUEUE;
    if ((flags & U_INT_REGISTER && core->int_used >= core->int_available) ||
        (flags & U_FP_REGISTER && core->fp_used >= core->fp_available))
        return DISPATCH_REGISTERS;
    if (flags & U_BRANCH && machine->outstanding_branches &&
        core->branches_used >= machine->outstanding_branches)
        return DISPATCH_REGISTERS;
    if (flags & U_LOAD && core->loads_used >= machine->load_queue)
        return DISPATCH_LOAD_QUEUE;
    if (flags & U_STORE && core->store_tail - core->store_head >= machine->store_queue)
        return DISPATCH_STORE_QUEUE;
    return DISPATCH_FREE;
}

/* Hangs source `which` of the µop on the last writer of `reg` unless that has completed; returns
 * the cycle from which the operand is there, as far as known. */
static uint64_t read_register(struct core *core, struct uop_state *uop, uint32_t which, uint8_t reg,
                              bool *known) {
    uint64_t writer = core->rename[reg];
    *known = true;
    if (writer <= core->head) /* none, or committed */
        return 0;
    struct uop_state *producer = uop_at(core, writer - 1);
    struct life *life = life_of(core, uop);
    if (life)
        life->producer[which] = writer - 1;
    if (producer->complete != UNKNOWN)
        return producer->when;
    uop->link[which] = producer->consumers;
    producer->consumers = slot_of(core, uop) * 8 + which;
    *known = false;
    return 0;
}

static void rename(struct core *core, struct uop_state *uop) {
    if (uop->flags & U_MOVE) { /* the destination is another name for the source */
        core->rename[uop->destination[0]] = core->rename[uop->source[0]];
        return;
    }
    bool known;
    for (uint32_t i = 0; i < uop->source_count; i++) {
        uint64_t ready = read_register(core, uop, i, uop->source[i], &known);
        if (ready > uop->when)
            uop->when = ready;
        uop->pending += !known;
    }
    if (uop->flags & U_STORE) {
        uop->data_ready = 0;
        if (uop->source[LINK_DATA] != REG_NONE) {
            uop->data_ready = read_register(core, uop, LINK_DATA, uop->source[LINK_DATA], &known);
            if (!known)
                uop->data_ready = UNKNOWN;
        }
    }
    for (uint32_t i = 0; i < uop->destination_count; i++)
        core->rename[uop->destination[i]] = core->tail + 1;
}

static void dispatch(struct core *core, struct uop_state *uop) {
    uint32_t flags = uop->flags;
    if (core->tail == core->head)
        core->entered_empty = core->cycle;
    uop->when = core->cycle + core->machine.dispatch_to_issue;
    rename(core, uop);
    core->int_used += (flags & U_INT_REGISTER) != 0;
    core->fp_used += (flags & U_FP_REGISTER) != 0;
    core->branches_used += (flags & U_BRANCH) != 0;
    if (flags & U_STORE)
        store_enter(core, uop, core->tail);
    if (flags & U_LOAD) {
        core->loads_used++;
        load_enter(core, uop);
    }
    if (flags & U_WAIT_HEAD)
        uop->pending++;
    core->tail++;
    if (flags & U_SERIAL_END)
        core->serial_hold = core->tail;
    if (flags & U_HOLD_LOADS)
        core->load_hold = core->tail;
    if (flags & U_ELIMINATED && !(flags & U_WAIT_HEAD)) {
        finish(core, uop, core->cycle, core->cycle);
        return;
    }
    if (uop->queue_index != NO_QUEUE)
        core->queue_used[uop->queue_index]++;
    if (uop->pending == 0)
        schedule(core, uop, uop->when);
}

void dispatch_stage(struct core *core) {
    uint64_t first = core->tail;
    while (core->tail < core->next && core->tail - first < core->machine.dispatch_width) {
        struct uop_state *uop = uop_at(core, core->tail);
        if (uop->fetched + core->machine.frontend_depth > core->cycle)
            break;
        enum dispatch_block block = blocked(core, uop);
        struct life *life = life_of(core, uop);
        if (block != DISPATCH_FREE) {
            if (block == DISPATCH_STORE_QUEUE && core->tail == core->head)
                uop->psv |= PSV_DR_SQ;
            if (life)
                life->dispatch_block = (uint8_t)block;
            break;
        }
        if (life)
            life->dispatch = core->cycle;
        dispatch(core, uop);
    }
    uint32_t dispatched = (uint32_t)(core->tail - first);
    if (dispatched == 0)
        return;
    core->progress = true;
    if (core->tap_kinds & 1 << TAP_DISPATCH)
        tap_emit(core, TAP_DISPATCH, 0, first, dispatched, 0);
}
