/* One ELF file in memory, any machine and class: what the rest of the room asks of it. Everything
 * is reached through libelf, which checks offsets and sizes against the file. */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/error.h"

enum { BUILD_ID_MAX = 64 }; /* bytes; SHA-1 takes 20 */

struct elf_segment { /* a PT_LOAD segment */
    uint64_t address, file_offset;
    uint64_t file_size; /* bytes; address + file_size and file_offset + file_size do not wrap */
    bool executable;
};

struct elf_image {
    char *path;  /* NULL: never opened */
    void *bytes; /* the whole file: mapped, or malloc'ed when it was decompressed */
    size_t size;
    bool mapped;
    struct stat status; /* of a mapped file, when it was first opened */
    Elf *elf;           /* NULL: closed or released */
    GElf_Ehdr header;
    struct elf_segment *segments;
    size_t segment_count;
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size; /* 0: the file has none */
};

/* Opens and maps a regular file. On failure the image is closed
 * and the error names the file and the reason. */
bool elf_image_open(struct elf_image *image, const char *path, struct error *error);

/* The same for a file in malloc'ed memory, which the image then owns (also on failure). */
bool elf_image_open_memory(struct elf_image *image, void *bytes, size_t size, const char *path,
                           struct error *error);

/* Unmaps a file, so that it may change or shrink without harm: the struct keeps what it has, and
 * addresses can be translated, but sections cannot be read until elf_image_reopen(), which fails
 * when the file is no longer the same. */
void elf_image_release(struct elf_image *image);
bool elf_image_reopen(struct elf_image *image, struct error *error);

/* Reads from the file, also of a released image. False: the file is no longer the same, or shorter.
 */
bool elf_image_read(const struct elf_image *image, uint64_t file_offset, void *bytes, size_t size);

/* Allowed on a closed image. */
void elf_image_close(struct elf_image *image);

/* The first section of this name, and its header; NULL: none. */
Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *header);

/* The first section of this SHT_ type, and its header; NULL: none. */
Elf_Scn *elf_image_section_of_type(const struct elf_image *image, uint32_t type, GElf_Shdr *header);

/* Through the PT_LOAD segments, the executable ones first; false outside any. */
bool elf_image_offset_to_address(const struct elf_image *image, uint64_t file_offset,
                                 uint64_t *address);
bool elf_image_address_to_offset(const struct elf_image *image, uint64_t address,
                                 uint64_t *file_offset);

/* First address after `address` that is not in its executable segment; 0: in none. */
uint64_t elf_image_code_end(const struct elf_image *image, uint64_t address);
