/* Whether a function is the one that a person names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `name` (of `length` bytes) is all of the demangled `function`, or all but its parameters: "f" is
 * "f(int)". */
bool function_is_named(const char *function, const char *name, size_t length);

/* Whether `name` is the function's name without namespaces, classes, template arguments, return
 * type and parameters, or with some of them: of "int Ns::Class<A, B>::classify<C>(A const&) const"
 * these are "classify", "Class::classify", "Ns::Class<A, B>::classify" and others. */
bool function_ends_in(const char *function, const char *name, size_t length);
