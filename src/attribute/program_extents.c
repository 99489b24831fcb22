#include "attribute/program_extents.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"

struct program_extents {
    pthread_mutex_t lock;
    struct program *program;
};

struct program_extents *program_extents_new(void) {
    struct program_extents *extents = calloc(1, sizeof *extents);
    if (!extents)
        return NULL;
    if (!(extents->program = program_new_local())) {
        free(extents);
        return NULL;
    }
    pthread_mutex_init(&extents->lock, NULL);
    return extents;
}

void program_extents_free(struct program_extents *extents) {
    if (!extents)
        return;
    program_free(extents->program);
    pthread_mutex_destroy(&extents->lock);
    free(extents);
}

/* The compiler moves code that is hardly executed away: "f.cold" is a part of f. */
static void find_whole(struct program *program, uint32_t image, const char *name,
                       struct path_extent *extent) {
    static const char *const PARTS[] = {" [clone .cold", ".cold"};
    char whole[4096];
    uint64_t start, size;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        const char *end = strstr(name, PARTS[i]);
        const size_t length = end ? (size_t)(end - name) : sizeof whole;
        if (length >= sizeof whole)
            continue;
        memcpy(whole, name, length);
        whole[length] = 0;
        if (program_find_function(program, image, whole, &start, &size)) {
            extent->start = start;
            extent->size = size;
        }
        return;
    }
}

static bool locate(void *context, const struct code_image *image, uint64_t offset,
                   struct path_extent *extent) {
    struct program_extents *extents = context;
    struct location location;
    if (image->kind != CODE_IMAGE_FILE)
        return false;
    pthread_mutex_lock(&extents->lock);
    const uint32_t number =
        program_add_image(extents->program, image->path, image->build_id, image->build_id_size);
    program_locate_function(extents->program, number, offset, &location);
    *extent =
        (struct path_extent){.start = location.function_offset, .size = location.function_size};
    if (location.function) {
        path_extent_name(extent, location.function);
        find_whole(extents->program, number, location.function, extent);
    }
    pthread_mutex_unlock(&extents->lock);
    return extent->size;
}

static uint32_t find_inlined(void *context, const struct code_image *image, uint64_t offset,
                             const char *names[PATH_INLINED_MOST]) {
    struct program_extents *extents = context;
    struct location location = {.inline_count = 0};
    uint32_t count = 0;
    if (image->kind != CODE_IMAGE_FILE)
        return 0;
    pthread_mutex_lock(&extents->lock);
    program_locate(
        extents->program,
        program_add_image(extents->program, image->path, image->build_id, image->build_id_size),
        offset, &location);
    while (location.inline_count > 0 && count < PATH_INLINED_MOST) {
        const char *name = location.inlined[--location.inline_count].function;
        if (name)
            names[count++] = name;
    }
    pthread_mutex_unlock(&extents->lock);
    return count;
}

struct path_extents program_extents_of(struct program_extents *extents, bool inlined) {
    return (struct path_extents){locate, inlined ? find_inlined : NULL, extents};
}

static bool locate_data(void *context, const struct code_image *image, uint64_t linked,
                        struct memory_object *object) {
    struct program_extents *extents = context;
    struct program_data data;
    pthread_mutex_lock(&extents->lock);
    const bool found = program_locate_data(
        extents->program,
        program_add_image(extents->program, image->path, image->build_id, image->build_id_size),
        linked, &data);
    pthread_mutex_unlock(&extents->lock);
    if (!found)
        return false;
    object->kind = data.symbol ? OBJECT_SYMBOL : OBJECT_SECTION;
    object->name = data.symbol ? data.symbol : data.section;
    object->start = linked - data.offset;
    object->size = data.size;
    return true;
}

static bool linked_at(void *context, const struct code_image *image, uint64_t offset,
                      uint64_t *address, uint64_t *low, uint64_t *high) {
    struct program_extents *extents = context;
    pthread_mutex_lock(&extents->lock);
    const uint32_t number =
        program_add_image(extents->program, image->path, image->build_id, image->build_id_size);
    const bool good = program_offset_to_address(extents->program, number, offset, address) &&
                      program_data_bounds(extents->program, number, low, high);
    pthread_mutex_unlock(&extents->lock);
    return good;
}

struct object_names program_extents_names(struct program_extents *extents) {
    return (struct object_names){locate_data, linked_at, extents};
}
