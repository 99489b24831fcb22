/* Functions that never return to their caller, by the names they are known by: those of the C, C++,
 * Rust and Go libraries and of the kernel. */
#pragma once

#include <stdbool.h>

/* A name as in a symbol table or demangled, with or without "@plt", a version ("@@GLIBC_2.2.5") and
 * parameters. NULL: false. */
bool name_never_returns(const char *name);
