/* Code of the kernel that runs, from its memory, for profiles of the same build of it. */
#pragma once

#include "live/kernel_map.h"
#include "program/program.h"

/* Adds the kernel ("[kernel]") or a module ("[ext4]") to a program, with the procedures that it has
 * now; offsets are from its first byte of text, as profiles have them. UINT32_MAX, with an error
 * that begins with the name and says what is missing: another build runs now, the module is not
 * loaded, permission. The caller gives the map of `roots` that it read. */
uint32_t kernel_code_add(struct program *program, const struct live_roots *roots,
                         const struct kernel_map *map, const char *name, const uint8_t *build_id,
                         size_t build_id_size, struct error *error);
