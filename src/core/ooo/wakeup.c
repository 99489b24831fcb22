/* A completion cycle becomes known: consumers that hung themselves on the producer hear of it. */
#include "core/ooo/ooo.h"

void finish(struct core *core, struct uop_state *uop, uint64_t complete, uint64_t wake) {
    uop->complete = complete;
    uop->when = wake;
    uint32_t link = uop->consumers;
    uop->consumers = NO_LINK;
    while (link != NO_LINK) {
        struct uop_state *consumer = &core->uops[link / 8];
        uint32_t which = link % 8;
        link = consumer->link[which];
        if (which == LINK_DATA) {
            store_data(core, consumer, wake);
        } else {
            uint64_t when = wake > consumer->when ? wake : consumer->when;
            bool ready = --consumer->is.pending == 0;
            bool near = ready & (when - core->cycle - 1 < WHEEL_CYCLES - 1);
            consumer->when = when;
            wheel_put_if(core, slot_of(core, consumer), when, near);
            if (ready & !near)
                schedule(core, consumer, when);
        }
    }
    if (uop->is.flags & U_BRANCH) {
        core->branches_free++;
        if (uop->is.flags & U_MISPREDICTED)
            core->fetch_resume = complete + core->machine.redirect;
    }
}
