/* The samples of a shotgun profiler in a file, with the code that they are of, so that fragments
 * can be constructed elsewhere and later. docs/shotgun-format.md is the specification.
 *
 *     shotgun_write("gzip.shotgun", &header, &database, &code, &error);
 *     shotgun_read("gzip.shotgun", &file, &error); ... shotgun_file_free(&file);
 *
 * Hostile files are refused with one error that names the byte; memory is bounded by the file's own
 * size. */
#pragma once

#include "shotgun/code.h"
#include "shotgun/database.h"

/* What was sampled; a NULL text is empty. */
struct shotgun_header {
    const char *machine, *command;
    const char *const *settings; /* changes of the machine, SECTION.KEY=VALUE each */
    uint32_t setting_count;
};

/* The code's instructions need their bytes only; it may be NULL where there are no samples. */
bool shotgun_write(const char *path, const struct shotgun_header *header,
                   const struct shotgun_database *database, const struct code *code,
                   struct error *error);

struct shotgun_file {
    struct shotgun_database database;
    struct shotgun_code code; /* not linked */
    char *machine, *command;
    char *settings; /* each with a line feed behind it */
};
/* shotgun_file_free() either way. */
bool shotgun_read(const char *path, struct shotgun_file *file, struct error *error);
void shotgun_file_free(struct shotgun_file *file);
