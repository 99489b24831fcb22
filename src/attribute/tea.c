/* TEA, time-proportional event analysis (paper B §3): TIP's selection, and the signature of every
 * instruction it names. The signature of a µop that has not committed is not complete, so the
 * sample is held back until it is: Stalled and Drained, and Flushed by an ordering violation, whose
 * load is yet to execute again. */
#include "attribute/profiler.h"
#include "attribute/tip.h"

void tea_select(const struct commit_view *view, unsigned banks, struct tip_registers *registers) {
    tip_select(view, banks, registers);
    if (registers->flags & (TIP_STALLED | TIP_FRONT_END | TIP_EXCEPTION))
        registers->ready = view->closes;
}

static unsigned at_commit(const struct commit_view *view, uint64_t *uops) {
    struct tip_registers registers;
    tea_select(view, view->count, &registers);
    return tip_attribute(&registers, uops);
}

/* Paper B §3, beside TIP: two bits for DR-L1 and DR-TLB in each entry of the fetch buffer, in three
 * registers of fetch and in each slot of decode and dispatch; nine in each of the reorder buffer;
 * a bit for DR-SQ in dispatch, and for ST-TLB in each entry of the load and the store queue; two
 * bytes for the last committed. ST-FW, the tenth event, which is ours, would be one bit more in
 * each entry of the reorder buffer: it is not counted. */
static uint32_t storage_bytes(const struct machine_core *core) {
    enum { FRONT_END = 2, FETCH = 3, LAST_COMMITTED = 16 };
    uint32_t slots = core->fetch_buffer + FETCH + 2 * core->dispatch_width;
    uint32_t bits = FRONT_END * slots + PSV_TEA_BITS * core->rob + 1 + core->load_queue +
                    core->store_queue + LAST_COMMITTED;
    return tip_storage_bytes(core) + (bits + 7) / 8;
}

const struct profiler tea_profiler = {
    .name = "TEA",
    .description = "TIP with the events each sampled instruction was subjected to",
    .section = "paper B §3",
    .events = PSV_SAMPLED,
    .at_commit = at_commit,
    .wide = true,
    .storage_bytes = storage_bytes,
};
