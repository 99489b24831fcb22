#include "analyze/skid.h"

struct skid skid_assumed(void) {
    struct skid skid = {0};
    for (unsigned i = 0; i < SKID_ASSUMED; i++)
        skid.shares[i] = 1.0 / SKID_ASSUMED;
    return skid;
}

struct skid skid_none(void) {
    return (struct skid){.shares = {1}};
}

struct skid_window skid_window(const struct skid *skid) {
    /* Sums of shares are rounded. */
    static const double WANTED = SKID_WINDOW - 1e-9;
    for (uint32_t width = 1; width <= SKID_MOST; width++)
        for (uint32_t least = 0; least + width <= SKID_MOST + 1; least++) {
            double share = 0;
            for (uint32_t i = least; i < least + width; i++)
                share += skid->shares[i];
            if (share >= WANTED)
                return (struct skid_window){least, least + width - 1, share};
        }
    return (struct skid_window){0, SKID_MOST, 1};
}

uint32_t skid_median(const struct skid *skid) {
    double share = 0;
    uint32_t at = 0;
    while (at < SKID_MOST && (share += skid->shares[at]) < 0.5)
        at++;
    return at;
}
