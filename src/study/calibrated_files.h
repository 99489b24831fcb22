/* What was measured of a processor as a machine file, with a table of forms beside it. */
#pragma once

#include <limits.h>

#include "study/calibrate.h"
#include "util/output.h"

struct calibrated_files { /* all zero at first */
    struct output machine;
    struct output forms;       /* .file NULL: none is wanted */
    char forms_path[PATH_MAX]; /* FILE.forms for FILE.ini */
};

/* Before anything is measured: `path` of the machine file. The table is beside it if forms are a
 * part that is wanted, and unless it is a pipe, terminal or standard output; an error, if it could
 * not be named in a machine file. calibrated_files_discard() either way. */
bool calibrated_files_open(struct calibrated_files *files, const struct calibrate_run *run,
                           const char *path, struct error *error);
bool calibrated_files_write(struct calibrated_files *files, const struct calibrate_run *run,
                            struct error *error);
void calibrated_files_discard(struct calibrated_files *files);
