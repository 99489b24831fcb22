/* Names as the programmer wrote them: C++ (Itanium ABI) and Rust (v0, and legacy without its hash)
 * symbols demangled, symbol versions ("@@GLIBC_2.14") dropped, all else unchanged. */
#pragma once

#include "util/arena.h"

/* The readable form of a symbol's name, in the arena, or `name` itself when there is nothing to
 * change. A hostile name whose demangled form would be absurdly long stays as it is. */
const char *demangle(struct arena *arena, const char *name);
