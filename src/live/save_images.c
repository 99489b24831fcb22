/* The images that samples lie in, each added to the store when the first one does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "live/own_vdso.h"
#include "live/resolver_save.h"
#include "program/perf_map.h"
#include "util/array.h"

static bool add_image(struct save *save, const struct store_image *image, uint32_t *slot,
                      struct error *error) {
    struct saved_image saved = {.kind = image->kind, .kernel_image = KERNEL_MAP_NONE};
    if (!array_room(save->images, save->image_capacity, save->image_count + 1))
        return save_no_memory(error);
    if (!store_image(save->store, image, &saved.id, error))
        return false;
    save->images[save->image_count++] = saved;
    *slot = (uint32_t)save->image_count;
    return true;
}

static void copy_build_id(struct store_image *image, const struct build_id *id) {
    memcpy(image->build_id, id->bytes, id->size);
    image->build_id_size = id->size;
}

/* The image that was added last. */
static void name_by(struct save *save, struct sampled_names *names) {
    save->images[save->image_count - 1].names = names;
    save->images[save->image_count - 1].has_symbols = names->count;
}

bool save_file_image(struct save *save, uint32_t number, uint32_t **slot, struct error *error) {
    const struct tracked_file *file = &save->resolver->files.items[number];
    *slot = &save->file_images[number];
    if (**slot)
        return true;
    struct store_image image = {.kind = !tracked_file_is_source(file)       ? IMAGE_FILE
                                        : !strncmp(file->path, "[jit] ", 6) ? IMAGE_JIT
                                                                            : IMAGE_SOURCE,
                                .path = file->path,
                                .root = file->root};
    copy_build_id(&image, &file->build_id);
    if (!add_image(save, &image, *slot, error))
        return false;
    name_by(save, &save->resolver->files.items[number].names);
    return true;
}

/* The library that the kernel maps into every process is the one mapped here. */
static void own_vdso_build_id(struct build_id *id) {
    size_t size;
    const uint8_t *vdso = own_vdso(&size);
    id->size = 0;
    if (!vdso)
        return;
    const GElf_Ehdr *header = (const GElf_Ehdr *)vdso;
    const GElf_Phdr *segments = (const GElf_Phdr *)(vdso + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_NOTE &&
            build_id_of_notes(vdso + segments[i].p_offset, segments[i].p_filesz, id))
            return;
}

bool save_vdso_image(struct save *save, uint32_t **slot, struct error *error) {
    struct store_image image = {.kind = IMAGE_VDSO, .path = "[vdso]", .root = ""};
    struct build_id id;
    *slot = &save->vdso_image;
    if (**slot)
        return true;
    own_vdso_build_id(&id);
    copy_build_id(&image, &id);
    if (!add_image(save, &image, *slot, error))
        return false;
    name_by(save, &save->resolver->vdso_names);
    return true;
}

bool save_unknown_image(struct save *save, uint32_t **slot, struct error *error) {
    struct store_image image = {.kind = IMAGE_UNKNOWN, .path = "[unknown]", .root = ""};
    *slot = &save->unknown_image;
    return **slot || add_image(save, &image, *slot, error);
}

bool save_kernel_image(struct save *save, int number, uint32_t **slot, struct error *error) {
    const struct kernel_image *found = &save->kernel.images[number];
    struct store_image image = {
        .kind = number ? IMAGE_MODULE : IMAGE_KERNEL, .path = found->name, .root = ""};
    *slot = &save->kernel_images[number];
    if (**slot)
        return true;
    /* Addresses where nothing else is known, which mean nothing after the next boot, stay apart. */
    if (found->start)
        copy_build_id(&image, &found->build_id);
    if (!add_image(save, &image, *slot, error))
        return false;
    save->images[save->image_count - 1].kernel_image = number;
    return true;
}

bool save_jit_image(struct save *save, uint32_t number, uint32_t **slot, struct error *error) {
    const struct tracked_process *process = &save->resolver->processes.items[number];
    *slot = &save->jit_images[number];
    if (**slot)
        return true;
    char path[64];
    struct store_image image = {.kind = IMAGE_JIT, .path = path, .root = ""};
    int map = perf_map_open(save->resolver->roots.proc, save->resolver->roots.files,
                            process->key.pid, process->inner_pid, process->user);
    const char *command = process->command[0] ? process->command : "[unknown]";
    if (map < 0) {
        snprintf(path, sizeof path, "[jit] %s", command);
        return add_image(save, &image, *slot, error);
    }
    close(map);
    snprintf(path, sizeof path, "[jit] %s %" PRIu32, command, process->key.pid);
    image.build_id_size = sizeof process->key.start_ns + sizeof process->key.exec;
    memcpy(image.build_id, &process->key.start_ns, sizeof process->key.start_ns);
    memcpy(image.build_id + sizeof process->key.start_ns, &process->key.exec,
           sizeof process->key.exec);
    if (!add_image(save, &image, *slot, error))
        return false;
    save->images[save->image_count - 1].process = number;
    save->images[save->image_count - 1].has_symbols = true;
    return true;
}
