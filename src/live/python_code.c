#include "live/python_code.h"

#include <string.h>

#include "store/source_place.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

bool python_code_read(const struct python_memory *memory, const struct python_image *image,
                      uint64_t bias, uint64_t address, uint64_t identity,
                      struct python_code *code) {
    struct python_function *function = &code->function;
    *code = (struct python_code){0};
    if (!python_function_read(memory, image, bias, address, identity, function))
        return false;
    const struct live_code found = {
        .first_line = function->first_line,
        .size = source_function_size(),
        .name = function->name,
        .path = function->path,
        .start = source_function(function->first_line,
                                 XXH3_64bits(function->name, strlen(function->name)))};
    code->code = live_code_new(&found);
    if (code->code)
        return true;
    python_code_free(code);
    return false;
}

void python_code_free(struct python_code *code) {
    live_code_release(code->code);
    python_function_free(&code->function);
    *code = (struct python_code){0};
}

size_t python_code_bytes(const struct python_code *code) {
    return sizeof *code->code + 2 * (strlen(code->code->name) + strlen(code->code->path) + 2) +
           code->function.lines.capacity * sizeof *code->function.lines.items;
}

uint64_t python_code_place(const struct python_code *code, uint64_t instruction) {
    return source_place(code->code->start, python_function_line(&code->function, instruction));
}
