/* What the preloaded library tells the plugin, in the guest's memory. */
#pragma once

#include <stdint.h>

struct allocation_report {
    uint64_t allocated, size; /* block that was returned; 0: none. Bytes as asked for */
    uint64_t freed;           /* block that is given back; 0: none */
};
