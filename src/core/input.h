/* Checks of input, for whatever runs the instructions of a trace: cores and models. */
#pragma once

#include "trace/trace.h"
#include "util/array.h"
#include "util/error.h"

/* Whether the trace has the instruction and the accesses that it names. One branch for all: which
 * instruction accesses memory follows no pattern. */
static inline bool core_input_is_there(const struct code *code, const struct dynamic_insn *insn,
                                       uint32_t access_count, uint32_t first_access) {
    uint64_t accesses_end = (uint64_t)(insn->memory - first_access) + insn->memory_count;
    return !((insn->insn >= code->insn_count) |
             ((insn->memory_count != 0) & (accesses_end > access_count)));
}
/* The error of what is not; false. */
bool core_input_error(struct error *error);

/* Room in a growable array (util/array.h) for an item of each static instruction. */
static inline bool core_reserve_insns(const struct code *code, void **items, size_t *capacity,
                                      size_t item_size, struct error *error) {
    return array_reserve(items, capacity, code->insn_count, item_size) ||
           error_set(error, "out of memory for static instructions");
}
