/* Rename and dispatch, in order: a µop enters the reorder buffer, its issue queue and the
 * load/store queue when all have room, and hangs itself on the producers that have not completed.
 */
#include "core/ooo/ooo.h"

/* What keeps the µop at the tail from entering. */
static enum dispatch_block blocked(const struct core *core, const struct uop_state *uop) {
    const struct machine_core *machine = &core->machine;
    uint32_t flags = uop->is.flags, queue = uop->is.queue;
    uint64_t head = core->head;
    if (core->tail - head >= machine->rob)
        return DISPATCH_ROB;
    if (core->serial_hold > head)
        return DISPATCH_SERIALISING;
    if (queue != NO_QUEUE && core->queue_used[queue] >= core->queues[queue].entries)
        return DISPATCH_QUEUE;
    if ((flags & U_INT_REGISTER && core->int_used >= core->int_available) ||
        (flags & U_FP_REGISTER && core->fp_used >= core->fp_available))
        return DISPATCH_REGISTERS;
    if (!(flags & (U_LOAD | U_STORE | U_BRANCH | U_SERIAL)))
        return DISPATCH_FREE;
    if ((flags & U_SERIAL && core->tail != head) || (flags & U_LOAD && core->load_hold > head))
        return DISPATCH_SERIALISING;
    if (flags & U_BRANCH && core->branches_used >= core->branches_available)
        return DISPATCH_BRANCHES;
    if (flags & U_LOAD && core->loads_used >= machine->load_queue)
        return DISPATCH_LOAD_QUEUE;
    if (flags & U_STORE && core->store_tail - core->store_head >= machine->store_queue)
        return DISPATCH_STORE_QUEUE;
    return DISPATCH_FREE;
}

/* Hangs the µop on the last writer of `reg` as its operand `which`, unless that writer's completion
 * is known. Returns the cycle from which the operand is there; UNKNOWN: when the writer says so. */
static inline uint64_t read_register(struct core *core, struct uop_state *uop, uint32_t which,
                                     uint8_t reg) {
    uint64_t writer = core->rename[reg];
    if (writer <= core->head) /* none, or committed */
        return 0;
    struct uop_state *producer = uop_at(core, writer - 1);
    if (core->lives)
        life_of(core, uop)->producer[which] = writer - 1;
    if (producer->complete != UNKNOWN)
        return producer->when;
    uop->link[which] = producer->consumers;
    producer->consumers = slot_of(core, uop) * 8 + which;
    return UNKNOWN;
}

/* Reads the sources and renames the destinations. */
static inline void rename(struct core *core, struct uop_state *uop) {
    const struct prepared_uop *operands = prepared_at(core, uop->static_uop);
    uint64_t when = core->cycle + core->machine.dispatch_to_issue;
    if (uop->is.flags & U_ELIMINATED) {
        if (uop->is.flags & U_MOVE) { /* the destination is another name for the source */
            core->rename[operands->destination[0]] = core->rename[operands->source[0]];
            return;
        }
    } else {
        for (uint32_t i = 0, n = operands->source_count; i < n; i++) {
            uint64_t ready = read_register(core, uop, i, operands->source[i]);
            if (ready == UNKNOWN)
                uop->is.pending++;
            else if (ready > when)
                when = ready;
        }
        if (uop->is.flags & U_STORE)
            uop->data_ready = operands->data == REG_NONE
                                  ? 0
                                  : read_register(core, uop, LINK_DATA, operands->data);
    }
    uop->when = when;
    uint64_t writer = core->tail + 1;
    for (uint32_t i = 0, n = operands->destination_count; i < n; i++)
        core->rename[operands->destination[i]] = writer;
}

static void dispatch(struct core *core, struct uop_state *uop) {
    uint32_t flags = uop->is.flags;
    if (core->tail == core->head)
        core->entered_empty = core->cycle;
    rename(core, uop);
    core->int_used += flags >> U_INT_REGISTER_BIT & 1;
    core->fp_used += flags >> U_FP_REGISTER_BIT & 1;
    if (flags & (U_LOAD | U_STORE | U_BRANCH)) {
        if (flags & U_LOAD) {
            core->loads_used++;
            load_enter(core, uop);
        } else if (flags & U_STORE) {
            store_enter(core, uop, core->tail);
        } else {
            core->branches_used++;
        }
    }
    core->tail++;
    if (flags & (U_WAIT_HEAD | U_SERIAL_END | U_HOLD_LOADS | U_ELIMINATED)) {
        if (flags & U_SERIAL_END)
            core->serial_hold = core->tail;
        if (flags & U_HOLD_LOADS)
            core->load_hold = core->tail;
        if (flags & U_WAIT_HEAD)
            uop->is.pending++;
        else if (flags & U_ELIMINATED)
            finish(core, uop, core->cycle, core->cycle);
        if (flags & U_ELIMINATED)
            return;
    }
    core->queue_used[uop->is.queue]++;
    if (uop->is.pending == 0)
        schedule(core, uop, uop->when);
}

/* Notes what holds the µop at the tail. */
static void hold(struct core *core, struct uop_state *uop, enum dispatch_block block) {
    if (block == DISPATCH_STORE_QUEUE && core->tail == core->head)
        uop->psv |= PSV_DR_SQ;
    if (core->lives)
        life_of(core, uop)->dispatch_block = (uint8_t)block;
}

void dispatch_stage(struct core *core) {
    uint64_t first = core->tail, next = core->next, now = core->cycle;
    uint64_t width = core->machine.dispatch_width,
             end = next - first < width ? next : first + width;
    uint64_t depth = core->machine.frontend_depth;
    while (core->tail < end) {
        struct uop_state *uop = uop_at(core, core->tail);
        if (uop->fetched + depth > now)
            break;
        enum dispatch_block block = blocked(core, uop);
        if (block != DISPATCH_FREE) {
            hold(core, uop, block);
            break;
        }
        if (core->lives)
            life_of(core, uop)->dispatch = now;
        dispatch(core, uop);
    }
    if (core->tail == first)
        return;
    core->progress = true;
    if (core->tap_kinds & 1 << TAP_DISPATCH)
        tap_emit(core, TAP_DISPATCH, 0, first, (unsigned)(core->tail - first), 0);
}
