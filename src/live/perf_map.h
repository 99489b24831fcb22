/* Symbols of code that a process makes while it runs, as runtimes write them to
 * /tmp/perf-PID.map: lines of start and size in hexadecimal, and a name. */
#ifndef CULPRIT_LIVE_PERF_MAP_H
#define CULPRIT_LIVE_PERF_MAP_H

#include <sys/types.h>

#include "live/proc_files.h"
#include "live/symbol_cover.h"

/* Lines that are none are left out, and what is beyond 64 MB. False: out of memory. */
bool perf_map_read(int file, struct symbol_cover *cover);

/* The map of a process, in its own mount namespace while it lives, else in ours; −1: there is none,
 * or it is not its user's. */
int perf_map_open(const struct live_roots *roots, uint32_t pid, uint32_t inner_pid, uid_t user);

#endif
