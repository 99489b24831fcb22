/* culprit samples: what is in a file of TIP's or TEA's samples, one after the other, as perf script
 * shows perf's. */
#include "report/samples.h"
#include "cmd/cmd.h"
#include "cmd/verb.h"

struct job {
    struct verb_run verb;
    const char *path;
};

static bool take_path(struct argp_state *state, void *given, char *value) {
    options_take_one(state, &((struct job *)given)->path, value);
    return true;
}

static void check(struct argp_state *state, void *request) {
    if (!((struct job *)request)->path)
        options_fail(state, "which file of samples?");
}

static const struct option_part PARTS[] = {{&report_group, offsetof(struct job, verb.output)}, {0}};

static const struct command_line LINE = {
    .own = {.argument = take_path, .end = check},
    .parts = PARTS,
    .arguments = "FILE",
    .help = "Shows the samples of TIP or TEA that 'culprit sim --tap' wrote: when, how many "
            "cycles, the commit state, and the instructions that share them, with TEA's events."
            "\vExample:\n  culprit sim --limit 20M --tap tea:gzip.samples -- gzip -9c /bin/bash "
            ">gz\n  culprit samples gzip.samples\n\n"
            "FILE may be - for standard input."};

static bool prepare(void *verb, struct error *error) {
    return verb_open_report(verb, error);
}

/* What could be read of a damaged file is kept. */
static bool print(void *verb, struct error *error) {
    struct job *job = verb;
    return samples_print(job->path, job->verb.output.json, job->verb.files.report.file, error) ||
           verb_report_late(&job->verb, error);
}

const struct verb verb_samples = {
    .line = &LINE, .size = sizeof(struct job), .prepare = prepare, .report = print};
