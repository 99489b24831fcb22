/* Pairs of builds to compare, from an INI file, a section each:
 *
 *     [parse]
 *     old = ./parse.old
 *     new = ./parse
 *     arguments = rows.csv
 *
 * `old` and `new` are what culprit compare takes; words are separated by spaces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct suite_entry {
    char *name, *old, *new;
    char *arguments; /* NULL: none */
};

enum { SUITE_MOST = 1000 };
struct suite_file {
    struct suite_entry *entries; /* each with `old` and `new` */
    size_t count, capacity;
};

/* False, with an error that names file and line. suite_file_free() either way. */
bool suite_file_read(struct suite_file *suite, const char *path, struct error *error);
void suite_file_free(struct suite_file *suite);
