#include "simulate/spin_watch.h"

uint32_t spin_watch_close(struct spin_watch *watch, uint32_t branch) {
    const bool again = watch->branch == branch + 1;
    const bool same = again && watch->reads && watch->places == watch->previous;
    const uint32_t insns = watch->insns;
    const bool waits = again && !watch->stores && insns <= SPIN_LONGEST && (same || watch->pauses);
    *watch = (struct spin_watch){.branch = branch + 1, .previous = watch->places};
    return waits ? insns : 0;
}
