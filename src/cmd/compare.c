/* culprit compare: two builds of a program, or two runs of one, side by side. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/explain.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "report/compare_report.h"
#include "study/compare_run.h"
#include "study/layouts.h"

struct side {
    const char *word;   /* as typed */
    const char *report; /* a JSON file; NULL: it is run */
    char *copy, **command;
};

struct job {
    struct verb_run verb;
    struct input_options input; /* of commands and traces alike */
    struct machine_options machine;
    struct machine_choice machines;
    bool markdown;
    bool judged; /* the exit status tells whether it is slower, by more than a share */
    double fail_above;
    unsigned word_count;
    struct side sides[2];
    char **arguments;       /* of both commands; NULL: none */
    const char *relinks[2]; /* of each side */
    uint32_t relink_count;
    uint32_t layout_count; /* 1: the plain one */
    struct compare_run run;
    struct layouts_run layouts;
    struct compare_report report;
};

static void begin(void *verb) {
    struct job *job = verb;
    job->input.fixed = true;
    job->input.seed = 1;
    job->input.thread = -1;
    job->layout_count = 1;
}

static bool ends_in(const char *word, const char *ending) {
    const size_t length = strlen(word), tail = strlen(ending);
    return length > tail && !strcmp(word + length - tail, ending);
}

/* OLD; NEW and, behind it, arguments for both. */
static bool take_word(struct argp_state *state, void *verb, char *word) {
    struct job *job = verb;
    struct side *side = &job->sides[job->word_count++];
    side->word = word;
    if (job->word_count < 2)
        return true;
    job->arguments = options_take_command(state) + 1;
    if (job->arguments[0] && !strcmp(job->arguments[0], "--"))
        job->arguments++;
    return true;
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(1, "What part of each run:"),
    SKIP_ROW(input.skip),
    LIMIT_ROW(input.limit, "End after N instructions, which need not be the same work in both"),
    STOP_ROW(input.stop),
    FROM_ROW(input.from),
    FLAG("follow", input.follow, "Include the processes that the commands start"),
    NO_FLAG("no-repeatable", input.fixed,
            "Commands see this machine, with its clock and environment, and not the same "
            "environment in both runs"),
    LIST("env", "NAME[=VALUE]", input.variables, input.variable_count,
         "Commands also get this variable, with a value or the one it has here; may be repeated",
         .must = " variables"),
    LAYOUTS_ROWS(layout_count, layouts.jobs, "Simulate both under N layouts of a program's memory"),
    LIST("relink", "COMMAND", relinks, relink_count,
         RELINK_HELP "; given twice: of OLD, and of NEW", .must = " commands: of OLD, and of NEW",
         .not_again = true),
    PERCENT(
        "fail-above", fail_above,
        "Exit status 1 if NEW is slower by more than that, and by more than estimates and layouts "
        "leave open; 125 if that cannot be said",
        GIVEN(judged)),
    FLAG("markdown", markdown, "The sentence and the tables as Markdown", .group = 3),
    {0}};

static void check(struct argp_state *state, void *verb) {
    struct job *job = verb;
    if (job->word_count < 2)
        options_fail(state, "compare what with what? (culprit compare OLD NEW [ARGUMENT...], each "
                            "a program, a trace or a report of culprit sim --json --top 0)");
    if (job->markdown && job->verb.output.json)
        options_fail(state, "--markdown and --json: one or the other");
    if (job->input.stop && !job->input.limit)
        options_fail(state, "--stop: ends the commands at --limit N, which is missing");
    if (job->input.variable_count && !job->input.fixed)
        options_fail(state, "--env: not with --no-repeatable");
    if (job->layout_count > 1 && !job->input.fixed)
        options_fail(state, "--layouts: not with --no-repeatable");
    options_check_relink(state, job->relinks, job->relink_count, job->layout_count);
    if (job->relink_count == 1)
        options_fail(state, "--relink: of OLD, and once more of NEW");
    if (job->layouts.jobs && job->layout_count < 2)
        options_fail(state, "--jobs: it is about layouts (add --layouts N)");
    bool commands = false;
    for (unsigned i = 0; i < 2; i++) {
        struct side *side = &job->sides[i];
        if (ends_in(side->word, ".json"))
            side->report = side->word;
        const bool command = !side->report && !ends_in(side->word, ".ctrace");
        if (!command && job->layout_count > 1)
            options_fail(state, "--layouts: %s is one run that was; layouts are of commands",
                         side->word);
        commands |= command;
    }
    if (job->arguments && job->arguments[0] && !commands)
        options_fail(state, "%s: arguments are for commands, and neither is one",
                     job->arguments[0]);
}

static const struct option_part PARTS[] = {{&machine_group, offsetof(struct job, machine)},
                                           {&output_group, offsetof(struct job, verb.output)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_word, .end = check},
    .parts = PARTS,
    .arguments = "OLD NEW [ARGUMENT...]",
    .help = "Compares two builds of a program, or two runs: which function takes more or fewer "
            "cycles, by which event, in which line. OLD and NEW are each a program or a command in "
            "one word, a trace (.ctrace), or a report of sim or explain (.json, written with "
            "--json --top 0). Programs get the arguments that follow, the same standard input and "
            "the same environment; what they write to standard output goes nowhere.\v"
            "Examples:\n  culprit compare ./parse.old ./parse rows.csv\n"
            "  culprit compare --layouts 10 ./parse.old ./parse rows.csv\n"
            "  culprit compare 'gzip -1' 'gzip -9' -c /bin/bash\n"
            "  culprit sim --repeatable --json --top 0 -o old.json -- ./parse rows.csv"};

