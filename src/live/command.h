/* A command that is stopped right before it runs, so that events can be opened on it. */
#pragma once

#include <sys/types.h>

#include "util/error.h"

struct command {
    pid_t pid;
    int process; /* becomes readable when it has ended; −1: this kernel has no such descriptors */
    const char *name; /* its first word */
    int go, refused;
};

/* The command is found in PATH. Its standard streams are these descriptors (0, and NULL for all
 * three: the caller's), and others that it could write to then go nowhere. */
bool command_start(struct command *command, char *const *words, const int descriptors[3],
                   struct error *error);

/* Lets it run. False: it cannot, and *exec_status is as of command_refused(). */
bool command_go(struct command *command, int *exec_status, struct error *error);

/* Before command_go() it never runs. Afterwards it runs on. */
void command_close(struct command *command);
