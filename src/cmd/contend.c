/* culprit contend: what programs that run beside each other do to each other in the caches that
 * they share, from what each is like alone. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/contend.h"
#include "cmd/interrupt.h"
#include "report/next.h"
#include "report/trace_notes.h"
#include "trace/trace_name.h"
#include "util/text.h"

static void begin(void *contend) {
    ((struct contend *)contend)->frames = true;
}

static void take_ipc(struct argp_state *state, void *given, char *list) {
    struct contend *job = given;
    if (!*list)
        options_fail(state, "--ipc: a number for each program, with commas between them");
    if (!contend_read_ipc(list, SHARING_MAX_WORDS, job->ipc, &job->ipc_count))
        options_fail(state, "--ipc %s: numbers above 0, with commas between them", list);
}

static void take_frames(struct argp_state *state, void *request, char *value) {
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        options_fail(state, "--frames %s: yes or no", value);
    ((struct contend *)request)->frames = *value == 'y';
}

#define REQUEST struct contend
static const struct option_row OPTIONS[] = {
    HEADING(4, "How they run:"),
    VALUE("together", run.options.placing, PLACE_TOGETHER,
          "Fill one core of a chip with threads after the other (default: over all cores in turn)"),
    TAKE("frames", "yes|no", take_frames,
         "Whether pages lie in frames that an operating system chose as if at random (default: "
         "yes); no: addresses are physical, and programs meet only in sets that both use"),
    TAKE("ipc", "N,...", take_ipc,
         "How many instructions per cycle each program executes, in their order (default: by a "
         "model)"),
    HEADING(5, "To measure a program once:"),
    TEXT("profile", "FILE", profile,
         "Save what the trace or command is like, to be given in its place"),
    TAKE("shapes", "SETSxWAYS,...", contend_take_shapes,
         "With --profile: of shared caches of these shapes, too"),
    STOP_ROW(stop),
    HEADING(6, "How good it is:"),
    FLAG("check", run.check, "Simulate the same, beside each other and alone; of chips; slow"),
    OUTPUT_ROWS(7, verb.output),
    HTML_ROW(verb.output),
    SVG_ROW(verb.output, "Draw each program's misses, alone and extra"),
    {0}};

static bool is_trace(const char *word) {
    return !strcmp(word, "-") || trace_is_named(word);
}

/* What --profile measures: a command is all that follows. */
static bool take_command(struct argp_state *state, void *given, char *word) {
    struct contend *job = given;
    if (!job->profile || job->given.word_count || (!options_quoted(state) && is_trace(word)))
        return false;
    job->command = options_take_command(state);
    return true;
}

/* An option that is of a report, which --profile makes none of; NULL: none is given. */
static const char *option_of_report(const struct contend *job) {
    return job->run.check                               ? "--check"
           : job->ipc_count                             ? "--ipc"
           : job->run.options.placing == PLACE_TOGETHER ? "--together"
           : job->verb.output.json                      ? "--json"
           : job->verb.output.output                    ? "--output"
           : job->verb.output.svg                       ? "--svg"
                                                        : NULL;
}

static void check_request(struct argp_state *state, void *given) {
    struct contend *job = given;
    const bool command = job->command;
    options_check_output(state, &job->verb.output);
    if (!command && job->given.word_count == 0)
        options_fail(state, "which programs? (culprit contend [OPTION...] FILE..., traces or "
                            "profiles of culprit contend --profile)");
    if (job->profile && job->given.word_count > 1)
        options_fail(state, "--profile: of one program at a time");
    if (job->profile && option_of_report(job))
        options_fail(state, "%s: of a report, and --profile makes none (leave it out)",
                     option_of_report(job));
    if (job->shape_count && !job->profile)
        options_fail(state, "--shapes: of what --profile measures");
    if (job->stop && (!command || !job->given.selection.limit))
        options_fail(state, "--stop: ends the command of --profile at --limit N");
    if (job->run.check && !job->frames)
        options_fail(state, "--check: the chip has page frames (leave out --frames no)");
}

