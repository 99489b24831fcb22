/* Lives of µops (tap/life.h), when somebody wants them.
 *
 * Nothing is kept that something else tells until the µop has committed: the stream tells what it
 * is, program order whom it depends on, its packet when it was fetched. What is left, some cycles
 * and what a load met, the stages write into a struct kept_life beside the µop's state, on their
 * usual ways. When µops commit all that is put together, right in the buffer of the tap. */
#include "core/ooo/ooo.h"

#include <string.h>

void lives_dispatched(struct ooo *core, uint64_t first, uint8_t held) {
    for (uint64_t at = first; at < core->tail; at++)
        core->lives[at & core->mask] = (struct kept_life){.dispatch = (uint32_t)core->cycle};
    core->lives[first & core->mask].dispatch_block = held;
}

/* What the core has of the lives of µops from `first` on when they commit. */
static inline void pack_lives(const struct ooo *core, struct life_cursor *cursor, uint64_t first,
                              uint64_t count, struct packed_life *life) {
    const struct packet *packet = &core->packets[cursor->packet & core->packet_mask];
    uint64_t insns = cursor->insns;
    for (uint64_t at = first; at < first + count; at++, life++) {
        const struct stream_uop *stream = stream_at(core, at);
        const struct uop_order *order = order_at(core, at);
        const struct uop_state *uop = &core->uops[at & core->mask];
        while (packet->end <= at)
            packet = &core->packets[++cursor->packet & core->packet_mask];
        insns += (uint16_t)(order->insns - insns);
        life->uop = at;
        life->insn_number = insns - 1;
        life->end = core->cycle;
        life->insn = stream->insn;
        life->flags = ((stream->is.flags | uop->is.flags) & U_LIFE) | LIFE_DISPATCHED |
                      LIFE_COMPLETED | (uint32_t)order->covered * LIFE_COVERED;
        life->fetch = (uint32_t)packet->arrives - core->machine.frontend_depth;
        life->complete = (uint32_t)uop->complete;
        life->fetch_delay_cache = packet->delay_cache;
        life->fetch_delay_tlb = packet->delay_tlb;
        life->kept = core->lives[at & core->mask];
        if (life->flags & LIFE_STORE) {
            uint32_t before = uop->store - core->machine.store_queue;
            const struct store_entry *store = &core->stores[before & core->store_mask];
            life->kept.write_latency = store->write_latency;
            life->kept.write_level = store->write_level;
            life->kept.fill = store->fill;
        }
        memcpy(life->producer, order->producer, sizeof life->producer);
        life->stores_back = order->store;
        life->psv = uop->psv;
        life->uop_index = stream->is.pending;
        life->operation = stream->is.operation;
    }
    cursor->insns = insns;
}

/* What is different when it was squashed. */
static void squash_life(const struct ooo *core, struct packed_life *life) {
    uint64_t sequence = life->uop;
    const struct uop_state *uop = &core->uops[sequence & core->mask];
    bool dispatched = sequence < core->tail;
    life->flags |= LIFE_FLUSHED;
    if (dispatched && uop->complete != UNKNOWN)
        return;
    life->complete = 0;
    life->flags &= ~(uint32_t)LIFE_COMPLETED;
    if (dispatched)
        return;
    life->flags &= (stream_at(core, sequence)->is.flags & U_LIFE) | LIFE_FLUSHED | LIFE_COVERED;
    life->psv = order_at(core, sequence)->psv;
    life->kept =
        (struct kept_life){.dispatch_block = sequence == core->tail ? core->dispatch_held : 0};
}

/* Room for lives, at most `most`, at least one; NULL: there is no buffer. */
static struct packed_life *life_room(struct ooo *core, uint64_t most, uint64_t *room) {
    if (core->buffer && core->buffer->life_count == TAP_BUFFER_LIVES)
        tap_next_buffer(core);
    if (!core->buffer)
        return NULL;
    struct packed_life *lives = core->buffer->lives + core->buffer->life_count;
    *room = lesser(most, TAP_BUFFER_LIVES - core->buffer->life_count);
    core->buffer->life_count += (uint32_t)*room;
    return lives;
}

void lives_show(struct ooo *core, uint64_t first, uint64_t end, enum life_flags squashed) {
    struct life_cursor cursor = core->life_cursor;
    if ((int32_t)(core->packet_oldest - cursor.packet) > 0)
        cursor.packet = core->packet_oldest;
    for (uint64_t room; first < end; first += room) {
        struct packed_life *life = life_room(core, end - first, &room);
        if (!life)
            return;
        pack_lives(core, &cursor, first, room, life);
        for (uint64_t i = 0; squashed && i < room; i++)
            squash_life(core, &life[i]);
    }
    if (!squashed) /* those come again */
        core->life_cursor = cursor;
}
