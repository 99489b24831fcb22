/* Options of what is printed: forms, tables, words, by what. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options/exit_status.h"
#include "options/options.h"
#include "util/file_name.h"

/* A device takes both the report and the picture. */
static bool same_file(const char *one, const char *other) {
    struct stat status;
    const bool there = stat(one, &status) == 0;
    if (!strcmp(one, other))
        return !there || !S_ISCHR(status.st_mode);
    return there && S_ISREG(status.st_mode) && file_is_at(&status, other);
}

void options_check_output(struct argp_state *state, void *request) {
    const struct output_options *output = request;
    if (output->output && output->svg && same_file(output->output, output->svg))
        options_fail(state, "--svg %s: the report goes there (--output)", output->svg);
    if (output->html && output->output && same_file(output->output, output->html))
        options_fail(state, "--html %s: the report goes there (--output)", output->html);
    if (output->html && output->svg && same_file(output->svg, output->html))
        options_fail(state, "--html %s: the picture goes there (--svg)", output->html);
}

struct printed {
    struct output_options output;
};
#define REQUEST struct printed
static const struct option_row REPORT_OPTIONS[] = {OUTPUT_ROWS(4, output), {0}};
static const struct option_row HTML_OPTIONS[] = {HTML_ROW(output), {0}};
static const struct option_row OUTPUT_OPTIONS[] = {
    OUTPUT_ROWS(3, output),
    HTML_ROW(output),
    COUNT("top", "N", output.top, "Rows per table (default 10; 0: all)"),
    {0}};
static const struct option_row LEGEND_OPTIONS[] = {
    FLAG("brief", output.brief, "The answer in at most 25 lines", .group = 3, .not_again = true),
    FLAG("legend", output.legend,
         "Explain the words of the report, as the first on a terminal does; without a command, all",
         .group = 3, .not_again = true),
    {0}};
#undef REQUEST

static void begin_output(void *request) {
    ((struct output_options *)request)->top = 10;
}

const struct option_group report_group = {.options = REPORT_OPTIONS, .end = options_check_output};
const struct option_group html_group = {.options = HTML_OPTIONS};
const struct option_group output_group = {
    .options = OUTPUT_OPTIONS, .begin = begin_output, .end = options_check_output};
static void check_brief(struct argp_state *state, void *request) {
    const struct output_options *output = request;
    if (output->brief && output->json)
        options_fail(state, "--brief and --json: one or the other");
}

void options_explain_words(void) {
    const struct page page = page_of(stdout, false);
    report_text_words(&page);
    exit(fflush(stdout) == 0 ? 0 : STATUS_FAILED);
}

const struct option_group legend_group = {.options = LEGEND_OPTIONS, .end = check_brief};

static const char *const GRAINS[] = {
    [BY_FUNCTION] = "function", [BY_LINE] = "line",    [BY_INSTRUCTION] = "instruction",
    [BY_IMAGE] = "image",       [BY_LOOP] = "loop",    [BY_PATH] = "path",
    [BY_FIELD] = "field",       [BY_OBJECT] = "object"};
struct grain {
    enum report_by by;
};
#define REQUEST struct grain
static const struct option_row GRAIN_OPTIONS[] = {
    CHOICE("by", "GRAIN", by,
           "function (default), line, instruction, image, loop, path (who called whom), field (of "
           "structs, by debug information) or object (which data missed)",
           GRAINS, .group = 3),
    {0}};
#undef REQUEST
const struct option_group grain_group = {.options = GRAIN_OPTIONS};
