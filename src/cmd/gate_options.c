/* The options of culprit gate. */
#include "cmd/cmd.h"
#include "cmd/gate.h"

static void begin_options(void *verb) {
    struct gate_job *job = verb;
    job->limit = 0.01;
    job->input.fixed = true;
    job->input.seed = 1;
    job->input.thread = -1;
}

static bool take_command(struct argp_state *state, void *verb, char *word) {
    (void)word;
    ((struct gate_job *)verb)->input.command = options_take_command(state);
    return true;
}

#define REQUEST struct gate_job
static const struct option_row OPTIONS[] = {
    HEADING(1, "Against what, and what part of each run:"),
    TEXT("baseline", "FILE", path, "What the commands took before (docs/baseline-format.md)",
         .letter = 'b', .written = true),
    TEXT("name", "NAME", name,
         "The entry of the command in that file (default: the command, without the folder of its "
         "program); without a command: the one entry to run",
         .least = 1),
    PERCENT("max", limit, "How much slower is still good (1%)"),
    LAYOUTS_ROWS(layout_count, jobs,
                 "Simulate it under N layouts of its memory, so that what these do is no slower "
                 "build (default: as many as the entry has)"),
    FLAG("update", update, "Write the entry, or make it anew, in place of judging",
         .not_again = true),
    SKIP_ROW(input.skip),
    LIMIT_ROW(input.limit,
              "End after N instructions, which need not be the same work as in the baseline"),
    STOP_ROW(input.stop),
    FROM_ROW(input.from),
    FLAG("follow", input.follow, "Include the processes that the command starts"),
    LIST("env", "NAME[=VALUE]", input.variables, input.variable_count,
         "The command also gets this variable, with a value or the one it has here; may be "
         "repeated",
         .must = " variables"),
    WRITTEN_FILE("markdown", "FILE", markdown, "Also write the report as Markdown", .group = 3),
    WRITTEN_FILE("junit", "FILE", junit, "Also write it as JUnit's XML"),
    WRITTEN_FILE("code-quality", "FILE", code_quality,
                 "Also write what is slower as GitLab's report of code quality"),
    FLAG("annotations", annotations,
         "Also print it as lines that hosted systems show beside the source line (::error "
         "file=...)"),
    {0}};

static void check(struct argp_state *state, void *verb) {
    const struct gate_job *job = verb;
    if (!job->path)
        options_fail(state, "against what? (--baseline FILE; --update writes it)");
    if (job->input.stop && !job->input.limit)
        options_fail(state, "--stop: ends the command at --limit N, which is missing");
    const struct input_options *input = &job->input;
    if (!input->command && (input->skip || input->limit || input->from || input->follow ||
                            input->variable_count || job->machine.ideal))
        options_fail(state, "what part of a run is meant is said with its command (without one, "
                            "each entry of the baseline has its own)");
    if (job->annotations && job->verb.output.json && !job->verb.output.output)
        options_fail(state, "--annotations and --json: both to standard output (add --output "
                            "FILE)");
}

static const struct option_part PARTS[] = {
    {&fixed_machine_group, offsetof(struct gate_job, machine)},
    {&output_group, offsetof(struct gate_job, verb.output)},
    {0}};

const struct command_line gate_line = {
    .own = {.options = OPTIONS, .begin = begin_options, .argument = take_command, .end = check},
    .parts = PARTS,
    .arguments = "[--] [COMMAND...]",
    .help =
        "Tells whether a command takes more simulated cycles than its baseline says, and why: "
        "status 0, it does not; 1, it does, beyond --max; 125, that cannot be said. Without a "
        "command all that the baseline has are run. Commands see the same environment each time; "
        "what they write to standard output goes nowhere.\v"
        "Examples:\n  culprit gate --baseline perf.baseline --update -- ./parse rows.csv\n"
        "  culprit gate --baseline perf.baseline -- ./parse rows.csv\n"
        "  culprit gate --baseline perf.baseline --junit gate.xml --annotations"};
