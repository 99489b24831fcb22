#include "simulate/spin_watch.h"

void spin_watch_access(struct spin_watch *watch, const struct memory_access *accesses,
                       uint32_t count, bool atomic) {
    for (uint32_t i = 0; i < count; i++) {
        watch->places = (watch->places ^ accesses[i].address) * UINT64_C(0x9e3779b97f4a7c15);
        watch->stores |= accesses[i].is_store && !atomic;
        watch->reads |= !accesses[i].is_store;
    }
}

uint32_t spin_watch_close(struct spin_watch *watch, uint32_t branch) {
    const bool again = watch->branch == branch + 1;
    const bool same = again && watch->reads && watch->places == watch->previous;
    const uint32_t insns = watch->insns;
    const bool waits = again && !watch->stores && insns <= SPIN_LONGEST && (same || watch->pauses);
    *watch = (struct spin_watch){.branch = branch + 1, .previous = watch->places};
    return waits ? insns : 0;
}
