/* A name for a range of code. */
#pragma once

#include <stdint.h>

struct code_symbol {
    uint64_t start, size;
    const char *name;
};
