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

const struct profiler tea_profiler = {
    .name = "TEA",
    .description = "TIP with the nine events each sampled instruction was subjected to",
    .section = "paper B §3",
    .events = PSV_COMBINATIONS - 1,
    .at_commit = at_commit,
    .wide = true,
};
