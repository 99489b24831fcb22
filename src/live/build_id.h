/* Build ids, from bytes that may be hostile. Files are read, never mapped: they may shrink
 * meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/elf_image.h"

struct build_id {
    uint8_t bytes[BUILD_ID_MAX];
    size_t size; /* 0: none */
};

/* The build id in a note section or segment, such as /sys/kernel/notes. False: there is none in it.
 */
bool build_id_of_notes(const uint8_t *notes, size_t size, struct build_id *id);

/* The build id of an ELF file of this byte order, 32 or 64 bits. False: it is not such a file, or
 * has none. */
bool build_id_of_file(int file, struct build_id *id);

/* The build id in a file that holds nothing but notes. */
bool build_id_of_notes_file(const char *path, struct build_id *id);
