/* Each discarded sample is compared with all complete ones: there are a thousand at most. */
#include "shotgun/stand_in.h"

#include <stdlib.h>

#include "util/array.h"

struct signature_profile signature_profile_of(const uint64_t *words, uint32_t insns) {
    struct signature_profile profile = {{0}};
    for (uint32_t i = 0; i < insns; i++)
        profile.insns[signature_at(words, i) & SIGNATURE_EVENTS]++;
    return profile;
}

static uint64_t difference(const struct signature_profile *a, const struct signature_profile *b) {
    return sum_over(uint64_t, i, SIGNATURE_VALUES,
                    (uint64_t)llabs((long long)a->insns[i] - (long long)b->insns[i]));
}

void shotgun_weigh(const struct signature_profile *profiles, const bool *complete, size_t count,
                   uint32_t *weights) {
    for (size_t i = 0; i < count; i++)
        weights[i] = complete[i];
    for (size_t i = 0; i < count; i++) {
        size_t nearest = count;
        for (size_t k = 0; k < count && !complete[i]; k++)
            if (complete[k] &&
                (nearest == count || difference(&profiles[i], &profiles[k]) <
                                         difference(&profiles[i], &profiles[nearest])))
                nearest = k;
        if (nearest < count)
            weights[nearest]++;
    }
}
