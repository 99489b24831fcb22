/* Writes a file packed as its name says: .gz, .xz, else plain. It has its name when it is complete.
 * Inside of this room. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct pack;
/* "-": standard output, plain. */
struct pack *pack_open(const char *path, struct error *error);
bool pack_bytes(struct pack *pack, const uint8_t *bytes, size_t size, struct error *error);
uint64_t pack_written(const struct pack *pack); /* bytes, packed */
/* Frees it whatever it returns; `keep` false: leaves no file. */
bool pack_close(struct pack *pack, bool keep, uint64_t *written, struct error *error);
