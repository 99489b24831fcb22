/* One daemon per machine: /run/culprit/daemon.lock, or daemon.lock in $CULPRIT_RUN, is locked
 * (flock) while a daemon lives and holds its process number as text. The kernel takes the lock from
 * a daemon that dies, so that a file left behind stops nobody. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/* The file of this name in $CULPRIT_RUN, or in /run/culprit without it. False: too long. */
bool daemon_run_path(const char *name, char path[PATH_MAX], struct error *error);

/* Takes the lock for this process and makes the folder when it is missing. A descriptor, closed on
 * exec, for daemon_lock_release(); -1 when another daemon runs, which the error names, or the file
 * cannot be made. A fork shares the lock: become a background process first. */
int daemon_lock_take(struct error *error);
void daemon_lock_release(int lock);

/* The daemon that runs now; 0: none; -1: cannot be found out. */
pid_t daemon_lock_pid(struct error *error);
