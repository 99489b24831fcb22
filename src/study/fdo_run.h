/* A run is counted, and a profile for compilers written of one of its files. */
#pragma once

#include <stdio.h>

#include "exchange/compiler_profile.h"
#include "region/executions.h"
#include "study/input.h"

struct fdo_image {
    uint32_t number; /* in executions.code.images */
    uint64_t instructions;
};

struct fdo_run {
    /* Set before. */
    struct watch *watch;
    const struct input_options *input;
    enum compiler_format format;
    const char *image; /* a path, or the last part of it; NULL: the program's own file */

    int failed; /* why a command could not be run, as an exit status; 0: it could */
    struct executions executions;
    struct executed_list insns, edges;
    struct fdo_image *images; /* that code was executed of, the most first */
    size_t image_count;
    const struct fdo_image *chosen;
    struct program *program;
    struct compiler_profile profile;
    bool relocations; /* are in the file, so that llvm-bolt can move functions */
};

/* Counts, and chooses a file. An interrupt ends it: what was executed until then is what is told.
 * Nothing is an error, and after an interrupt nothing of the program is. */
bool fdo_run_count(struct fdo_run *run, struct error *error);
/* Writes the profile. */
bool fdo_run_write(struct fdo_run *run, FILE *file, struct error *error);
void fdo_run_free(struct fdo_run *run);

static inline const char *fdo_image_path(const struct fdo_run *run, const struct fdo_image *image) {
    return run->executions.code.images[image->number].path;
}
