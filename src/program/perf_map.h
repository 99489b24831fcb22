/* Symbols of code that a process makes while it runs, as runtimes write them to
 * /tmp/perf-PID.map: lines of start and size in hexadecimal, and a name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "program/symbol_cover.h"

/* Reads the symbols; skips lines that are not of this form, and what is beyond 64 MB. False: out of
 * memory. */
bool perf_map_read(int file, struct symbol_cover *cover);

/* The map of a process, in its own mount namespace while it lives, else in ours; −1: there is none,
 * or it is not its user's. `proc` is where /proc is, `files` what stands before /tmp. */
int perf_map_open(const char *proc, const char *files, uint32_t pid, uint32_t inner_pid,
                  uid_t user);
