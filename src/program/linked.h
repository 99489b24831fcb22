/* Inside of this room: what a linker leaves in a file, as it has it. */
#pragma once

#include "program/elf_image.h"
#include "program/program.h"

/* As program_each_symbol() and program_has_relocations(); of a released file too. */
bool linked_each_symbol(struct elf_image *image,
                        bool (*visit)(void *context, const struct program_symbol *symbol),
                        void *context);
bool linked_has_relocations(struct elf_image *image);
