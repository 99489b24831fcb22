/* Offsets in images of kind IMAGE_SOURCE: a line of a function. Functions stand in the order of
 * their first lines; those that begin in one line are told apart by a hash of their names. */
#pragma once

#include <stdint.h>

enum { SOURCE_LINE_BITS = 20, SOURCE_NAME_BITS = 20 };

/* The first offset of a function. */
static inline uint64_t source_function(uint32_t first_line, uint64_t name_hash) {
    const uint64_t most = (1u << SOURCE_LINE_BITS) - 1,
                   first = first_line < most ? first_line : most;
    return (first << SOURCE_NAME_BITS | (name_hash & ((1u << SOURCE_NAME_BITS) - 1)))
           << SOURCE_LINE_BITS;
}

/* How many offsets it has: one for each line of the file. */
static inline uint64_t source_function_size(void) {
    return UINT64_C(1) << SOURCE_LINE_BITS;
}

static inline uint64_t source_place(uint64_t function, uint32_t line) {
    const uint64_t most = source_function_size() - 1;
    return function + (line < most ? line : most);
}

static inline uint32_t source_line(uint64_t place) {
    return (uint32_t)(place & (source_function_size() - 1));
}

static inline uint32_t source_first_line(uint64_t function) {
    return (uint32_t)(function >> (SOURCE_NAME_BITS + SOURCE_LINE_BITS));
}
