/* Allocators that a traced program brings along, where its code is mapped: what is linked
 * statically, and what lies in the program itself, calls nothing that a preloaded library could
 * take the place of. */
#include <string.h>

#include "program/allocator_routines.h"
#include "program/elf_image.h"
#include "program/program.h"
#include "trace/qemu/capture.h"

/* A program that allocates nothing, or that nothing more can be known of, says nothing. */
static void say_unknown(struct capture *capture, const char *path) {
    struct executable executable;
    struct error ignored;
    if (capture->allocator_unknown || !executable_identify(path, &executable, &ignored) ||
        executable.dynamic)
        return;
    capture->allocator_unknown = true;
    capture_note(capture,
                 "%s is linked statically and has no symbol of an allocator: whose its heap is is "
                 "not known; keep its symbols, or link it dynamically",
                 path);
}

/* Moves the routines to where they lie in the process; drops those of other mappings. */
static uint32_t move_to(const struct elf_image *elf, const struct image_mapping *mapping,
                        struct allocator_routine *routines, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset;
        if (elf_image_address_to_offset(elf, routines[i].address, &offset) &&
            offset >= mapping->file_offset &&
            offset - mapping->file_offset < mapping->end - mapping->start)
            routines[kept++] = (struct allocator_routine){
                mapping->start + (offset - mapping->file_offset), routines[i].action};
    }
    return kept;
}

void allocators_in_mapping(struct capture *capture, const struct traced *process,
                           const struct image_mapping *mapping, struct ring_reply *reply) {
    const struct image *image = &capture->images.items[mapping->image];
    struct elf_image elf = {0};
    struct error ignored;
    if (!capture->control->objects || image->kind != CODE_IMAGE_FILE || !process->executable ||
        strcmp(image->path, process->executable) != 0 ||
        !elf_image_open(&elf, image->path, &ignored))
        return;
    const uint32_t count = allocator_routines_of(&elf, reply->routines);
    if (allocator_routines_none(reply->routines, count))
        say_unknown(capture, image->path);
    reply->routine_count = move_to(&elf, mapping, reply->routines, count);
    elf_image_close(&elf);
}
