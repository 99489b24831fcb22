/* Source lines and inlined functions of an image, from its DWARF. The index of compilation units is
 * built at the first lookup; a unit's lines and scopes when an address in it is first looked up;
 * after that a lookup is three binary searches. */
#pragma once

#include "program/elf_image.h"
#include "program/program.h"
#include "util/arena.h"

struct source;

/* Whether a file has debugging information. */
bool source_available(const struct elf_image *file);

/* Over the debugging information of `file`, which must outlive it. NULL: it has none, or memory is
 * out. */
struct source *source_new(const struct elf_image *file);
void source_free(struct source *source);

/* Of the unit that an address is in; `otherwise`: it is in none. */
enum program_language source_language(struct source *source, uint64_t address,
                                      enum program_language otherwise);

/* Fills location's file, line and inlined functions for an address; names go into the arena. */
void source_locate(struct source *source, uint64_t address, struct arena *arena,
                   struct location *location);
