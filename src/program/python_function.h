/* What a code object of CPython is called and where its lines are, read from the memory of its
 * process: which may hold anything, also what is made to look like one. */
#pragma once

#include "program/python_layout.h"
#include "program/python_lines.h"

/* Memory of a process. */
struct python_memory {
    bool (*read)(void *context, uint64_t address, void *bytes, size_t size); /* all, or false */
    void *context;
};

struct python_function {
    char *name, *path; /* "Class.method", of the file as its program named it */
    uint32_t first_line;
    struct python_lines lines; /* none: it has its first line alone */
};

/* The code object at `address`. `bias`: what is added to the image's addresses in this process;
 * `identity`: python_identity() of it. False: none of this identity is there (any more), or memory
 * is out. python_function_free() of what was read. */
bool python_function_read(const struct python_memory *memory, const struct python_image *image,
                          uint64_t bias, uint64_t address, uint64_t identity,
                          struct python_function *function);
void python_function_free(struct python_function *function);

/* The line of what is executed `instruction` bytes behind the first instruction. */
uint32_t python_function_line(const struct python_function *function, uint64_t instruction);
