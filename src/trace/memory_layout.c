/* An additive recurrence: in dimension d layout n lies at the fraction of n * g^-d, where g solves
 * g^(D+1) = g + 1 for the D dimensions, so that the first n points of a few are spread evenly
 * (Roberts 2018, "The unreasonable effectiveness of quasirandom sequences"). In fixed point, so
 * that it is the same on every machine. */
#include "trace/memory_layout.h"

enum { DIMENSIONS = 5, GRAIN = 16 };

/* 2^64 * g^-d of D = 5, d from 1: g = 1.13472413840151949... */
static const uint64_t STEPS[DIMENSIONS] = {
    UINT64_C(0xe19b01aa9d42c633), UINT64_C(0xc6d1d6c8ed0c9631), UINT64_C(0xaf36d01ef7518dbb),
    UINT64_C(0x9a69443f36f710e6), UINT64_C(0x881403b9339bd42d)};

/* From 0 to below `range`. */
static uint32_t place(uint32_t number, unsigned dimension, uint32_t range) {
    const uint64_t fraction = STEPS[dimension] * number;
    return (uint32_t)((fraction >> 32) * range >> 32);
}

struct memory_layout memory_layout(uint32_t number) {
    return (struct memory_layout){
        .stack_bytes = place(number, 0, MEMORY_LAYOUT_PAGE / GRAIN) * GRAIN,
        .heap_bytes = place(number, 1, MEMORY_LAYOUT_PAGE / GRAIN) * GRAIN +
                      place(number, 2, MEMORY_LAYOUT_PAGES) * MEMORY_LAYOUT_PAGE,
        .program_pages = place(number, 3, MEMORY_LAYOUT_PAGES),
        .library_pages = place(number, 4, MEMORY_LAYOUT_PAGES)};
}
