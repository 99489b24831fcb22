/* What program order alone says of the µops of a chunk, found by the thread that pushes input when
 * the chunk is full: who writes what a µop reads, which store a load overlaps, and where fetch has
 * to look.
 *
 * All of it is kept as distances back from the µop. The pipeline compares a distance with what it
 * holds: a producer farther back than the head has committed, a store farther back than the queue
 * is long has left. So it needs no rename table, and a flush has nothing to restore. */
#include "core/ooo/ooo.h"

#include <string.h>

enum { GRANULE_SHIFT = 3 };

/* ---- producers ---- */

static inline uint16_t distance_to(uint64_t at, uint64_t writer) {
    uint64_t distance = at - writer;
    return distance <= ORDER_MAX ? (uint16_t)distance : 0;
}

/* Finds the last writers of what the µop reads. */
static inline void find_producers(const uint64_t *writer, struct uop_order *order,
                                  const struct prepared_uop *operands, uint64_t at) {
    order->producer[0] = distance_to(at, writer[operands->source[0]]);
    order->producer[1] = distance_to(at, writer[operands->source[1]]);
    order->producer[2] = order->producer[3] = 0;
    order->producer[LINK_DATA] = distance_to(at, writer[operands->data]);
    if (operands->many)
        for (uint32_t i = 2; i < UOP_MAX_SOURCES; i++)
            order->producer[i] = distance_to(at, writer[operands->source[i]]);
}

static inline void note_writer(uint64_t *writer, const struct prepared_uop *operands, uint64_t at) {
    writer[operands->destination[0]] = at;
    writer[operands->destination[1]] = at;
    if (operands->many)
        for (uint32_t i = 2; i < UOP_MAX_DESTINATIONS; i++)
            writer[operands->destination[i]] = at;
}

/* An eliminated µop waits for nothing; the destination of a move is another name for its source. */
static void rename_eliminated(uint64_t *writer, struct uop_order *order,
                              const struct prepared_uop *operands, uint32_t flags, uint64_t at) {
    memset(order->producer, 0, sizeof order->producer);
    if (flags & U_MOVE)
        writer[operands->destination[0]] = writer[operands->source[0]];
    else
        note_writer(writer, operands, at);
}

/* ---- stores ---- */

static uint32_t granule_slot(uint64_t granule) {
    return (uint32_t)(granule ^ granule >> 12) % STORE_SLOTS;
}

static void note_store(struct ooo *core, const struct stream_uop *store) {
    uint64_t number = core->stores_seen++, size = store->access_count ? store->size_bytes : 0;
    core->store_ranges[number & core->store_range_mask] =
        (struct store_range){store->address, store->address + size};
    if (size == 0)
        return;
    uint64_t last = (store->address + size - 1) >> GRANULE_SHIFT;
    for (uint64_t granule = store->address >> GRANULE_SHIFT; granule <= last; granule++)
        core->youngest_store[granule_slot(granule)] = number + 1;
}

/* Looks for the youngest store that overlaps the load, beginning with the youngest that wrote to
 * one of the load's granules: among those that can still be in the queue, or else that one alone if
 * it is in reach. */
static void find_store(const struct ooo *core, const struct stream_uop *load,
                       struct uop_order *order) {
    uint64_t end = load->address + load->size_bytes, last = (end - 1) >> GRANULE_SHIFT;
    uint64_t seen = core->stores_seen, youngest = 0;
    for (uint64_t granule = load->address >> GRANULE_SHIFT; granule <= last; granule++) {
        uint64_t number = core->youngest_store[granule_slot(granule)];
        youngest = number > youngest ? number : youngest;
    }
    if (!youngest || seen - youngest >= core->store_reach)
        return;
    uint64_t number = youngest;
    do {
        const struct store_range *store =
            &core->store_ranges[(number - 1) & core->store_range_mask];
        if (load->address < store->end && store->address < end) {
            order->store = (uint16_t)(seen - number + 1);
            order->covered =
                load->access_count == 1 && store->address <= load->address && end <= store->end;
            return;
        }
    } while (--number && seen - number < core->machine.store_queue);
}

/* ---- all of it ---- */

/* The places of memory µops among the stores. `memory`: bit k set, `first` + k is one. */
static void order_memory(struct ooo *core, uint64_t first, uint64_t memory) {
    for (; memory; memory &= memory - 1) {
        uint64_t at = first + (uint32_t)__builtin_ctzll(memory);
        const struct stream_uop *uop = stream_at(core, at);
        if (uop->is.flags & U_STORE)
            note_store(core, uop);
        else if (uop->access_count)
            find_store(core, uop, front_end_of(core, at));
    }
}

/* All else, up to `end`, at most 64 µops; returns which of them access memory. */
static uint64_t order_others(struct ooo *core, uint64_t first, uint64_t end) {
    uint64_t insns = core->insns_seen, marks = core->marks_seen, memory = 0;
    uint64_t mask = core->stream_mask, *writer = core->writer;
    for (uint64_t at = first; at < end; at++) {
        const struct stream_uop *uop = &core->stream[at & mask];
        struct uop_order *order = &core->order[at & mask];
        const struct prepared_uop *operands = prepared_at(core, uop->static_uop);
        uint32_t flags = uop->is.flags;
        core->insn_starts[insns & mask] = at;
        insns += (flags & U_FIRST) != 0;
        core->marks[marks & mask] = at;
        marks += (flags & (U_PLACE | U_ENDS_PACKET)) != 0;
        order->store = 0;
        order->insns = (uint16_t)insns;
        order->psv = 0;
        order->covered = 0;
        if (flags & (U_FLUSH | U_MISPREDICTED))
            order->psv = flags & U_FLUSH ? PSV_FL_EX : PSV_FL_MB;
        if (__builtin_expect((flags & U_ELIMINATED) != 0, 0)) {
            rename_eliminated(writer, order, operands, flags, at);
            continue;
        }
        find_producers(writer, order, operands, at);
        memory |= (uint64_t)((flags & (U_LOAD | U_STORE)) != 0) << (at - first);
        note_writer(writer, operands, at);
    }
    core->insns_seen = insns;
    core->marks_seen = marks;
    return memory;
}

/* Memory µops are found by their bits, since which they are follows no pattern. */
void order_chunk(struct ooo *core) {
    for (uint64_t first = core->chunk_start; first < core->produced; first += 64) {
        uint64_t end = lesser(first + 64, core->produced);
        order_memory(core, first, order_others(core, first, end));
    }
}
