/* What an image holds at its addresses before the program runs, read from its file a piece at a
 * time. */
#pragma once

#include "program/elf_image.h"

struct relocation { /* of eight bytes */
    uint64_t address;
    uint64_t value; /* as linked */
    bool known;     /* else it depends on other images, or on the machine */
};

struct contents {
    struct relocation *relocations; /* by address */
    size_t relocation_count;
    bool prepared;    /* the relocations were read */
    uint8_t *piece;   /* of the file; NULL: none was read yet */
    uint64_t address; /* of its first byte */
    size_t piece_size;
};

/* See program_read(). The image may be released, and is afterwards if it was. False: memory is out
 * as well. */
bool contents_read(struct contents *contents, struct elf_image *image, uint64_t address,
                   void *bytes, size_t size);
void contents_free(struct contents *contents);
