/* A function that is left and entered again has others inside it (entries of the linkage table
 * within its unwind range): these, and only these, begin behind it, so it is found again by going
 * back over them. */
#include "query/function_walk.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/file_name.h"

uint32_t *code_images_add(const struct code *code, struct program *program) {
    uint32_t *numbers = malloc((code->image_count + (size_t)1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < code->image_count; i++)
        numbers[i] = code_image_is_file(code, i) ? program_add_image(program, code->images[i].path,
                                                                     code->images[i].build_id,
                                                                     code->images[i].build_id_size)
                                                 : UINT32_MAX;
    return numbers;
}

bool code_image_is_file(const struct code *code, uint32_t image) {
    return image < code->image_count && code->images[image].kind == CODE_IMAGE_FILE;
}

bool code_image_is_system(const struct code *code, uint32_t image) {
    const char *path = code_image_is_file(code, image) ? code->images[image].path : "";
    return !strncmp(path, "/lib", 4) || !strncmp(path, "/usr/lib", 8);
}

bool code_image_is_loader(const struct code *code, uint32_t image) {
    const char *name = code_image_name(code, image);
    return !strncmp(name, "ld-", 3) && strstr(name, ".so");
}

const char *code_image_name(const struct code *code, uint32_t image) {
    return image >= code->image_count        ? "[anon]"
           : code_image_is_file(code, image) ? file_base_name(code->images[image].path)
                                             : code->images[image].path;
}

bool function_walk_begin(struct function_walk *walk, const struct code *code,
                         struct program *program) {
    *walk = (struct function_walk){.code = code, .program = program, .image = UINT32_MAX};
    walk->images = code_images_add(code, program);
    return walk->images && code_pieces_build(&walk->pieces, code);
}

void function_walk_end(struct function_walk *walk) {
    free(walk->images);
    free(walk->functions);
    code_pieces_free(&walk->pieces);
    memset(walk, 0, sizeof *walk);
}

/* `look_up` is asked about files alone. */
static bool locate(const struct function_walk *walk, uint32_t image, uint64_t offset,
                   bool (*look_up)(struct program *, uint32_t, uint64_t, struct location *),
                   struct location *location) {
    memset(location, 0, sizeof *location);
    if (image < walk->code->image_count && walk->code->images[image].symbol) {
        *location = (struct location){.function = walk->code->images[image].symbol,
                                      .function_size = UINT64_MAX,
                                      .function_rest = UINT64_MAX - offset};
        return true;
    }
    const struct code_piece *piece = code_pieces_find(&walk->pieces, image, offset);
    if (piece) {
        location->function_offset = piece->first;
        location->function_size = piece->end - piece->start;
        location->function_rest = piece->end - offset;
        return true;
    }
    return code_image_is_file(walk->code, image) &&
           look_up(walk->program, walk->images[image], offset, location);
}

bool function_walk_locate(const struct function_walk *walk, uint32_t image, uint64_t offset,
                          struct location *location) {
    return locate(walk, image, offset, program_locate, location);
}

/* `count`: this image has it not yet. */
static size_t find_function(const struct function_walk *walk, const struct location *location) {
    if (!location->function_size)
        return walk->uncovered < walk->count ? walk->uncovered : walk->count;
    for (size_t i = walk->count; i-- > walk->first;) {
        if (i == walk->uncovered)
            continue;
        if (walk->functions[i].offset == location->function_offset)
            return i;
        if (walk->functions[i].offset < location->function_offset)
            break;
    }
    return walk->count;
}

size_t function_walk_step(struct function_walk *walk, uint32_t image, uint64_t offset) {
    if (walk->image != image) {
        walk->image = image;
        walk->end = 0;
        walk->first = walk->count;
        walk->uncovered = SIZE_MAX;
    }
    if (offset < walk->end)
        return walk->present;
    struct location location;
    locate(walk, image, offset, program_locate_function, &location);
    walk->present = find_function(walk, &location);
    if (walk->present == walk->count) {
        if (!array_push(
                walk->functions, walk->capacity, walk->count,
                (struct walked_function){location.function, location.function_offset, image}))
            return SIZE_MAX;
        if (!location.function_size)
            walk->uncovered = walk->present;
    }
    walk->end = offset + location.function_rest;
    return walk->present;
}
