/* A completion cycle becomes known: consumers that hung themselves on the producer hear of it. */
#ifndef CULPRIT_CORE_OOO_WAKEUP_H
#define CULPRIT_CORE_OOO_WAKEUP_H

#include "core/ooo/ooo.h"

/* An operand of the µop is there from `cycle` on; if it was the last one, it enters the calendar.
 */
static inline void operand_known(struct ooo *core, struct uop_state *uop, uint64_t cycle) {
    uint64_t when = cycle > uop->when ? cycle : uop->when;
    bool ready = --uop->is.pending == 0;
    bool near = ready & (when - core->cycle - 1 < WHEEL_CYCLES - 1);
    uop->when = when;
    wheel_put_if(core, slot_of(core, uop), when, near);
    if (ready & !near)
        schedule(core, uop, when);
}

/* The completion cycle of a µop is known: tells its consumers; `wake` is the cycle at which they
 * may issue. */
static inline void finish(struct ooo *core, struct uop_state *uop, uint64_t complete,
                          uint64_t wake) {
    uint32_t link = uop->consumers, flags = uop->is.flags;
    uop->complete = complete;
    uop->when = wake;
    uop->consumers = NO_LINK;
    while (link != NO_LINK) {
        struct uop_state *consumer = &core->uops[link / 8];
        uint32_t which = link % 8;
        link = consumer->link[which];
        if (which == LINK_DATA)
            store_data(core, consumer, wake);
        else
            operand_known(core, consumer, wake);
    }
    core->branches_free += (flags & U_BRANCH) / U_BRANCH;
    if (flags & U_MISPREDICTED)
        core->fetch_resume = complete + core->machine.redirect;
}

#endif
