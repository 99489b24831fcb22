/* Lanes on any processor. */
#include "graph/lanes_step.h"

#define TARGET
#define WIDTH 4
#include "graph/lanes_kernel.h"

INLINE vector latest(vector a, vector b) {
    return where(a > b, a, b);
}

INLINE bool is_any(vector mask) {
    int32_t any = 0;
    for (unsigned i = 0; i < WIDTH; i++)
        any |= mask[i];
    return any != 0;
}

#include "graph/lanes_slots.h"

LANES_KERNEL(lanes_run_plain)
