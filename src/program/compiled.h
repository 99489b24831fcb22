/* Inside of this room: the code of a file in pieces, each with where a compiler has it from, in the
 * terms of its profiles: lines behind a function's declaration, discriminators, and the calls that
 * were inlined. */
#pragma once

#include "program/elf_image.h"
#include "program/program.h"

/* As program_each_piece(). */
bool compiled_each_piece(const struct elf_image *file, program_touched *touched,
                         program_piece_visitor *visit, void *context);
