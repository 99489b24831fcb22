/* The lines of a CPython code object, from its location table (co_linetable, PEP 626;
 * CPython 3.11 describes it in Objects/locations). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_lines {
    struct python_line {
        uint32_t unit; /* from this code unit (2 bytes) on, to the next item's */
        uint32_t line; /* 0: code of no line */
    } * items;
    size_t count, capacity;
};

/* Adds to *lines, which is empty. A damaged rest is left out. False: out of memory.
 * python_lines_free() either way. */
bool python_lines_read(struct python_lines *lines, const uint8_t *table, size_t size,
                       uint32_t first_line);
void python_lines_free(struct python_lines *lines);

/* The line of a code unit; 0: it has none. */
uint32_t python_lines_find(const struct python_lines *lines, uint32_t unit);
