#include "options/report_files.h"

#include <errno.h>
#include <string.h>

#include "report/legend.h"
#include "report/report.h"

static bool open_report(struct output *output, const struct output_options *options, bool command,
                        struct error *error) {
    const bool standard = options->output ? !strcmp(options->output, "-") : options->json;
    if (!command || !standard)
        return output_open(output, "--output", options->output, command ? stderr : stdout, error);
    return output_take_standard(output, "--output", error);
}

/* The first data of a page is the report. */
static bool open_page(struct report_files *files, const struct output_options *options,
                      struct error *error) {
    if (!options->html)
        return true;
    if (!output_open(&files->page, "--html", options->html, NULL, error))
        return false;
    html_begin(&files->html, files->page.file);
    return html_data(&files->html, "report", error);
}

bool report_files_open(struct report_files *files, const struct output_options *options,
                       bool command, struct error *error) {
    if (!open_report(&files->report, options, command, error))
        return false;
    files->report.wide = options->wide;
    if (!open_page(files, options, error))
        return false;
    if (!options->svg)
        return true;
    return output_open(&files->picture, "--svg", options->svg, NULL, error) &&
           ((files->picture.file != files->report.file &&
             !(files->report.taken && !files->picture.path)) ||
            error_set(error, "--svg -: the report goes to standard output (add --output FILE)"));
}

bool report_files_close(struct report_files *files, struct error *error) {
    return output_close(&files->report, error) &&
           (!files->picture.file || output_close(&files->picture, error)) &&
           (!files->html.file ||
            (html_end(&files->html, error) && output_close(&files->page, error)));
}

void report_files_name_failure(const struct report_files *files, struct error *error) {
    if (!files->html.failed)
        return;
    errno = files->html.failed;
    error_errno(error, "%s %s: cannot write", files->page.option, files->page.path);
}

void report_files_discard(struct report_files *files) {
    output_discard(&files->report);
    output_discard(&files->picture);
    html_discard(&files->html);
    output_discard(&files->page);
}

struct page output_page(const struct output *output) {
    return page_of(output->file, output->wide);
}

bool output_report(struct output *output, struct report *report,
                   const struct output_options *options, struct error *error) {
    if (options->json)
        return report_json(report, output->file, error);
    const struct page page = output_page(output);
    if (options->brief) {
        report_brief(report, &page);
        return true;
    }
    report->legend = options->legend || legend_is_new(output->file);
    report_text(report, &page);
    if (report->legend)
        legend_was_shown(output->file);
    return true;
}
