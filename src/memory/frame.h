/* Page frames of programs that share a physically indexed cache. Each program (address space) has
 * its own frame for each page, chosen as if at random, like an operating system without page
 * colouring: pages of two programs fall into the same sets only by chance. */
#pragma once

#include <stdint.h>

#include "util/random.h"

enum { FRAME_BITS = 40 };

/* The physical address: the page's offset is kept, its frame is a hash of space and page. The same
 * arguments always give the same frame; two pages share one with a chance of 2^-40. page_shift:
 * log2 of the page's bytes. */
static inline uint64_t frame_address(uint32_t space, uint64_t address, uint32_t page_shift) {
    const uint64_t x = random_mix((address >> page_shift) + ((uint64_t)(space + 1) << 52));
    return (x >> (64 - FRAME_BITS)) << page_shift | (address & ((1ull << page_shift) - 1));
}
