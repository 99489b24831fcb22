/* Where a report or picture goes. A file is written under a temporary name beside the target and
 * renamed when it is complete, if the target is a regular file or absent; a device or pipe is
 * written directly. The file is made at the start, so that a run does not end in "permission
 * denied". */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "report/page.h"
#include "util/error.h"

struct output {
    FILE *file;
    bool wide;                     /* tables are as wide as they need */
    bool taken;                    /* file is standard output, which the command does not have */
    const char *option;            /* that gave the path, for errors */
    const char *path;              /* NULL: a standard stream */
    char target[PATH_MAX];         /* what the temporary file is renamed to */
    char temporary[PATH_MAX + 32]; /* empty: written directly */
};

/* `path` NULL: `standard`; "-": standard output. */
bool output_open(struct output *output, const char *option, const char *path, FILE *standard,
                 struct error *error);

/* Writes the report of `sim` and `explain`, as text or as JSON; with a legend when the options ask
 * for it, or on a terminal the first time (legend.h). */
struct report;
struct output_options;
bool output_report(struct output *output, struct report *report,
                   const struct output_options *options, struct error *error);
/* The page that the file is. */
struct page output_page(const struct output *output);
/* Flushes, closes and renames. */
bool output_close(struct output *output, struct error *error);
/* Leaves nothing behind. May follow output_close. */
void output_discard(struct output *output);

/* What --output and --svg of a verb name. Without --output the report goes to standard output;
 * while a command runs, which has standard output, text goes to standard error. A JSON object, and
 * whatever --output - asks for, goes to standard output all the same and has it to itself: what the
 * command writes there goes to standard error. */
struct report_files {
    struct output report, picture; /* picture.file NULL: none was asked for */
};
bool report_files_open(struct report_files *files, const struct output_options *options,
                       bool command, struct error *error);
bool report_files_close(struct report_files *files, struct error *error);
void report_files_discard(struct report_files *files);
