/* Inside of this room: what readers of DWARF's scopes share. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>

enum { SCOPE_DEPTH_MAX = 128 }; /* of nested scopes; compilers stay below 100 */

/* Whether code may be described below a DIE of this kind. */
bool scope_holds_code(int tag);
/* The symbol of the function a DIE is an instance of; NULL: none is known. */
const char *scope_symbol(Dwarf_Die *die);
