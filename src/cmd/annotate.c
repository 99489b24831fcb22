/* culprit annotate: one procedure, instruction by instruction (DCPI's dcpicalc). */
#include <string.h>

#include "cmd/annotate.h"
#include "cmd/cmd.h"
#include "trace/trace_name.h"

static const char *const VIEWS[] = {[ANNOTATE_HEAD] = "head", [ANNOTATE_TIP] = "tip"};

#define REQUEST struct annotate_job
static const struct option_row OPTIONS[] = {
    HEADING(2, "Which procedure:"),
    TEXT("event", "NAME", event,
         "Samples of this event (default: head of a simulated core in order, else the first)"),
    IMAGE_ROW(query.image),
    FLAG("all", all, "Every procedure that has enough of the samples, one by one"),
    PERCENT("least", query.least, "With --all: how much is enough (default 1)", .least = 1,
            .must = "percent of the samples, above 0 and at most 100", GIVEN(least_given)),
    HEADING(3, "What it is compared with:"),
    TEXT("machine", "NAME|FILE", machine,
         "Schedule and rules of this machine (default: that of the simulation; else of the "
         "processor that was sampled, see culprit-machines(1); boom-tea for riscv64 code)"),
    CHOICE("view", "head|tip", view,
           "Samples are at the oldest instruction (head), or shared by those that commit together "
           "(tip); default: of simulations tip for cycles, TIP and TEA, else head; live samples of "
           "out-of-order processors need neither",
           VIEWS),
    FLAG("exact", exact,
         "Executions as the simulation counted them, in place of estimates from the samples"),
    FLAG("simulate", simulate,
         "Run and simulate the command, or the trace, as culprit explain does, and show beside the "
         "samples (culprit record -- COMMAND first) what each instruction waits for there, and how "
         "often it is executed"),
    TEXT("simulated", "EPOCH", simulated_epoch,
         "The same from an epoch of the store (culprit explain --save)"),
    COUNT("top", "N", style.top,
          "Blocks with most cycles, others folded (default: 40 that have 0.1 %; 0: all with "
          "samples)",
          .group = 4), /* what to print */
    FLAG("full", style.full, "Blocks without samples as well"),
    FLAG("source", style.source, "Source lines between the instructions"),
    TEXT("cfg", "FILE", picture, "The control-flow graph, too, as a picture (SVG)"),
    {0}};

static bool take_procedure(struct argp_state *state, void *request, char *value) {
    struct annotate_job *job = request;
    struct input_options *input = &job->explain.run.input;
    const bool quoted = options_quoted(state);
    if (job->simulate && !quoted && trace_is_named(value))
        input->trace = value;
    else if (job->simulate && (quoted || job->query.text))
        input->command = options_take_command(state);
    else if (job->query.text)
        options_fail(state, "%s: one procedure at a time, or --all%s", value,
                     quoted ? "; a command with --simulate" : "");
    else
        job->query.text = value;
    return true;
}

static void begin(void *given) {
    struct annotate_job *job = given;
    explain_begin(&job->explain);
    job->explain.run.input.thread = -1;
    job->style.top = 40;
    job->query.least = 0.01;
}

static void check_request(struct argp_state *state, void *given) {
    struct annotate_job *job = given;
    if (job->run.store_options.store_count > 1)
        options_fail(state, "--store: one store at a time");
    sample_options_one_build(state, &job->run.samples);
    const struct input_options *input = &job->explain.run.input;
    if (job->simulate && !input->command && !input->trace)
        options_fail(state,
                     "--simulate: what? (culprit annotate PROCEDURE --simulate -- COMMAND...)");
    if (input->command && input->trace)
        options_fail(state, "%s: either a trace or a command, not both", input->trace);
    if (job->simulate && job->simulated_epoch)
        options_fail(state, "--simulated: either an epoch, or --simulate");
    if (job->exact && (job->simulate || job->simulated_epoch))
        options_fail(state, "--exact: of an epoch that was simulated itself, without --simulate%s",
                     job->simulate ? "" : "d");
    if (job->all && job->query.text)
        options_fail(state, "%s: one procedure, or --all?", job->query.text);
    const char *output = job->run.verb.output.output;
    if (job->picture && (!output || !strcmp(output, "-")))
        options_file(state, "--cfg", job->picture);
    if (job->all && job->picture)
        options_fail(state, "--cfg: of one procedure, not of --all");
    if (job->least_given && !job->all)
        options_fail(state, "--least: with --all only");
    if (!job->all)
        job->query.least = 0;
}

static const struct option_part PARTS[] = {
    {&store_group, offsetof(struct annotate_job, run.store_options)},
    {&sample_group, offsetof(struct annotate_job, run.samples)},
    {&report_group, offsetof(struct annotate_job, run.verb.output)},
    {&html_group, offsetof(struct annotate_job, run.verb.output)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_procedure, .end = check_request},
    .parts = PARTS,
    .arguments = "[PROCEDURE]\n[PROCEDURE] --simulate [--] COMMAND...\n"
                 "[PROCEDURE] --simulate TRACE.ctrace",
    .help = "Shows one procedure of the profiles in the store, instruction by instruction: "
            "samples, estimated executions and cycles, how long each instruction stalls and what "
            "can have caused it; then what all its cycles went to. PROCEDURE is a name, "
            "IMAGE:NAME, IMAGE+0xOFFSET as 'culprit top' shows it, or 0xADDRESS; without it the "
            "one with most samples."
            "\vExample:\n  culprit sim --save --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit annotate\n\n"
            "With --simulate the report goes to standard error, and the command keeps standard "
            "output and its exit status, as with culprit explain."};

static const struct verb SIMULATE = {.prepare = annotate_simulate_prepare,
                                     .run = annotate_simulate_run,
                                     .report = annotate_report,
                                     .free = annotate_simulate_free};

static bool prepare(void *job, struct error *error) {
    return profile_prepare(job, error) && annotate_read_simulated(job, error);
}

static void free_job(void *verb) {
    struct annotate_job *job = verb;
    profile_set_free(&job->simulated);
    profile_free(&job->run);
}

static const struct verb *choose(void *job) {
    return ((struct annotate_job *)job)->simulate ? &SIMULATE : &verb_annotate;
}

const struct verb verb_annotate = {.line = &LINE,
                                   .size = sizeof(struct annotate_job),
                                   .command =
                                       offsetof(struct annotate_job, explain.run.input.command),
                                   .choose = choose,
                                   .prepare = prepare,
                                   .report = annotate_report,
                                   .free = free_job};
