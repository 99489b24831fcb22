/* culprit fdo: what a run executes, as a profile for compilers. */
#include <limits.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "report/fdo_report.h"
#include "util/output.h"

struct job {
    struct verb_run verb;
    struct input_options input;
    const char *path;
    char name[NAME_MAX + 1]; /* room for the default path */
    struct output profile;
    struct fdo_run run;
};

static void begin(void *verb) {
    struct job *job = verb;
    job->input.traces_allowed = true;
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(4, "What to write:"),
    CHOICE("format", "FORMAT", run.format,
           "autofdo: for clang -fprofile-sample-use (default); bolt: for llvm-bolt; ranges: for "
           "AutoFDO's create_gcov and create_llvm_prof",
           compiler_format_names),
    WRITTEN_FILE("output", "FILE", path, "The profile (default: PROGRAM.afdo, .fdata or .ranges)",
                 .letter = 'o'),
    TEXT("image", "NAME", run.image,
         "Of this file, a library say: its path, or the last part of it (default: the program)",
         .least = 1),
    DURATION("for", "TIME", input.seconds,
             "Ask a command that would not end (a server) to end after this time (10s, 2min), with "
             "SIGTERM"),
    HEADING(5, "Other:"),
    FLAG("json", verb.output.json, "JSON in place of text, of what was written"),
    {0}};

static void check_input(struct argp_state *state, void *given) {
    const struct job *job = given;
    const struct input_options *input = &job->input;
    if (!input->command && !input->trace)
        options_fail(state, "what to profile? (culprit fdo [OPTION...] -- COMMAND..., or culprit "
                            "fdo FILE.ctrace)");
    if (input->trace &&
        (input->skip || input->limit || input->thread >= 0 || input->seconds || input->from))
        options_fail(state, "--skip, --limit, --from, --thread and --for: only while a command "
                            "runs; a trace is counted as it was captured");
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct job, input)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check_input},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nFILE.ctrace",
    .help = "Writes what a run executes as a profile that compilers read (feedback-directed "
            "optimisation): every block and every branch of it, counted, not sampled."
            "\vExamples:\n"
            "  culprit fdo -o sort.afdo -- ./sort big.txt\n"
            "  clang -O2 -fprofile-sample-use=sort.afdo sort.c\n"
            "  culprit fdo --format bolt -o sort.fdata -- ./sort big.txt\n"
            "  llvm-bolt sort -o sort.bolt -data=sort.fdata -reorder-blocks=ext-tsp\n\n"
            "The command keeps standard output and its exit status; 125 when culprit failed."};

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    if (!job->path && !input_default_path(&job->input, compiler_format_ending(job->run.format),
                                          "the profile", job->name, error))
        return false;
    job->path = job->path ? job->path : job->name;
    return output_open(&job->profile, "--output", job->path, NULL, error);
}

static bool profile(void *verb, struct error *error) {
    struct job *job = verb;
    struct fdo_run *run = &job->run;
    run->watch = &verb_watch;
    run->input = &job->input;
    interrupt_await(&job->input);
    const bool good = fdo_run_count(run, error);
    run->executions.complete &= !verb_watch.signal; /* the command may have ended by it, too */
    if (job->verb.command)
        job->verb.failed = run->failed;
    job->verb.measured = run->chosen;
    if (!good)
        return false;
    job->verb.exit = job->verb.command ? run->executions.exit : (struct trace_exit){.known = true};
    return fdo_run_write(run, job->profile.file, error) && output_close(&job->profile, error);
}

static bool print_result(void *verb, struct error *error) {
    const struct job *job = verb;
    FILE *file = job->input.trace ? stdout : stderr;
    if (job->verb.output.json)
        return fdo_report_json(&job->run, job->path, file, error);
    fdo_report_text(&job->run, job->path, file);
    return job->input.command || output_flush("standard output", error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    output_discard(&job->profile);
    fdo_run_free(&job->run);
}

const struct verb verb_fdo = {.line = &LINE,
                              .size = sizeof(struct job),
                              .command = offsetof(struct job, input.command),
                              .prepare = prepare,
                              .run = profile,
                              .report = print_result,
                              .free = clean_up};
