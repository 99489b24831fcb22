/* Arrays with a row for each static instruction, which grow as fragments bring new ones. Inside of
 * the graph room. */
#pragma once

#include <string.h>

#include "graph/fragments.h"
#include "util/array.h"

/* Makes cleared rows up to the last instruction of a fragment. False: out of memory. */
static inline bool insn_rows_reserve(void **rows, size_t *count, size_t *capacity, size_t row_size,
                                     const struct graph_fragment *fragment) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < fragment->count; i++)
        last = fragment->uops[i].insn > last ? fragment->uops[i].insn : last;
    size_t need = (size_t)last + 1;
    if (need <= *count)
        return true;
    if (!array_reserve(rows, capacity, need, row_size))
        return false;
    memset((char *)*rows + *count * row_size, 0, (need - *count) * row_size);
    *count = need;
    return true;
}
