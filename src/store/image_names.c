/* What is known of an image is loaded when it is first asked for and kept; walks go image by image,
 * so the last one is nearly always the one wanted. */
#include "store/image_names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/source_place.h"
#include "util/array.h"
#include "util/order.h"

struct named_image {
    int64_t id;
    uint32_t file;               /* number in `program`; UINT32_MAX: no file */
    struct code_symbol *symbols; /* sorted by start */
    size_t symbol_count;
};

struct image_names {
    struct store *store;
    struct program *program;
    struct named_image *images; /* sorted by id */
    size_t count, capacity;
    size_t last; /* index of the image last asked for */
};

struct image_names *image_names_new(struct store *store, struct program *program,
                                    struct error *error) {
    struct image_names *names = calloc(1, sizeof *names);
    if (!names)
        return error_null(error, "out of memory for names");
    names->store = store;
    names->program = program;
    return names;
}

void image_names_free(struct image_names *names) {
    if (!names)
        return;
    for (size_t i = 0; i < names->count; i++)
        store_free_symbols(names->images[i].symbols, names->images[i].symbol_count);
    free(names->images);
    free(names);
}

/* The file of an image of another mount namespace, as long as something there runs, else the file
 * of the same name here; its build id decides whether it is the same: without one it is not taken.
 */
static uint32_t add_file(struct image_names *names, const struct store_image *image) {
    char path[PATH_MAX];
    if (image->kind != IMAGE_FILE || image->path[0] != '/')
        return UINT32_MAX;
    int length = snprintf(path, sizeof path, "%s%s", image->root, image->path);
    bool reached = length < (int)sizeof path && access(path, R_OK) == 0;
    if (!reached && image->root[0] && !image->build_id_size)
        return UINT32_MAX;
    return program_add_image(names->program, reached ? path : image->path, image->build_id,
                             image->build_id_size);
}

/* The index of the first image whose number is not less. */
static size_t position_of(const struct image_names *names, int64_t id) {
    return first_where(i, names->count, names->images[i].id >= id);
}

static const struct named_image *find_image(struct image_names *names,
                                            const struct store_image *image, struct error *error) {
    if (names->last < names->count && names->images[names->last].id == image->id)
        return &names->images[names->last];
    size_t at = position_of(names, image->id);
    names->last = at;
    if (at < names->count && names->images[at].id == image->id)
        return &names->images[at];

    struct named_image new = {.id = image->id};
    if (!store_get_symbols(names->store, image->id, &new.symbols, &new.symbol_count, error))
        return NULL;
    if (!array_room(names->images, names->capacity, names->count + 1)) {
        store_free_symbols(new.symbols, new.symbol_count);
        return error_null(error, "out of memory for names");
    }
    new.file = add_file(names, image);
    memmove(names->images + at + 1, names->images + at,
            (names->count - at) * sizeof *names->images);
    names->images[at] = new;
    names->count++;
    return &names->images[at];
}

/* Fills the procedure from the last symbol that starts at or before the offset, if it reaches
 * there; one of no known size reaches to the next. */
static void locate_symbol(const struct named_image *image, uint64_t offset,
                          struct location *location) {
    size_t low = first_where(i, image->symbol_count, image->symbols[i].start > offset);
    if (!low)
        return;
    const struct code_symbol *symbol = &image->symbols[low - 1];
    uint64_t next = low < image->symbol_count ? symbol[1].start : UINT64_MAX;
    uint64_t size = symbol->size ? symbol->size : next - symbol->start;
    if (offset - symbol->start >= size)
        return;
    uint64_t rest = size - (offset - symbol->start);
    location->function = symbol->name;
    location->function_offset = symbol->start;
    location->function_size = size;
    location->function_rest = rest < next - offset ? rest : next - offset;
}

static bool locate(struct image_names *names, const struct store_image *image, uint64_t offset,
                   bool source, struct location *location, struct error *error) {
    *location = (struct location){0};
    const struct named_image *found = find_image(names, image, error);
    if (!found)
        return false;
    if (source)
        program_locate(names->program, found->file, offset, location);
    else
        program_locate_function(names->program, found->file, offset, location);
    if (!location->function)
        locate_symbol(found, offset, location);
    if (image->kind == IMAGE_SOURCE) {
        location->file = image->path;
        location->line = source_line(offset);
        location->function_line = source_first_line(location->function_offset);
    }
    return true;
}

bool image_names_locate(struct image_names *names, const struct store_image *image, uint64_t offset,
                        struct location *location, struct error *error) {
    return locate(names, image, offset, true, location, error);
}

bool image_names_locate_procedure(struct image_names *names, const struct store_image *image,
                                  uint64_t offset, struct location *location, struct error *error) {
    return locate(names, image, offset, false, location, error);
}

uint32_t image_names_file(struct image_names *names, const struct store_image *image) {
    struct error error;
    const struct named_image *found = find_image(names, image, &error);
    if (!found || (found->symbol_count && program_image_note(names->program, found->file)))
        return UINT32_MAX;
    return found->file;
}

const char *image_names_note(struct image_names *names, const struct store_image *image) {
    struct error error;
    const struct named_image *found = find_image(names, image, &error);
    if (!found || found->symbol_count)
        return NULL;
    if (found->file != UINT32_MAX)
        return program_image_note(names->program, found->file);
    switch (image->kind) {
    case IMAGE_FILE:
        return image->path[0] == '/' ? "its file system went away with the process that used it"
                                     : NULL;
    case IMAGE_KERNEL:
    case IMAGE_MODULE:
        return "its symbols could not be read when it was sampled (kernel.kptr_restrict)";
    case IMAGE_JIT:
        return "its program left no map of what it compiled (/tmp/perf-PID.map)";
    default:
        return NULL;
    }
}
