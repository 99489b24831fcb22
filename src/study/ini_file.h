/* The keys of an INI file, each handed over with its section. */
#pragma once

#include "util/error.h"

struct ini_file {
    const char *path;
    const char *section; /* what it is called: "section", "pair" */
    /* False with an error, which is told with file and line; no key behind it is taken. */
    bool (*take)(void *context, const char *section, const char *key, const char *value,
                 struct error *error);
    void *context;
};

/* False with an error that names file and line. */
bool ini_file_read(const struct ini_file *file, struct error *error);
