/* The file that a command runs. */
#pragma once

#include <stddef.h>

/* Looks `name` up in PATH as execvp() does, unless it has a slash. 0, or the errno that execvp()
 * would give. */
int command_find(const char *name, char *path, size_t size);
