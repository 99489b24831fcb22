/* Where a report or picture goes. A file is written under a temporary name beside the target and
 * renamed when it is complete, if the target is a regular file or absent; a device or pipe is
 * written directly. The file is made at the start, so that a run does not end in "permission
 * denied". */
#ifndef CULPRIT_CMD_OUTPUT_H
#define CULPRIT_CMD_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

struct output {
    FILE *file;
    const char *option;            /* that gave the path, for errors */
    const char *path;              /* NULL: a standard stream */
    char target[PATH_MAX];         /* what the temporary file is renamed to */
    char temporary[PATH_MAX + 32]; /* empty: written directly */
};

/* `path` NULL: `standard`; "-": standard output. */
bool output_open(struct output *output, const char *option, const char *path, FILE *standard,
                 struct error *error);
/* A report, as text or as JSON. */
struct report;
bool output_report(struct output *output, const struct report *report, bool json,
                   struct error *error);
/* Flushes, closes and renames. */
bool output_close(struct output *output, struct error *error);
/* Leaves nothing behind. May follow output_close. */
void output_discard(struct output *output);

/* What --output and --svg of a verb name. */
struct output_options;
struct report_files {
    struct output report, picture; /* picture.file NULL: none was asked for */
};
/* Without a name the report goes to `standard`. */
bool report_files_open(struct report_files *files, const struct output_options *options,
                       FILE *standard, struct error *error);
bool report_files_close(struct report_files *files, struct error *error);
void report_files_discard(struct report_files *files);

/* What a verb writes when it was given no name: that of a file or program without its folder, and
 * without the ending `drop` (NULL: whatever it ends in), with `ending` behind it: "dir/gzip.ctrace"
 * -> "gzip.bb". False when that makes no file name. */
bool output_name(const char *from, const char *drop, const char *ending, char name[NAME_MAX + 1]);

#endif
