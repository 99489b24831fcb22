/* What a file without a build id is known by: a hash of its code. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands where a build id would: a mark, which no length of a build id in use has beside it, and
 * 128 bits over the executable segments, their addresses and sizes. */
enum { CODE_IDENTITY_BYTES = 17, CODE_IDENTITY_MARK = 'c' };

static inline bool is_code_identity(const uint8_t *id, size_t size) {
    return size == CODE_IDENTITY_BYTES && id[0] == CODE_IDENTITY_MARK;
}

/* Of an ELF file of 64 bits, which is read, never mapped: it may shrink meanwhile. False: it is
 * none, or cannot be read, or its code is larger than 1 GB. */
bool code_identity(int file, uint8_t id[CODE_IDENTITY_BYTES]);
