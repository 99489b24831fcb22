/* Whether a function is the one that a person names, and how it is named so that it can be. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `name` (of `length` bytes) is all of the demangled `function`, or all but its parameters: "f" is
 * "f(int)". */
bool function_is_named(const char *function, const char *name, size_t length);

/* Whether `name` is the function's name without namespaces, classes, template arguments, return
 * type, parameters and what the compiler puts behind it (".constprop.0", " [clone .isra.0]",
 * ".part.3",
 * ".cold"), or with some of them: of "int Ns::Class<A, B>::classify<C>(A const&) const" these are
 * "classify", "Class::classify", "Class<…>::classify", "Ns::Class<A, B>::classify" and others, of
 * "f.isra.0" "f" and itself. */
bool function_ends_in(const char *function, const char *name, size_t length);

/* Likewise with all its namespaces and classes: "Ns::Class::classify". */
bool function_is_scoped(const char *function, const char *name, size_t length);

/* The function's name with its namespaces and classes, and without return type and parameters, so
 * that function_ends_in() holds of it: "Ns::Class<A, B>::classify<C>", "f.isra.0". Of a name that
 * has no room the template arguments are "<…>"; what is still longer is cut. Returns `text`. */
char *function_scoped_name(char *text, size_t size, const char *function);

/* The last word of the name: "classify"; "" when it does not end in a word. Returns `text`. */
char *function_last_word(char *text, size_t size, const char *function);
