/* Where the report and the picture of a verb go. */
#pragma once

#include "options/options.h"
#include "report/html.h"
#include "report/page.h"
#include "report/paths.h"
#include "util/output.h"

/* Writes the report of `sim` and `explain`, as text or as JSON; with a legend when the options ask
 * for it, or on a terminal the first time (legend.h). */
bool output_report(struct output *output, struct report *report,
                   const struct output_options *options, struct error *error);
/* The page that the file is. */
struct page output_page(const struct output *output);

/* What is shown beside call paths. */
static inline struct paths_shown options_paths_shown(const struct output_options *options) {
    return (struct paths_shown){
        .by = options->by, .top = options->top, .json = options->json, .page = options->html};
}

/* What --output and --svg of a verb name. Without --output the report goes to standard output;
 * while a command runs, which has standard output, text goes to standard error. A JSON object, and
 * whatever --output - asks for, goes to standard output all the same and has it to itself: what the
 * command writes there goes to standard error. */
struct report_files {
    struct output report, picture; /* picture.file NULL: none was asked for */
    struct output page;            /* likewise */
    struct html html;              /* on that page; html.data NULL: none was asked for */
};
bool report_files_open(struct report_files *files, const struct output_options *options,
                       bool command, struct error *error);
bool report_files_close(struct report_files *files, struct error *error);
/* What could not be written: of a page the error of its data does not tell. */
void report_files_name_failure(const struct report_files *files, struct error *error);
void report_files_discard(struct report_files *files);