static const struct option_part PARTS[] = {{&sharing_group, offsetof(struct contend, given)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_command, .end = check_request},
    .parts = PARTS,
    .arguments = "TRACE.ctrace|PROFILE[*COPIES]...\n--profile FILE TRACE.ctrace\n"
                 "--profile FILE -- COMMAND...",
    .help = "Predicts what programs that run beside each other do to each other in the cache that "
            "they share: misses that each would not have alone, from what each was like alone, for "
            "any number of them.\v"
            "Example:\n"
            "  culprit contend --profile gz.locality --limit 20M -- gzip -9c /bin/bash >gz\n"
            "  culprit contend --profile sort.locality --limit 20M -- sort /etc/services\n"
            "  culprit contend gz.locality 'sort.locality*7'\n"};

/* --profile is another life of the verb. */
static const struct verb *choose(void *verb) {
    return ((struct contend *)verb)->profile ? &contend_profile : &verb_contend;
}

static bool check_chip(const struct contend *job, struct error *error) {
    const struct machine *machine = job->run.options.machine;
    if (!machine_is_chip(machine))
        return error_set(error,
                         "--check: machine %s is no chip whose threads share a cache (choose "
                         "another with --machine, or leave out --check)",
                         machine->name);
    return locality_inputs_simulable(&job->run.inputs, error);
}

bool contend_prepare_machine(struct contend *job, struct error *error) {
    if (!machine_choice_load(&job->given.choice, &job->given.machine, error))
        return false;
    const struct machine *machine = machine_choice_of(&job->given.choice, ISA_X86_64, error);
    if (!machine)
        return false;
    job->run.options.machine = machine;
    return machine_shared_cache(machine) ||
           error_set(error, "machine %s has no cache beyond the L1 that could be shared",
                     machine->name);
}

static bool prepare(void *verb, struct error *error) {
    struct contend *job = verb;
    struct locality_inputs *inputs = &job->run.inputs;
    struct contend_options *options = &job->run.options;
    if (!contend_prepare_machine(job, error) ||
        !locality_inputs_list(inputs, job->given.words, job->given.word_count, error))
        return false;
    if (job->ipc_count && job->ipc_count != inputs->program_count)
        return error_set(error, "--ipc: %u number%s for %u program%s", job->ipc_count,
                         text_plural(job->ipc_count), inputs->program_count,
                         text_plural(inputs->program_count));
    if (job->run.check && !check_chip(job, error))
        return false;
    job->run.watch = &verb_watch;
    job->run.selection = job->given.selection;
    options->contention = job->given.contention;
    options->contention.sets_are_known = !job->frames;
    options->ipc = job->ipc_count ? job->ipc : NULL;
    return (!options->ipc ||
            contend_check_ipc(inputs->threads, inputs->thread_count, options, error)) &&
           verb_open_report(&job->verb, error);
}

static bool run(void *verb, struct error *error) {
    struct contend *job = verb;
    job->verb.measured = contend_run_go(&job->run, error);
    return job->verb.measured;
}

REPORT_PICTURE(draw, contend_svg)
REPORT_FORMS(CONTENTION, contend_json, contend_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct contend *job = verb;
    const struct contend_run *run = &job->run;
    const struct contend_check *checked = &run->checked;
    struct contend_report *report = &job->report;
    struct error none;
    *report = (struct contend_report){.report = {.verb = "contend",
                                                 .program = run->inputs.title,
                                                 .machine = run->options.machine,
                                                 .partial = checked->interrupted},
                                      .labels = run->inputs.labels,
                                      .programs = run->programs,
                                      .program_count = run->inputs.program_count,
                                      .thread_count = run->inputs.thread_count,
                                      .check = checked->programs && !checked->interrupted ? checked
                                                                                          : NULL,
                                      .options = &run->options};
    note_cut_programs(&report->report, &run->inputs);
    contend_note(report, run->check ? checked : NULL, run->inputs.instructions,
                 run->inputs.seconds);
    if (!run->check && job->frames && machine_is_chip(run->options.machine) &&
        locality_inputs_simulable(&run->inputs, &none))
        report->report.next = next_with_option("--check", job->verb.argc, job->verb.words);
    return verb_write_report(&job->verb, &CONTENTION, report, error);
}

static void clean_up(void *verb) {
    struct contend *job = verb;
    report_free(&job->report.report);
    contend_run_free(&job->run);
}

const struct verb verb_contend = {.line = &LINE,
                                  .size = sizeof(struct contend),
                                  .command = offsetof(struct contend, command),
                                  .choose = choose,
                                  .prepare = prepare,
                                  .run = run,
                                  .report = write_report,
                                  .free = clean_up};
