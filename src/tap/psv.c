/* Names of performance signatures (paper B Table B.1, ST-FW and ST-CO, which are ours). */
#include "tap/tap.h"

#include <stdio.h>

static const char *const names[PSV_BITS] = {"DR-L1", "DR-TLB", "DR-SQ",  "FL-MB", "FL-EX", "FL-MO",
                                            "ST-L1", "ST-TLB", "ST-LLC", "ST-FW", "ST-CO"};

const char *psv_name(unsigned bit) {
    return bit < PSV_BITS ? names[bit] : "?";
}

void psv_format(uint32_t psv, char *text, uint32_t size) {
    uint32_t length = 0;
    if (size == 0)
        return;
    snprintf(text, size, "%s", psv ? "" : "Base");
    for (unsigned bit = 0; bit < PSV_BITS && length < size; bit++)
        if (psv & 1u << bit)
            length += (uint32_t)snprintf(text + length, size - length, "%s%s", length ? "+" : "",
                                         names[bit]);
}
