/* Lanes on any processor. */
#include "graph/lanes/step.h"

#define TARGET
#define CYCLE int32_t
#define BITS  uint32_t
#define WIDTH 4
#include "graph/lanes/kernel.h"

INLINE vector latest(vector a, vector b) {
    return where(a > b, a, b);
}

INLINE bool is_any(vector mask) {
    int32_t any = 0;
    for (unsigned i = 0; i < WIDTH; i++)
        any |= mask[i];
    return any != 0;
}

/* The number of the lowest bit that is set; 32: none. */
INLINE bits lowest(bits x) {
    bits number;
    for (unsigned i = 0; i < WIDTH; i++)
        number[i] = x[i] ? (uint32_t)__builtin_ctz(x[i]) : 32;
    return number;
}

#include "graph/lanes/slots.h"
#include "graph/lanes/take.h"

LANES_KERNEL(lanes_run_plain)
