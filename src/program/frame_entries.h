/* The frame description entries (FDE) of an image: each covers one function, or one part of it that
 * the compiler moved away, and tells how its caller's registers are found (Linux Standard Base,
 * "Exception Frames"; DWARF 5, "Call Frame Information"). They are read from .eh_frame, which
 * stripped programs keep because C++ exceptions need it; where a file has no section headers, from
 * what PT_GNU_EH_FRAME leads to; where there is no .eh_frame either, from .debug_frame. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "program/elf_image.h"

struct frame_bytes {
    const uint8_t *next, *end;
};

/* Numbers of DWARF. False: they reach beyond the end, or are longer than 64 bits. */
bool frame_bytes_uleb(struct frame_bytes *bytes, uint64_t *value);
bool frame_bytes_sleb(struct frame_bytes *bytes, int64_t *value);
/* A little-endian number of 1, 2, 4 or 8 bytes. */
bool frame_bytes_fixed(struct frame_bytes *bytes, unsigned size, uint64_t *value);

struct frame_entry {
    uint64_t start, end;            /* addresses in an executable segment, end exclusive */
    const Dwarf_CIE *common;        /* the entry's CIE; lives during the visit */
    struct frame_bytes first, rest; /* instructions: of the CIE, then of the FDE */
    bool is_signal;                 /* the kernel made the frame, for a signal ('S') */
};

/* The visitor's false ends the walk. Entries that are damaged are left out. */
typedef bool frame_entry_visitor(void *context, const struct frame_entry *entry);
void frame_entries_visit(const struct elf_image *image, frame_entry_visitor *visit, void *context);
