/* Where a report or picture goes: to a new file (util/new_file.h) where the target is a regular
 * file or absent; a device or pipe is written directly. The file is made at the start, so that a
 * run does not end in "permission denied". */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"
#include "util/new_file.h"

struct output {
    FILE *file;
    bool wide;                /* tables are as wide as they need */
    bool durable;             /* it is on the disk before it gets its name */
    bool taken;               /* file is standard output, which the command does not have */
    const char *option;       /* that gave the path, for errors */
    const char *path;         /* NULL: a standard stream */
    struct new_file new_file; /* without a temporary file: written directly */
};

/* `path` NULL: `standard`; "-": standard output. */
bool output_open(struct output *output, const char *option, const char *path, FILE *standard,
                 struct error *error);
/* Standard output for culprit alone: its programs get standard error in its place. */
bool output_take_standard(struct output *output, const char *option, struct error *error);
/* Flushes, closes and renames. */
bool output_close(struct output *output, struct error *error);
/* Of what was printed on standard output: whether all of it went there; `what` failed. */
bool output_flush(const char *what, struct error *error);
/* Leaves nothing behind. May follow output_close. */
void output_discard(struct output *output);
