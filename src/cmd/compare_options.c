/* What culprit compare can be asked. */
#include <stdlib.h>
#include <string.h>

#include "cmd/compare.h"
#include "trace/trace_name.h"
#include "util/text.h"

static void begin(void *verb) {
    struct compare_job *job = verb;
    job->input.fixed = true;
    job->input.seed = 1;
    job->input.thread = -1;
    job->layout_count = 1;
    /* Longer runs are compared by regions, as many as explain takes. */
    job->run.over = EXPLAIN_OVER;
    job->run.regions = EXPLAIN_REGIONS;
}

/* OLD; NEW and, behind it, arguments for both. */
static bool take_word(struct argp_state *state, void *verb, char *word) {
    struct compare_job *job = verb;
    struct compare_side *side = &job->sides[job->word_count++];
    side->word = word;
    if (job->word_count < 2)
        return true;
    job->arguments = options_take_command(state) + 1;
    if (job->arguments[0] && !strcmp(job->arguments[0], "--"))
        job->arguments++;
    return true;
}

#define REQUEST struct compare_job
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
    COUNT("regions", "N", run.regions, "Of longer runs simulate N regions (default 160)",
          .least = 2, .most = 10000, .must = "2 to 10000", GIVEN(regions_given)),
    COUNT("regions-over", "N", run.over,
          "Runs of more than N instructions are measured on the same stretches of work (default "
          "80M)",
          .least = 1, GIVEN(over_given)),
    FLAG("full", full, "Simulate every instruction, however long the runs are"),
    LAYOUTS_ROWS(layout_count, layouts.jobs, "Simulate both under N layouts of a program's memory"),
    LIST("relink", "COMMAND", relinks, relink_count,
         RELINK_HELP "; given twice: of OLD, and of NEW", .must = " commands: of OLD, and of NEW",
         .not_again = true),
    PERCENT(
        "fail-above", fail_above,
        "Exit status 1 if NEW is slower by more than that, and by more than estimates and layouts "
        "leave open; 125 if that cannot be said",
        GIVEN(judged)),
    TEXT("suite", "FILE", suite,
         "Compare the pairs of FILE, in place of OLD and NEW: a section [NAME] each, with old = "
         "OLD, "
         "new = NEW and arguments = ARGUMENT...",
         .least = 1),
    FLAG("python", python,
         "Functions and lines of Python (CPython 3.11 to 3.13) first, wherever it runs (default: "
         "where a command is one of Python)",
         .group = 3),
    FLAG("no-python", no_python, "No tables of Python, not even where a command is one of Python"),
    FLAG("markdown", markdown, "The sentence and the tables as Markdown"),
    {0}};

/* Of one pair. */
static void check_sides(struct argp_state *state, struct compare_job *job) {
    bool commands = false;
    for (unsigned i = 0; i < 2; i++) {
        struct compare_side *side = &job->sides[i];
        if (text_ends_with(side->word, ".json"))
            side->report = side->word;
        const bool command = !side->report && !trace_is_named(side->word);
        if (!command && job->layout_count > 1)
            options_fail(state, "--layouts: %s is one run that was; layouts are of commands",
                         side->word);
        commands |= command;
    }
    if (job->arguments && job->arguments[0] && !commands)
        options_fail(state, "%s: arguments are for commands, and neither is one",
                     job->arguments[0]);
}

static void check(struct argp_state *state, void *verb) {
    struct compare_job *job = verb;
    if (job->suite && job->word_count)
        options_fail(state, "--suite %s: the pairs are there, and %s is one more word", job->suite,
                     job->sides[0].word);
    if (job->suite && job->relink_count)
        options_fail(state, "--relink: of one pair, not of --suite");
    if (!job->suite && job->word_count < 2)
        options_fail(state, "compare what with what? (culprit compare OLD NEW [ARGUMENT...], each "
                            "a program, a trace or a report of culprit sim --json --top 0)");
    if (job->python && job->no_python)
        options_fail(state, "--python and --no-python: one of them");
    if (job->markdown && job->verb.output.json)
        options_fail(state, "--markdown and --json: one or the other");
    if (job->input.stop && !job->input.limit)
        options_fail(state, "--stop: ends the commands at --limit N, which is missing");
    if (job->input.variable_count && !job->input.fixed)
        options_fail(state, "--env: not with --no-repeatable");
    if (job->layout_count > 1 && !job->input.fixed)
        options_fail(state, "--layouts: not with --no-repeatable");
    if (job->full && (job->over_given || job->regions_given))
        options_fail(state, "--full: every instruction, without --regions%s",
                     job->over_given ? "-over" : "");
    if (job->layout_count > 1 && (job->over_given || job->regions_given))
        options_fail(state,
                     "--regions%s: not with --layouts, under which every instruction is "
                     "simulated",
                     job->over_given ? "-over" : "");
    options_check_relink(state, job->relinks, job->relink_count, job->layout_count);
    if (job->relink_count == 1)
        options_fail(state, "--relink: of OLD, and once more of NEW");
    if (job->layouts.jobs && job->layout_count < 2)
        options_fail(state, "--jobs: it is about layouts (add --layouts N)");
    if (!job->suite)
        check_sides(state, job);
}

static const struct option_part PARTS[] = {
    {&fixed_machine_group, offsetof(struct compare_job, machine)},
    {&output_group, offsetof(struct compare_job, verb.output)},
    {0}};

const struct command_line compare_line = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_word, .end = check},
    .parts = PARTS,
    .arguments = "OLD NEW [ARGUMENT...]\n--suite FILE",
    .help = "Compares two builds of a program, or two runs: which function takes more or fewer "
            "cycles, by which event, in which line. OLD and NEW are each a program or a command in "
            "one word, a trace (.ctrace), or a report of sim or explain (.json, written with "
            "--json --top 0). Programs get the arguments that follow, the same standard input and "
            "the same environment; what they write to standard output goes nowhere.\v"
            "Examples:\n  culprit compare ./parse.old ./parse rows.csv\n"
            "  culprit compare --layouts 10 ./parse.old ./parse rows.csv\n"
            "  culprit compare 'gzip -1' 'gzip -9' -c /bin/bash\n"
            "  culprit compare --suite pairs.ini --fail-above 1\n"
            "  culprit sim --repeatable --json --top 0 -o old.json -- ./parse rows.csv"};
