/* Dispatch, in order: a µop enters the reorder buffer, its issue queue and the load or store queue
 * when all have room, and hangs itself on the producers that have not completed; who they are was
 * found ahead (order.c). Two ways: plainly, when there is certainly room and nothing special to do,
 * and checked for the rest. */
#include "core/ooo/ooo.h"
#include "core/ooo/wakeup.h"

/* What keeps the µop at the tail from entering a reorder buffer that has room. */
static inline enum dispatch_block blocked(const struct ooo *core, const struct uop_kind *is) {
    uint32_t flags = is->flags;
    if (core->queue_free[is->queue] == 0)
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

/* Where a µop stands that enters. */
struct place {
    uint64_t sequence, in_flight; /* µops between it and the head */
    uint32_t link;                /* its link 0 */
};

/* Hangs the µop on the producer of its operand `which`.
 *
 * All cases alike, since what is in flight and what is known follows no pattern. The slot behind
 * the ring stands for a producer that has committed, or none. Hanging on a producer that has
 * completed does no harm, its list is read no more; nor does its `when` when it has not, being no
 * later than its result. */
static inline const struct uop_state *hang_on(struct ooo *core, struct uop_state *uop,
                                              uint32_t which, uint64_t distance,
                                              const struct place *place) {
    uint64_t slot = (place->sequence - distance) & core->mask;
    if (__builtin_expect_with_probability(distance - 1 >= place->in_flight, 1, 0.5))
        slot = (uint64_t)core->mask + 1;
    struct uop_state *producer = &core->uops[slot];
    uop->link[which] = producer->consumers;
    producer->consumers = place->link + which;
    return producer;
}

/* When the sources of a µop are there. */
struct readiness {
    uint64_t when; /* as far as it is known */
    uint32_t pending;
};

static inline void read_source(struct ooo *core, struct uop_state *uop, uint32_t which,
                               uint64_t distance, const struct place *place,
                               struct readiness *readiness) {
    const struct uop_state *producer = hang_on(core, uop, which, distance, place);
    readiness->pending += producer->complete == UNKNOWN;
    readiness->when = producer->when > readiness->when ? producer->when : readiness->when;
}

static void enter_stores(struct ooo *core, struct uop_state *uop, const struct uop_order *order,
                         const struct place *place) {
    uint64_t distance = order->producer[LINK_DATA];
    const struct uop_state *producer = hang_on(core, uop, LINK_DATA, distance, place);
    store_enter(core, uop, place->sequence,
                producer->complete == UNKNOWN ? UNKNOWN : producer->when);
}

/* The µop takes its slot and hangs on its producers; an operand is there in `soonest` at the
 * earliest. */
static inline __attribute__((always_inline)) struct uop_state *
enter(struct ooo *core, const struct place *place, const struct stream_uop *stream,
      uint64_t soonest) {
    const struct uop_order *order = order_at(core, place->sequence);
    struct uop_state *uop = uop_at(core, place->sequence);
    struct readiness readiness = {soonest, 0};
    read_source(core, uop, 0, order->producer[0], place, &readiness);
    read_source(core, uop, 1, order->producer[1], place, &readiness);
    if (order->producer[2] | order->producer[3]) {
        read_source(core, uop, 2, order->producer[2], place, &readiness);
        read_source(core, uop, 3, order->producer[3], place, &readiness);
    }
    uop->complete = UNKNOWN;
    uop->when = readiness.when;
    uop->consumers = NO_LINK;
    uop->is = stream->is;
    uop->is.pending = (uint8_t)readiness.pending;
    uop->psv = order->psv;
    if (stream->is.flags & U_STORE)
        enter_stores(core, uop, order, place);
    else if (order->store - UINT64_C(1) < core->store_tail - core->store_head)
        load_enter(core, uop, place->sequence, core->store_tail - order->store);
    return uop;
}

static void take_resources(struct ooo *core, uint64_t taken) {
    core->int_free -= taken & 0xffff;
    core->fp_free -= taken >> 16 & 0xffff;
    core->loads_free -= taken >> 32 & 0xffff;
    core->branches_free -= taken >> 48;
}

/* The rarer kinds: what must happen beside renaming. True when the µop goes to no queue. */
static bool dispatch_special(struct ooo *core, struct uop_state *uop, uint32_t flags) {
    core->room = 0; /* until one has looked whether something is held */
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

static void dispatch(struct ooo *core, const struct stream_uop *stream) {
    uint32_t flags = stream->is.flags;
    const struct place place = {core->tail, core->tail - core->head,
                                (uint32_t)(core->tail & core->mask) * 8};
    struct uop_state *uop =
        enter(core, &place, stream, core->cycle + core->machine.dispatch_to_issue);
    take_resources(core, resources_of(flags));
    core->tail++;
    if (flags & (U_WAIT_HEAD | U_SERIAL_END | U_HOLD_LOADS | U_ELIMINATED) &&
        dispatch_special(core, uop, flags))
        return;
    core->queue_free[uop->is.queue]--;
    if (uop->is.pending == 0)
        schedule(core, uop, uop->when);
}

/* Notes what holds the µop at the tail. */
static void hold(struct ooo *core, enum dispatch_block block) {
    if (block == DISPATCH_STORE_QUEUE && core->tail == core->head)
        front_end_of(core, core->tail)->psv |= PSV_DR_SQ;
    core->dispatch_held = (uint8_t)block;
}

/* How far the front end has delivered, up to `end`. A packet a cycle is fetched, so at most one a
 * cycle arrives while dispatch keeps up; whether one does follows no pattern. */
static inline uint64_t delivered(struct ooo *core, uint64_t end) {
    const struct packet *packet = &core->packets[core->packet_head & core->packet_mask];
    bool arrives = packet->arrives <= core->cycle;
    core->arrived += (packet->end - core->arrived) & -(uint64_t)arrives;
    core->packet_head += arrives;
    while (core->packets[core->packet_head & core->packet_mask].arrives <= core->cycle)
        core->arrived = core->packets[core->packet_head++ & core->packet_mask].end;
    return lesser(core->arrived, end);
}

/* The cycle's µops enter one by one, each limit looked at. */
static void dispatch_checked(struct ooo *core, uint64_t head, uint64_t end) {
    uint64_t rob_end = head + core->machine.rob;
    while (core->tail < end) {
        const struct stream_uop *stream = stream_at(core, core->tail);
        enum dispatch_block block = core->tail == rob_end      ? DISPATCH_ROB
                                    : core->serial_hold > head ? DISPATCH_SERIALISING
                                                               : blocked(core, &stream->is);
        if (block != DISPATCH_FREE) {
            hold(core, block);
            return;
        }
        dispatch(core, stream);
    }
}

/* µops that may certainly enter, whatever they are; 0 when one must look. */
static uint64_t certain_room(const struct ooo *core, uint64_t head) {
    if (core->serial_hold > head || core->load_hold > head)
        return 0;
    uint64_t room = head + core->machine.rob - core->tail;
    room = lesser(room, lesser(core->int_free, core->fp_free));
    room = lesser(room, lesser(core->loads_free, core->branches_free));
    room = lesser(room, core->machine.store_queue - (core->store_tail - core->store_head));
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        room = lesser(room, core->queue_free[queue]);
    return room;
}

/* One µop for which there is room and nothing special to do. */
static inline void dispatch_plain(struct ooo *core, const struct place *place,
                                  const struct stream_uop *stream, uint64_t soonest) {
    struct uop_state *uop = enter(core, place, stream, soonest);
    core->queue_free[stream->is.queue]--;
    /* Issue of this cycle is over, and this is the youngest µop: it goes to the end of the ready,
     * unless it waits, or (rarely) is ready later. */
    uint64_t next = core->cycle + 1, due = uop->when & -(uint64_t)(uop->is.pending == 0);
    core->ready[core->ready_count] = ready_entry(place->sequence, stream->is.pool);
    core->ready_count += due - 1 < next;
    if (due > next)
        schedule(core, uop, due);
}

/* µops for which there is room, as far as they are plain. */
static void dispatch_plainly(struct ooo *core, uint64_t head, uint64_t end) {
    const uint32_t special = U_SERIAL | U_SERIAL_END | U_HOLD_LOADS | U_WAIT_HEAD | U_ELIMINATED;
    uint64_t tail = core->tail, taken = 0;
    uint64_t soonest = core->cycle + core->machine.dispatch_to_issue;
    for (; tail < end; core->tail = ++tail) {
        const struct stream_uop *stream = stream_at(core, tail);
        if (stream->is.flags & special)
            break;
        taken += resources_of(stream->is.flags);
        const struct place place = {tail, tail - head, (uint32_t)(tail & core->mask) * 8};
        dispatch_plain(core, &place, stream, soonest);
    }
    take_resources(core, taken);
}

static __attribute__((noinline)) void dispatch_until(struct ooo *core, uint64_t end) {
    uint64_t first = core->tail, head = core->head;
    uint8_t held = core->dispatch_held;
    core->dispatch_held = DISPATCH_FREE; /* unless it is held again */
    if (core->room < end - first)
        core->room = certain_room(core, head);
    if (core->room >= end - first)
        dispatch_plainly(core, head, end);
    if (core->tail < end)
        dispatch_checked(core, head, end);
    core->room -= lesser(core->room, core->tail - first);
    if (core->tail == first)
        return;
    if (core->lives)
        lives_dispatched(core, first, held);
    if (first == head)
        core->entered_empty = core->cycle;
    core->progress = true;
    if (core->tap_kinds & 1 << TAP_DISPATCH)
        tap_emit(core, TAP_DISPATCH, (unsigned)(core->tail - first));
}

void dispatch_stage(struct ooo *core) {
    uint64_t end = delivered(core, lesser(core->next, core->tail + core->machine.dispatch_width));
    if (end != core->tail)
        dispatch_until(core, end);
}

void dispatch_full(struct ooo *core) {
    if (delivered(core, core->tail + 1) > core->tail)
        core->dispatch_held = DISPATCH_ROB;
}
