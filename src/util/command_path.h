/* The file that a command runs. */
#pragma once

#include <stddef.h>

#include "util/error.h"

/* Looks `name` up in PATH as execvp() does, unless it has a slash. 0, or the errno that execvp()
 * would give. */
int command_find(const char *name, char *path, size_t size);

/* Says why the command `name` cannot be run: `reason` is of command_find() or execvp(). Returns the
 * exit status that a shell would end with: 127 when it cannot be found, else 126. */
int command_refused(const char *name, int reason, struct error *error);
