/* µops that have no place of their own in dispatch, reorder buffer and commit. A core may keep a
 * load and the operation of its instruction as one until they issue (core.fuse_loads): the
 * operation shares the load's place, which is free when both have committed. Intel's cores take
 * those apart again, before they are dispatched, that name more registers than a µop there has room
 * for (core.unlaminate_indexed): by VEX or EVEX, of a load with an index register. */
#pragma once

#include "isa/insn.h"
#include "machine/machine.h"

/* The most µops of a place. */
static inline uint32_t most_of_place(const struct machine_core *core) {
    return core->fuse_loads ? 2 : 1;
}

/* Whether the µop shares the place of the one before it, of the same instruction. It is never a
 * load or store. */
static inline bool shares_place(const struct machine_core *core, const struct uop *uops,
                                uint32_t number) {
    return core->fuse_loads && number > 0 && uops[number - 1].operation == OP_LOAD &&
           uops[number].operation != OP_LOAD && uops[number].operation != OP_STORE &&
           !(core->unlaminate_indexed && uops[number].flags & UOP_UNLAMINATED);
}

/* Whether the µop is a load, and the next one the operation that shares its place. */
static inline bool has_operation(const struct machine_core *core, const struct uop *uops,
                                 uint32_t number, uint32_t count) {
    return uops[number].operation == OP_LOAD && number + 1 < count &&
           shares_place(core, uops, number + 1);
}

/* The places that the instruction takes. */
static inline uint32_t places_of(const struct machine_core *core, const struct uop *uops,
                                 uint32_t count) {
    uint32_t places = 0;
    for (uint32_t i = 0; i < count; i++)
        places += !shares_place(core, uops, i);
    return places;
}
