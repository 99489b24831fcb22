/* Inside of the machine room: where machines are found. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* Calls `visit` with each directory machines are searched in, best first, until it returns true.
 * Returns whether it did. */
bool find_directories(bool (*visit)(const char *directory, void *context), void *context);

/* True for what machine_load takes as a path: it has a '/' or ends in ".ini". */
bool find_is_path(const char *name);

/* Opens machine `name` from `beside` (a directory, or NULL) or the search path, passing over files
 * for which `skip` returns true. -1 and an error when there is none. The path goes to `path`. */
struct stat;
int find_open(const char *name, const char *beside,
              bool (*skip)(const struct stat *status, void *context), void *context, char *path,
              size_t path_size, struct error *error);
