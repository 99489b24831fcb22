/* A program that is started beside this one. */
#pragma once

#include <sys/types.h>

/* Starts it with the words of its command, the first of which is looked for on the path: in a
 * process group of its own, with signals as they are by default, also where this thread takes none,
 * with an empty standard input, and with its outputs to these descriptors. −1: what it writes goes
 * nowhere, and its errors where this process's go. 0, or errno if it was not started. */
int spawn(char *const *words, int output, int error_output, pid_t *child);
