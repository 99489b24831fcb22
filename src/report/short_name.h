/* Names of functions in a column: shortened by what they are made of, before they are cut.
 *
 *     std::vector<Order, std::allocator<Order> >::push_back(Order&&)      the whole
 *     std::vector<Order, std::allocator<Order> >::push_back               without parameters
 *     std::vector<…>::push_back                                           without template
 * arguments …vector<…>::push_back                                               without outer
 * scopes
 *
 * Names of C++, Rust ("alloc::vec::Vec<T,A>::push"), Go ("net/http.(*conn).serve") and places
 * ("libc.so.6+0x98e2f", "ld.so, no function"), whose image is cut and whose end is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"

/* Replaces each of the names by one of at most `columns` ≥ 1 columns, in the arena: the longest of
 * its forms that fits. Names that differ stay different, where there are 2 columns or more: of
 * those that would look the same the part is shown by which they differ. False: out of memory. */
bool short_names(const char **names, size_t count, unsigned columns, struct arena *arena);

/* The same of one name, in prose or a line of its own; cut to the text's size, too. Returns `text`.
 */
char *short_name(const char *name, unsigned columns, char *text, size_t size);

/* Behind the name of a file: all its code that lies in no known function. */
extern const char short_name_outside[];
