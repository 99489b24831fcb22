/* The options of culprit sweep. */
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/sweep.h"
#include "study/explain.h"
#include "trace/trace_name.h"

static void begin(void *verb) {
    struct sweep_job *job = verb;
    job->input.traces_allowed = true;
    job->input.thread = -1;
    job->input.seed = 1;
    job->design.over = EXPLAIN_OVER;
    job->design.regions = EXPLAIN_REGIONS;
    job->design.watch = &verb_watch;
    job->design.version = CULPRIT_VERSION;
}

static void take_machines(struct argp_state *state, void *verb, char *value) {
    struct error error;
    if (!design_add_machines(&((struct sweep_job *)verb)->design, value, &error))
        options_fail(state, "--machine %s", error.message);
}

static void take_setting(struct argp_state *state, void *verb, char *value) {
    struct error error;
    if (!design_add_setting(&((struct sweep_job *)verb)->design, value, &error))
        options_fail(state, "--set %s", error.message);
}

static void take_cluster(struct argp_state *state, void *verb, char *value) {
    struct sweep_job *job = verb;
    options_take_cluster(state, &job->cluster, value);
    job->design.cluster = &job->cluster;
}

static bool take_word(struct argp_state *state, void *verb, char *word) {
    struct sweep_job *job = verb;
    if (job->input.trace)
        options_fail(state, "%s: one trace at a time (or several programs with --file)", word);
    if (!options_quoted(state) && trace_is_named(word))
        job->input.trace = word;
    else
        job->input.command = options_take_command(state);
    return true;
}

static const char *const SORTS[] = {
    [DESIGN_BY_SPEED] = "speed", [DESIGN_BY_COST] = "cost", [DESIGN_AS_GIVEN] = "given"};

#define REQUEST struct sweep_job
static const struct option_row OPTIONS[] = {
    HEADING(1, "Which points:"),
    TAKE("machine", "NAME,...", take_machines,
         "Machines of 'culprit machines', or files (default: that of the program's architecture)"),
    TAKE("set", "SECTION.KEY=VALUE,...", take_setting,
         "Values of a key of machines (culprit machines show NAME); may be repeated: every "
         "combination is a point"),
    TEXT("file", "FILE", file,
         "Programs, machines and settings from an INI file: [program NAME] with command = COMMAND, "
         "[sweep] with machine = NAME, ... and cost = FORMULA, [set] with SECTION.KEY = VALUE, ...",
         .least = 1),
    HEADING(2, "What part of each run, and how:"),
    LIMIT_ROW(input.limit, "End after N instructions"),
    STOP_ROW(input.stop),
    FLAG("follow", input.follow, "Include the processes that the commands start"),
    LIST("env", "NAME[=VALUE]", input.variables, input.variable_count,
         "Commands also get this variable, with a value or the one it has here; may be repeated",
         .must = " variables"),
    COUNT("regions", "N", design.regions, "Of longer runs simulate N regions (default 160)",
          .least = 2, .most = 10000, .must = "2 to 10000", GIVEN(regions_given)),
    COUNT("regions-over", "N", design.over,
          "Runs of more than N instructions are simulated by regions (default 80M)", .least = 1,
          GIVEN(over_given)),
    FLAG("full", full, "Simulate every instruction, however long the runs are"),
    COUNT("jobs", "N", design.jobs,
          "N points at once (default: one for each processor); with --cluster, N jobs (default: as "
          "many as the cluster gives)",
          .least = 1, .most = OPTIONS_MAX_JOBS),
    CLUSTER_ROW(take_cluster, "the points; with --keep, of a folder that all of them see"),
    TEXT("keep", "FOLDER", design.keep,
         "Keep there what is captured and what comes of each point: run again, with other points "
         "or after an interrupt, only what is missing is simulated",
         .least = 1, .written = true),
    HEADING(3, "What it costs, and what to write:"),
    TEXT("cost", "FORMULA", design.cost,
         "What a machine costs, of its keys: + - * / ( ) and numbers, which may end in K, M or G "
         "(of 1024), as 'l2.size/1K + 2*core.rob'; points of the Pareto front get a *",
         .least = 1),
    CHOICE("sort", "BY", sort, "speed (default: fastest first), cost, or given", SORTS),
    WRITTEN_FILE("csv", "FILE", csv, "Also write the points as comma-separated values there",
                 .not_again = true),
    SVG_ROW(verb.output, "Draw speed against --cost, with the Pareto front"),
    OUTPUT_ROWS(4, verb.output),
    {0}};

static void check(struct argp_state *state, void *verb) {
    struct sweep_job *job = verb;
    options_check_output(state, &job->verb.output);
    const bool given = job->input.command || job->input.trace;
    if (!given && !job->file)
        options_fail(state, "what to simulate? (culprit sweep [OPTION...] -- COMMAND..., culprit "
                            "sweep FILE.ctrace, or culprit sweep --file FILE)");
    if (given && job->file)
        options_fail(state, "--file %s: the programs are there, and %s is one more", job->file,
                     job->input.trace ? job->input.trace : job->input.command[0]);
    if (job->full && (job->over_given || job->regions_given))
        options_fail(state, "--full: every instruction, without --regions%s",
                     job->over_given ? "-over" : "");
    if (job->input.stop && !job->input.limit)
        options_fail(state, "--stop: ends the commands at --limit N, which is missing");
    if (job->cluster.wanted && !job->design.keep)
        options_fail(state, "--cluster: results are gathered in a folder that all nodes see, which "
                            "--keep FOLDER names");
    if (job->full)
        job->design.over = UINT64_MAX;
}

const struct command_line sweep_line = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_word, .end = check},
    .arguments = "[--] COMMAND...\nTRACE.ctrace\n--file FILE",
    .help = "Simulates a program on every combination of machines and values of their keys. It is "
            "run once, with what it can see the same everywhere; what it writes goes nowhere. A "
            "short run is simulated in full, a long one by the same regions at each point.\v"
            "Examples:\n"
            "  culprit sweep --set l2.size=512K,1M --set core.rob=64,256 -- gzip -c /bin/sh\n"
            "  culprit sweep --machine zen4,zen5 --keep kept --csv points.csv -- ./parse\n"
            "  culprit sweep --file sweep.ini --cost 'l2.size/1M' --svg front.svg\n\n"
            "The exit status is 1 when a point failed."};
