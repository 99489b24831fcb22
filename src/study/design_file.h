/* The programs, machines and settings of a sweep, from an INI file:
 *
 *     [program gzip]
 *     command = gzip -9c /bin/bash
 *     [sweep]
 *     machine = zen4, zen5
 *     cost = l2.size/1M + core.rob/128
 *     [set]
 *     l2.size = 256K, 512K, 1M
 *
 * The words of a command are separated by spaces; a trace is named in place of one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum { DESIGN_FILE_PROGRAMS = 100, DESIGN_FILE_SETTINGS = 16 };

struct design_file {
    struct design_file_program {
        char *name, *command; /* neither is empty */
    } programs[DESIGN_FILE_PROGRAMS];
    size_t program_count;
    char *machines;                       /* "zen4, zen5"; NULL: none are named */
    char *cost;                           /* NULL: none is given */
    char *settings[DESIGN_FILE_SETTINGS]; /* "l2.size=256K, 512K, 1M" */
    size_t setting_count;
};

/* False, with an error that names file and line. design_file_free() either way. */
bool design_file_read(struct design_file *design, const char *path, struct error *error);
void design_file_free(struct design_file *design);
