/* Fragments that were discarded leave a gap: code with many indirect branches, or that is seldom
 * executed and misses much, is discarded more often than other code, and would count too little. So
 * the complete sample that is most like a discarded signature sample stands in for it: the one in
 * which each value of bits 1 and 2 is most nearly as frequent. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "shotgun/signature.h"

enum { SIGNATURE_VALUES = SIGNATURE_EVENTS + 1 };
struct signature_profile {
    uint32_t insns[SIGNATURE_VALUES]; /* that have this value */
};
struct signature_profile signature_profile_of(const uint64_t *words, uint32_t insns);

/* Sets the weight of each of `count`: 0 where not complete, else itself and those it stands in for.
 * The weights sum to `count` if any is complete. */
void shotgun_weigh(const struct signature_profile *profiles, const bool *complete, size_t count,
                   uint32_t *weights);
