/* Inside of the machine room: where machines are found. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

/* The user's own machines: $XDG_CONFIG_HOME/culprit, without it ~/.config/culprit. False: there is
 * no such place, or its path is too long. */
bool find_own_directory(char directory[PATH_MAX]);

/* Why a file of that directory is not to be read: it is another user's, or all may write it. NULL:
 * it may be read. */
const char *find_distrust(int file);

/* Calls `visit` with each directory machines are searched in, best first, until it returns true.
 * Returns whether it did. */
bool find_directories(bool (*visit)(const char *directory, void *context), void *context);

/* Opens machine `name` from `beside` (a directory, or NULL) or the search path, passing over files
 * for which `skip` returns true. -1 and an error when there is none. The path goes to `path`. */
struct stat;
int find_open(const char *name, const char *beside,
              bool (*skip)(const struct stat *status, void *context), void *context, char *path,
              size_t path_size, struct error *error);
