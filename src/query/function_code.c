#include "query/function_code.h"

#include <stdlib.h>

#include "query/function_walk.h"

enum { FUNCTION_MOST = 1 << 22 /* bytes */ };

static bool read_image(void *context, uint64_t address, void *bytes, size_t size) {
    const struct function_code *function = context;
    return program_read(function->program, function->image, address, bytes, size);
}

static const char *name_of(void *context, uint64_t address) {
    const struct function_code *function = context;
    uint64_t offset;
    struct location location;
    return program_address_to_offset(function->program, function->image, address, &offset) &&
                   program_locate_function(function->program, function->image, offset, &location) &&
                   location.function_offset == offset
               ? location.function
               : NULL;
}

bool function_code_read(const struct report_rows *functions, uint32_t number,
                        struct function_code *function) {
    const struct group *group = &functions->groups[number];
    struct location location;
    uint64_t address;
    *function = (struct function_code){.program = functions->program,
                                       .image = functions->images[group->image]};
    if (!code_image_is_file(functions->code, group->image))
        return false;
    program_locate_function(function->program, function->image, group->offset, &location);
    const size_t size = location.function_size;
    function->bytes = size && size <= FUNCTION_MOST ? malloc(size) : NULL;
    if (!function->bytes || location.function_offset != group->offset ||
        !program_offset_to_address(function->program, function->image, group->offset, &address) ||
        !read_image(function, address, function->bytes, size))
        return false;
    function->code = (struct procedure_code){.isa = functions->code->isa,
                                             .bytes = function->bytes,
                                             .size = size,
                                             .address = address,
                                             .read = read_image,
                                             .name = name_of,
                                             .context = function};
    return true;
}

void function_code_free(struct function_code *function) {
    free(function->bytes);
}