/* The words of a command, and the arguments of both. */
static bool make_command(struct side *side, char **arguments) {
    size_t count = 0;
    while (arguments && arguments[count])
        count++;
    side->copy = strdup(side->word);
    side->command = calloc(count + strlen(side->word) / 2 + 2, sizeof *side->command);
    if (!side->copy || !side->command)
        return false;
    size_t words = 0;
    char *rest = NULL;
    for (char *word = strtok_r(side->copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        side->command[words++] = word;
    for (size_t i = 0; i < count; i++)
        side->command[words++] = arguments[i];
    return true;
}

static bool prepare_side(struct job *job, unsigned number, struct error *error) {
    struct side *side = &job->sides[number];
    struct input_options *input = &job->run.inputs[number];
    if (side->report)
        return compare_report_read(&job->report, number, side->report, error);
    *input = job->input;
    if (ends_in(side->word, ".ctrace")) {
        input->trace = side->word;
        input->fixed = false;
        return true;
    }
    if (!make_command(side, job->arguments))
        return error_set(error, "out of memory for a command");
    input->command = side->command;
    return side->command[0] || error_set(error, "'%s' is no command", side->word);
}

static void note_exit(struct job *job, unsigned side, const struct trace_exit *exit) {
    if (exit->known && exit->status && !exit->stopped)
        report_note(&job->report.report, "%s: it ended with %s %d", job->sides[side].word,
                    exit->signaled ? "signal" : "status", exit->status);
}

static bool take(void *context, unsigned side, const struct simulated_run *run,
                 struct error *error) {
    struct job *job = context;
    const struct trace *trace = run->trace;
    const struct trace_exit exit = simulated_run_exit(run);
    job->report.runs[side].limited = job->input.limit || trace_is_cut(trace);
    if (run->input->command)
        note_exit(job, side, &exit);
    return compare_report_take(&job->report, side, trace_command(trace), &run->simulation,
                               trace_code(trace), run->options.machine, error);
}

static bool take_layout(void *context, const struct layout_result *result, struct error *error) {
    struct job *job = context;
    job->report.runs[result->input].limited |= result->limited;
    if (!result->layout) {
        note_exit(job, result->input, &result->exit);
        note_raced(&job->report.report, result);
    }
    return compare_report_take_layout(&job->report, result->input, result->layout, result->command,
                                      result->simulation, result->code, result->machine, error);
}

/* Every instruction under each layout. */
static bool prepare_layouts(struct job *job, struct error *error) {
    struct layouts_run *layouts = &job->layouts;
    layouts->watch = &verb_watch;
    layouts->machines = &job->machines;
    layouts->inputs[0] = job->run.inputs[0];
    layouts->inputs[1] = job->run.inputs[1];
    layouts->relinks[0] = job->relinks[0];
    layouts->relinks[1] = job->relinks[1];
    job->report.relinked = job->relink_count > 0;
    layouts->input_count = 2;
    layouts->count = job->layout_count;
    layouts->threads = job->run.threads;
    layouts->ideal = job->run.ideal;
    layouts->over = UINT64_MAX;
    layouts->take = take_layout;
    layouts->context = job;
    return compare_report_lay_out(&job->report, job->layout_count, error);
}

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    job->report.report.verb = "compare";
    if (job->judged)
        job->verb.failed = STATUS_BROKEN;
    job->report.top = job->verb.output.top;
    job->run.watch = &verb_watch;
    job->run.machines = &job->machines;
    job->run.threads = (struct together_request){TOGETHER_REGIONS};
    job->run.ideal = job->machine.ideal;
    job->run.take = take;
    job->run.context = job;
    options_fix_machine(&job->input, &job->machine);
    return prepare_side(job, 0, error) && prepare_side(job, 1, error) &&
           machine_choice_load(&job->machines, &job->machine, error) &&
           (job->layout_count < 2 || prepare_layouts(job, error)) &&
           verb_open_report(&job->verb, error);
}

/* After an interrupt, of fewer layouts. */
static bool run_layouts(struct job *job, struct error *error) {
    struct layouts_run *layouts = &job->layouts;
    const bool good = layouts_run_go(layouts, error);
    job->verb.measured = good;
    job->verb.ended_by = layouts->signal;
    if (layouts->failed && !job->judged)
        job->verb.failed = layouts->failed;
    if (good && layouts->signal)
        report_note(&job->report.report, "interrupted after %" PRIu32 " of %" PRIu32 " layouts",
                    layouts->taken[1], layouts->count);
    return good;
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    if (job->layout_count > 1)
        return run_layouts(job, error);
    const bool good = compare_run_go(&job->run, error);
    job->verb.measured = good;
    if (job->run.failed && !job->judged)
        job->verb.failed = job->run.failed;
    return good;
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    const struct page page = output_page(&job->verb.files.report);
    if (!compare_report_build(&job->report, error))
        return false;
    if (job->judged)
        job->verb.exit = (struct trace_exit){
            .known = true, .status = compare_is_slower(&job->report, 100 * job->fail_above)};
    FILE *data = job->verb.files.html.data;
    if (data && !compare_report_json(&job->report, data, error))
        return false;
    if (job->verb.output.json)
        return compare_report_json(&job->report, page.file, error);
    if (job->markdown)
        compare_report_markdown(&job->report, page.file);
    else
        compare_report_text(&job->report, &page);
    return true;
}

static void clean_up(void *verb) {
    struct job *job = verb;
    compare_report_free(&job->report);
    for (unsigned i = 0; i < 2; i++) {
        free(job->sides[i].command);
        free(job->sides[i].copy);
    }
}

const struct verb verb_compare = {.line = &LINE,
                                  .size = sizeof(struct job),
                                  .prepare = prepare,
                                  .run = run,
                                  .report = write_report,
                                  .free = clean_up};
