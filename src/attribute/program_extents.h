/* Where functions are, by symbols and unwind tables of the program's files. */
#pragma once

#include "attribute/memory_objects.h"
#include "attribute/path_functions.h"

struct program_extents;
/* NULL: out of memory. */
struct program_extents *program_extents_new(void);
void program_extents_free(struct program_extents *extents);
/* May be used by several threads at once. `inlined`: inlined functions are wanted. */
struct path_extents program_extents_of(struct program_extents *extents, bool inlined);
/* Variables and sections, likewise. Their names live as long as `extents`. */
struct object_names program_extents_names(struct program_extents *extents);
