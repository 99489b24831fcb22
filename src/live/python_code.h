/* A code object of CPython as code of samples. */
#pragma once

#include "live/live.h"
#include "program/python_function.h"

struct python_code {
    const struct live_code *code; /* held */
    struct python_function function;
};

/* The code object at `address`. `bias`: what is added to the image's addresses in this process;
 * `identity` as in struct python_item. False: none of this identity is there (any more), or memory
 * is out. */
bool python_code_read(const struct python_memory *memory, const struct python_image *image,
                      uint64_t bias, uint64_t address, uint64_t identity, struct python_code *code);
void python_code_free(struct python_code *code);
size_t python_code_bytes(const struct python_code *code);

/* The offset of what is executed `instruction` bytes behind the first instruction. */
uint64_t python_code_place(const struct python_code *code, uint64_t instruction);
