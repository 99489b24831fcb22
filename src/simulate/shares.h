/* Inside of this room: a share of a total. Part k of parts p_1 .. p_n that sum to `whole` becomes
 *
 *     floor(target × (p_1 + .. + p_k) / whole) − floor(target × (p_1 + .. + p_k−1) / whole)
 *
 * so that the shares sum to `target` and none is off by one or more. Products take 128 bits. */
#pragma once

#include <assert.h>
#include <stdint.h>

struct shares {
    uint64_t whole, target; /* parts sum to the one, shares to the other */
    uint64_t seen, given;
};

static inline uint64_t share(struct shares *shares, uint64_t part) {
    shares->seen += part;
    assert(shares->seen <= shares->whole);
    const uint64_t upto =
        (uint64_t)((unsigned __int128)shares->seen * shares->target / shares->whole);
    const uint64_t result = upto - shares->given;
    shares->given = upto;
    return result;
}
