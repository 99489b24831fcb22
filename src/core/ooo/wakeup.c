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
            consumer->data_ready = wake;
            if (consumer->is.flags & U_ISSUED)
                store_complete(core, consumer);
        } else {
            if (wake > consumer->when)
                consumer->when = wake;
            if (--consumer->is.pending == 0)
                schedule(core, consumer, consumer->when);
        }
    }
    if (uop->is.flags & U_BRANCH) {
        core->branches_used--;
        if (uop->is.flags & U_MISPREDICTED)
            core->fetch_resume = complete + core->machine.redirect;
    }
}
