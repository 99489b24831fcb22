#include "live/kernel_code.h"

#include <stdlib.h>
#include <string.h>

#include "live/kernel_memory.h"
#include "util/array.h"

static bool read_memory(void *context, uint64_t address, void *bytes, size_t size) {
    return kernel_memory_read(context, address, bytes, size);
}

static void release_memory(void *context) {
    kernel_memory_free(context);
}

/* NULL with an error: there is none of this name and build. */
static const struct kernel_image *find_image(const struct kernel_map *map, const char *name,
                                             const uint8_t *build_id, size_t build_id_size,
                                             struct error *error) {
    const size_t i = index_where(k, map->image_count, !strcmp(map->images[k].name, name));
    const struct kernel_image *image = i < map->image_count ? &map->images[i] : NULL;
    if (!image)
        return error_null(error, "%s is not in the kernel that runs now", name);
    if (!build_id_size || !image->build_id.size)
        return error_null(
            error, "%s: its code has no build id by which it could be told from another", name);
    if (image->build_id.size != build_id_size ||
        memcmp(image->build_id.bytes, build_id, build_id_size) != 0)
        return error_null(error,
                          "%s was sampled in another build than runs now, whose code cannot be "
                          "read any more",
                          name);
    if (map->hidden || !image->start)
        return error_null(error,
                          "%s: where its code lies is hidden (it needs CAP_SYSLOG, or "
                          "kernel.kptr_restrict 0)",
                          name);
    return image;
}

/* False: out of memory. */
static bool add_symbols(const struct kernel_map *map, const struct kernel_image *image,
                        struct program_memory *memory) {
    const uint32_t number = (uint32_t)(image - map->images);
    struct code_symbol *symbols = malloc((map->count + 1) * sizeof *symbols);
    memory->symbols = symbols;
    for (size_t i = 0; symbols && i < map->count; i++) {
        const struct kernel_symbol *symbol = &map->symbols[i];
        if (symbol->image != number || symbol->address < image->start)
            continue;
        uint64_t offset = symbol->address - image->start, end = offset + symbol->size;
        symbols[memory->symbol_count++] = (struct code_symbol){offset, symbol->size, symbol->name};
        if (end > memory->size)
            memory->size = end;
    }
    if (memory->size > UINT64_MAX - memory->address)
        memory->size = UINT64_MAX - memory->address;
    return symbols;
}

uint32_t kernel_code_add(struct program *program, const struct live_roots *roots,
                         const struct kernel_map *map, const char *name, const uint8_t *build_id,
                         size_t build_id_size, struct error *error) {
    const struct kernel_image *image = find_image(map, name, build_id, build_id_size, error);
    if (!image)
        return UINT32_MAX;
    struct kernel_memory *core = kernel_memory_open(roots, error);
    if (!core) {
        error_prefix(error, "%s: the kernel's code is in no file", name);
        return UINT32_MAX;
    }
    struct program_memory memory = {.name = name,
                                    .build_id = build_id,
                                    .build_id_size = build_id_size,
                                    .isa = kernel_memory_isa(core),
                                    .address = image->start,
                                    .size =
                                        image->end > image->start ? image->end - image->start : 0,
                                    .read = read_memory,
                                    .release = release_memory,
                                    .context = core};
    uint32_t number = UINT32_MAX;
    if (add_symbols(map, image, &memory))
        number = program_add_memory(program, &memory);
    else
        kernel_memory_free(core);
    free((void *)memory.symbols);
    if (number == UINT32_MAX)
        error_set(error, "out of memory for the kernel's code");
    return number;
}
