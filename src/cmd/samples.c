/* culprit samples: what is in a file of TIP's or TEA's samples, one after the other, as perf script
 * shows perf's. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "report/samples.h"

struct request {
    const char *path;
    struct output_options output;
};

static bool take_path(struct argp_state *state, void *given, char *value) {
    struct request *request = given;
    if (request->path)
        options_fail(state, "%s: one argument too many", value);
    request->path = value;
    return true;
}

static void check(struct argp_state *state, void *request) {
    if (!((struct request *)request)->path)
        options_fail(state, "which file of samples?");
}

static const struct option_part PARTS[] = {{&report_group, offsetof(struct request, output)}, {0}};

static const struct command_line LINE = {
    .own = {.argument = take_path, .end = check},
    .parts = PARTS,
    .arguments = "FILE",
    .help = "Shows the samples of TIP or TEA that 'culprit sim --tap' wrote: when, how many "
            "cycles, the commit state, and the instructions that share them, with TEA's events."
            "\vExample:\n  culprit sim --limit 20M --tap tea:gzip.samples -- gzip -9c /bin/bash "
            ">gz\n  culprit samples gzip.samples\n\n"
            "FILE may be - for standard input."};

int cmd_samples(int argc, char **argv) {
    struct request request = {0};
    struct error error = {0}, late = {0};
    struct output output = {0};
    free(options_parse(&LINE, argc, argv, &request));
    if (!output_open(&output, "--output", request.output.output, stdout, &error)) {
        print_error(&error);
        return STATUS_FAILED;
    }
    /* What could be read of a damaged file is kept. */
    bool good = samples_print(request.path, request.output.json, output.file, &error);
    if (!good)
        print_error(&error);
    if (!output_close(&output, &late)) {
        print_error(&late);
        good = false;
    }
    output_discard(&output);
    return good ? 0 : STATUS_FAILED;
}
