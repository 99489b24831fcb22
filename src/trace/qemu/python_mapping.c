/* Interpreters of Python in what a traced process maps. */
#include <string.h>

#include "program/elf_image.h"
#include "trace/qemu/capture.h"

/* Where what is linked at `address` lies in the process; 0: nowhere near. */
static bool find_bias(const struct elf_image *elf, const struct image_mapping *mapping,
                      uint64_t address, uint64_t *bias) {
    uint64_t offset;
    if (!elf_image_address_to_offset(elf, address, &offset) || offset < mapping->file_offset ||
        offset - mapping->file_offset >= mapping->end - mapping->start)
        return false;
    *bias = mapping->start + (offset - mapping->file_offset) - address;
    return true;
}

static void say_unknown(struct capture *capture, const struct python_image *python,
                        const char *path) {
    char text[512];
    python_image_say_unknown(python, path, text, sizeof text);
    if (!capture->python_unknown)
        capture_note(capture, "%s", text);
    capture->python_unknown = true;
}

/* The file that is at the path now; if it is another one, the objects found in the process are of
 * no type that is known. */
struct ring_python python_in_mapping(struct capture *capture, const struct image_mapping *mapping) {
    const struct image *image = &capture->images.items[mapping->image];
    struct ring_python found = {0};
    struct python_image python;
    struct elf_image elf = {0};
    struct error ignored;
    uint64_t bias;
    if (!capture->addresses || image->kind != CODE_IMAGE_FILE || !python_may_be_in(image->path) ||
        !elf_image_open(&elf, image->path, &ignored))
        return found;
    if (python_image_read(&elf, &python)) {
        if (!python.known)
            say_unknown(capture, &python, image->path);
        else if (python.loop && find_bias(&elf, mapping, python.loop, &bias))
            found = (struct ring_python){.loop = python.loop + bias,
                                         .code_type = python.code_type + bias,
                                         .text_type = python.text_type + bias,
                                         .bytes_type = python.bytes_type + bias,
                                         .layout = python.layout};
    }
    elf_image_close(&elf);
    return found;
}
