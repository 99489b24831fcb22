/* Rename and dispatch, in order: a µop enters the reorder buffer, its issue queue and the load or
 * store queue when all have room, and hangs itself on the producers that have not completed. Two
 * ways: plainly, when there is certainly room and nothing special to do, and checked for the rest.
 */
#include "core/ooo/ooo.h"

/* What keeps the µop at the tail from entering a reorder buffer that has room. */
static inline enum dispatch_block blocked(const struct core *core, const struct uop_state *uop) {
    uint32_t flags = uop->is.flags;
    if (core->queue_free[uop->is.queue] == 0)
        return DISPATCH_QUEUE;
    if ((flags & U_INT_REGISTER && core->int_free == 0) ||
        (flags & U_FP_REGISTER && core->fp_free == 0))
        return DISPATCH_REGISTERS;
    if (!(flags & (U_LOAD | U_STORE | U_BRANCH | U_SERIAL)))
        return DISPATCH_FREE;
    if ((flags & U_SERIAL && core->tail != core->head) ||
        (flags & U_LOAD && core->load_hold > core->head))
        return DISPATCH_SERIALISING;
    if (flags & U_BRANCH && core->branches_free == 0)
        return DISPATCH_BRANCHES;
    if (flags & U_LOAD && core->loads_free == 0)
        return DISPATCH_LOAD_QUEUE;
    if (flags & U_STORE && core->store_tail - core->store_head >= core->machine.store_queue)
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

/* Reads the sources and renames the destinations. Returns the cycle at which a store's data is
 * there. */
static inline uint64_t rename(struct core *core, struct uop_state *uop) {
    const struct prepared_uop *operands =
        prepared_at(core, stream_at(core, core->tail)->static_uop);
    uint64_t data_ready = 0;
    uint64_t when = core->cycle + core->machine.dispatch_to_issue;
    if (uop->is.flags & U_ELIMINATED) {
        if (uop->is.flags & U_MOVE) { /* the destination is another name for the source */
            core->rename[operands->destination[0]] = core->rename[operands->source[0]];
            return 0;
        }
    } else {
        for (uint32_t i = 0, n = operands->source_count; i < n; i++) {
            uint64_t ready = read_register(core, uop, i, operands->source[i]);
            if (ready == UNKNOWN)
                uop->is.pending++;
            else if (ready > when)
                when = ready;
        }
        if (uop->is.flags & U_STORE && operands->data != REG_NONE)
            data_ready = read_register(core, uop, LINK_DATA, operands->data);
    }
    uop->when = when;
    uint64_t writer = core->tail + 1;
    for (uint32_t i = 0, n = operands->destination_count; i < n; i++)
        core->rename[operands->destination[i]] = writer;
    return data_ready;
}

static void take_resources(struct core *core, uint64_t taken) {
    core->int_free -= taken & 0xffff;
    core->fp_free -= taken >> 16 & 0xffff;
    core->loads_free -= taken >> 32 & 0xffff;
    core->branches_free -= taken >> 48;
}

/* The rarer kinds: what must happen beside renaming. True when the µop goes to no queue. */
static bool dispatch_special(struct core *core, struct uop_state *uop, uint32_t flags) {
    if (flags & U_SERIAL_END)
        core->serial_hold = core->tail;
    if (flags & U_HOLD_LOADS)
        core->load_hold = core->tail;
    if (flags & U_WAIT_HEAD)
        uop->is.pending++;
    else if (flags & U_ELIMINATED)
        finish(core, uop, core->cycle, core->cycle);
    return flags & U_ELIMINATED;
}

static inline void dispatch(struct core *core, struct uop_state *uop) {
    uint32_t flags = uop->is.flags;
    uint64_t data_ready = rename(core, uop);
    take_resources(core, resources_of(flags));
    if (flags & U_LOAD)
        load_enter(core, uop, core->tail);
    else if (flags & U_STORE)
        store_enter(core, uop, core->tail, data_ready);
    core->tail++;
    if (flags & (U_WAIT_HEAD | U_SERIAL_END | U_HOLD_LOADS | U_ELIMINATED) &&
        dispatch_special(core, uop, flags))
        return;
    core->queue_free[uop->is.queue]--;
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

/* How far the front end has delivered, up to `end`. A packet a cycle is fetched, so mostly one a
 * cycle arrives. */
static uint64_t delivered(struct core *core, uint64_t end) {
    uint64_t depth = core->machine.frontend_depth;
    while (core->packet_head != core->packet_end &&
           core->packets[core->packet_head & core->packet_mask].cycle + depth <= core->cycle)
        core->arrived = core->packets[core->packet_head++ & core->packet_mask].end;
    return core->arrived < end ? core->arrived : end;
}

/* The cycle's µops enter one by one, each limit looked at. */
static void dispatch_checked(struct core *core, uint64_t head, uint64_t end) {
    uint64_t rob_end = head + core->machine.rob;
    while (core->tail < end) {
        struct uop_state *uop = uop_at(core, core->tail);
        enum dispatch_block block = core->tail == rob_end      ? DISPATCH_ROB
                                    : core->serial_hold > head ? DISPATCH_SERIALISING
                                                               : blocked(core, uop);
        if (block != DISPATCH_FREE) {
            hold(core, uop, block);
            return;
        }
        if (core->lives)
            life_of(core, uop)->dispatch = core->cycle;
        dispatch(core, uop);
    }
}

static inline uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* µops that may certainly enter, whatever they are; 0 when one must look. */
static uint64_t certain_room(const struct core *core, uint64_t head) {
    if (core->serial_hold > head || core->load_hold > head || core->lives)
        return 0;
    uint64_t room = head + core->machine.rob - core->tail;
    room = lesser(room, lesser(core->int_free, core->fp_free));
    room = lesser(room, lesser(core->loads_free, core->branches_free));
    room = lesser(room, core->machine.store_queue - (core->store_tail - core->store_head));
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        room = lesser(room, core->queue_free[queue]);
    return room;
}

/* read_register for all cases alike, since what is in flight and what is known follows no pattern.
 * The slot behind the ring stands for the producer of what nobody in flight writes. Hanging on a
 * producer that has completed does no harm, its list is read no more; nor does its `when` when it
 * has not, being no later than its result. */
static inline void read_plain(struct core *core, struct uop_state *uop, uint32_t which, uint8_t reg,
                              uint64_t head, uint32_t link, uint64_t *when, uint32_t *pending) {
    uint64_t writer = core->rename[reg], slot = (writer - 1) & core->mask;
    if (__builtin_expect_with_probability(writer <= head, 1, 0.5))
        slot = (uint64_t)core->mask + 1;
    struct uop_state *producer = &core->uops[slot];
    *pending += producer->complete == UNKNOWN;
    *when = producer->when > *when ? producer->when : *when;
    uop->link[which] = producer->consumers;
    producer->consumers = link + which;
}

/* The load or store queue; its data is an operand of a store. */
static void enter_memory(struct core *core, struct uop_state *uop, uint8_t data, uint64_t tail) {
    if (uop->is.flags & U_LOAD)
        load_enter(core, uop, tail);
    else
        store_enter(core, uop, tail,
                    data == REG_NONE ? 0 : read_register(core, uop, LINK_DATA, data));
}

/* One µop for which there is room and nothing special to do. */
static inline void dispatch_plain(struct core *core, struct uop_state *uop, uint64_t head,
                                  uint64_t tail, uint64_t soonest) {
    const struct prepared_uop *operands = prepared_at(core, stream_at(core, tail)->static_uop);
    uint32_t flags = uop->is.flags, pending = 0, link = (tail & core->mask) * 8;
    uint64_t when = soonest;
    read_plain(core, uop, 0, operands->source[0], head, link, &when, &pending);
    read_plain(core, uop, 1, operands->source[1], head, link, &when, &pending);
    if (operands->source_count > 2)
        for (uint32_t i = 2; i < UOP_MAX_SOURCES; i++)
            read_plain(core, uop, i, operands->source[i], head, link, &when, &pending);
    uop->when = when;
    uop->is.pending = (uint8_t)pending;
    if (flags & (U_LOAD | U_STORE))
        enter_memory(core, uop, operands->data, tail);
    for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++)
        core->rename[operands->destination[i]] = tail + 1;
    core->queue_free[uop->is.queue]--;
    /* Issue of this cycle is over, and this is the youngest µop: it goes to the end of the ready.
     */
    bool ready = uop->is.pending == 0, soon = ready & (when <= core->cycle + 1);
    core->ready[core->ready_count] = tail;
    core->ready_count += soon;
    if (ready & !soon)
        schedule(core, uop, when);
}

/* µops for which there is room, as far as they are plain. */
static void dispatch_plainly(struct core *core, uint64_t head, uint64_t end) {
    const uint32_t special = U_SERIAL | U_SERIAL_END | U_HOLD_LOADS | U_WAIT_HEAD | U_ELIMINATED;
    uint64_t tail = core->tail, taken = 0;
    uint64_t soonest = core->cycle + core->machine.dispatch_to_issue;
    for (; tail < end; core->tail = ++tail) {
        struct uop_state *uop = uop_at(core, tail);
        uint32_t flags = uop->is.flags;
        if (flags & special)
            break;
        taken += resources_of(flags);
        dispatch_plain(core, uop, head, tail, soonest);
    }
    take_resources(core, taken);
}

void dispatch_stage(struct core *core) {
    uint64_t first = core->tail, head = core->head;
    uint64_t end = delivered(core, lesser(core->next, first + core->machine.dispatch_width));
    if (end == first)
        return;
    if (certain_room(core, head) >= end - first)
        dispatch_plainly(core, head, end);
    if (core->tail < end)
        dispatch_checked(core, head, end);
    if (core->tail == first)
        return;
    if (first == head)
        core->entered_empty = core->cycle;
    core->progress = true;
    if (core->tap_kinds & 1 << TAP_DISPATCH)
        tap_emit(core, TAP_DISPATCH, (unsigned)(core->tail - first));
}
