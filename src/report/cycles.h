/* Units of a profile as people read them: whole cycles. */
#pragma once

#include "attribute/attribute.h"
#include "util/text.h"

static inline struct text text_cycles(uint64_t units) {
    return text_count((units + CYCLE_UNITS / 2) / CYCLE_UNITS);
}
