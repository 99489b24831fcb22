/* A name for a range of code. */
#ifndef CULPRIT_PROGRAM_CODE_SYMBOL_H
#define CULPRIT_PROGRAM_CODE_SYMBOL_H

#include <stdint.h>

struct code_symbol {
    uint64_t start, size;
    const char *name;
};

#endif
