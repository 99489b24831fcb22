#include "options/save_options.h"

#include "exchange/push.h"
#include "options/options.h"

static void take_format(struct argp_state *state, void *request, char *value) {
    struct save_options *options = request;
    options->run_format = run_format_find(value);
    if (!options->run_format && !exchange_format_find(value, &options->format))
        options_fail(state, "--format %s: one of " EXCHANGE_FORMAT_NAMES ", " RUN_FORMAT_NAMES,
                     value);
    options->format_given = true;
}

static void take_url(struct argp_state *state, void *request, char *value) {
    if (!push_is_url(value))
        options_fail(state, "--push %s: an address is http://HOST:PORT or https://...", value);
    ((struct save_options *)request)->push = value;
}

#define REQUEST struct save_options
static const struct option_row OPTIONS[] = {
    HEADING(8, "Keep the profile:"),
    FLAG("save", save,
         "Save the cycles of every instruction in the store, for 'culprit top' and 'culprit diff'"),
    STORE_ROW(store),
    WRITTEN_FILE("export", "FILE", export,
                 "Write the profile there, with who called whom, in the --format of another tool",
                 .not_again = true),
    TAKE("format", "NAME", take_format,
         "Of --export: " EXCHANGE_FORMAT_NAMES ", " RUN_FORMAT_NAMES " (default: what the file's "
         "name ends in, else callgrind)",
         .not_again = true),
    TAKE("push", "URL", take_url,
         "Send the profile to this collector of OpenTelemetry (OTLP over HTTP)", .not_again = true),
    {0}};

static void begin(void *request) {
    ((struct save_options *)request)->format = EXCHANGE_CALLGRIND;
}

/* The format that the file's name ends in. */
static void guess_format(struct save_options *options) {
    enum exchange_format format;
    options->run_format = run_format_of_file(options->export);
    if (!options->run_format && exchange_format_of_file(options->export, &format))
        options->format = format;
}

static void check(struct argp_state *state, void *request) {
    struct save_options *options = request;
    if (options->store && !options->save)
        options_fail(state, "--store: it says where to save, not that (add --save)");
    if (options->format_given && !options->export)
        options_fail(state, "--format: of the file of --export, which is missing");
    if (options->export && !options->format_given)
        guess_format(options);
}

const struct option_group save_group = {.options = OPTIONS, .begin = begin, .end = check};
