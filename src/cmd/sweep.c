/* culprit sweep: programs on machines with all combinations of settings. */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "report/design_report.h"
#include "study/design_file.h"
#include "study/explain.h"
#include "trace/trace_name.h"
#include "util/text.h"

struct job {
    struct verb_run verb;
    struct input_options input; /* of each program */
    struct design design;
    struct cluster_options cluster;
    const char *file, *csv;
    bool full, over_given, regions_given;
    enum design_sort sort;

    struct design_file from;
    struct design_program programs[DESIGN_MOST_PROGRAMS];
    char **words[DESIGN_MOST_PROGRAMS]; /* of commands of the file, which they are cut out of */
    char *name;                         /* of the one on the command line */
    struct output csv_file;
    struct design_report report;
};

static void begin(void *verb) {
    struct job *job = verb;
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
    if (!design_add_machines(&((struct job *)verb)->design, value, &error))
        options_fail(state, "--machine %s", error.message);
}

static void take_setting(struct argp_state *state, void *verb, char *value) {
    struct error error;
    if (!design_add_setting(&((struct job *)verb)->design, value, &error))
        options_fail(state, "--set %s", error.message);
}

static void take_cluster(struct argp_state *state, void *verb, char *value) {
    struct job *job = verb;
    options_take_cluster(state, &job->cluster, value);
    job->design.cluster = &job->cluster;
}

static bool take_word(struct argp_state *state, void *verb, char *word) {
    struct job *job = verb;
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

#define REQUEST struct job
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
    struct job *job = verb;
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

static const struct command_line LINE = {
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

/* ---- before anything runs ---- */

static bool split_command(struct job *job, size_t number, struct error *error) {
    char *text = job->from.programs[number].command, *rest = NULL;
    struct design_program *program = &job->programs[number];
    size_t count = 0;
    if (trace_is_named(text) && !strchr(text, ' ')) {
        program->input.trace = text;
        return true;
    }
    char **words = job->words[number] = calloc(strlen(text) / 2 + 2, sizeof *words);
    if (!words)
        return error_set(error, "out of memory for a command");
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    program->input.command = words;
    return true;
}

static bool read_file(struct job *job, struct error *error) {
    struct design *design = &job->design;
    struct design_file *from = &job->from;
    if (!design_file_read(from, job->file, error))
        return false;
    if (!from->program_count)
        return error_set(error, "%s: there is no [program NAME] in it", job->file);
    if (from->machines && !design->machines.count &&
        !design_add_machines(design, from->machines, error))
        return error_prefix(error, "%s: machine", job->file);
    for (size_t i = 0; i < from->setting_count; i++)
        if (!design_add_setting(design, from->settings[i], error))
            return error_prefix(error, "%s: [set]", job->file);
    if (!design->cost)
        design->cost = from->cost;
    design->program_count = from->program_count;
    for (size_t i = 0; i < from->program_count; i++) {
        job->programs[i] =
            (struct design_program){.name = from->programs[i].name, .input = job->input};
        if (!split_command(job, i, error))
            return false;
    }
    return true;
}

static bool take_command(struct job *job, struct error *error) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    char **words = job->input.command;
    for (size_t i = 0; file && words && words[i]; i++)
        fprintf(file, "%s%s", i ? " " : "", words[i]);
    if (file && !words)
        fputs(job->input.trace, file);
    job->name = file ? text_printer_end(&printer) : NULL;
    job->programs[0] = (struct design_program){.name = job->name, .input = job->input};
    job->design.program_count = 1;
    return job->name || error_set(error, "out of memory for a command");
}

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    job->design.programs = job->programs;
    if (!(job->file ? read_file(job, error) : take_command(job, error)))
        return false;
    if (!job->design.cost && (job->verb.output.svg || job->sort == DESIGN_BY_COST))
        return error_set(error, "%s: of what costs? (add --cost FORMULA)",
                         job->verb.output.svg ? "--svg" : "--sort cost");
    if (job->cluster.wanted && !cluster_is_here(error))
        return false;
    return design_prepare(&job->design, error) && verb_open_report(&job->verb, error) &&
           (!job->csv || output_open(&job->csv_file, "--csv", job->csv, NULL, error));
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    int exec_status = 0;
    if (!design_go(&job->design, &exec_status, error)) {
        if (exec_status == STATUS_CANNOT_RUN || exec_status == STATUS_NOT_FOUND)
            job->verb.failed = exec_status;
        return false;
    }
    job->verb.measured = true;
    job->verb.ended_by = job->design.signal;
    return true;
}

/* ---- the report ---- */

enum { MOST_TOLD = 20 }; /* failures, in the notes */

static void note_failures(struct job *job) {
    const struct design *design = &job->design;
    struct report *report = &job->report.report;
    size_t told = 0;
    for (size_t i = 0; i < design->program_count; i++) {
        const struct design_program *program = &design->programs[i];
        if (program->captured && program->capture.status)
            report_note(report, "%s: it ended with status %d", program->name,
                        program->capture.status);
        if (!program->captured && program->failure.message[0])
            report_note(report, "%s: %s", program->name, program->failure.message);
    }
    for (size_t i = 0; i < design->point_count; i++) {
        const struct design_point *point = &design->points[i];
        char name[256];
        if (point->state != DESIGN_FAILED || !design->programs[point->program].captured ||
            told++ >= MOST_TOLD)
            continue;
        design_point_name(design, point, name, sizeof name);
        report_note(report, "%s failed: %s", name, point->failure.message);
    }
    if (design->failed + design->simulated + design->kept < design->point_count || design->failed)
        report_note(report, "what matters is told once all points are done");
    if (told > MOST_TOLD)
        report_note(report, "%zu more points failed", told - MOST_TOLD);
    if (design->signal)
        report_note(report, "interrupted: %zu of %zu points are missing",
                    design->point_count - design->simulated - design->kept - design->failed,
                    design->point_count);
}

REPORT_PICTURE(draw, design_report_svg)
REPORT_FORMS(POINTS, design_report_json, design_report_text, NULL);
REPORT_FORMS(PRICED, design_report_json, design_report_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    const struct design *design = &job->design;
    job->report.design = design;
    job->report.sort = job->sort;
    job->report.report.verb = "sweep";
    if (!design_report_build(&job->report, error))
        return false;
    note_failures(job);
    if (job->csv) {
        design_report_csv(&job->report, job->csv_file.file);
        if (!output_close(&job->csv_file, error))
            return false;
    }
    if (design->late.message[0])
        verb_report_late(&job->verb, &design->late);
    if (!design->signal)
        job->verb.exit = (struct trace_exit){.known = true, .status = design->failed ? 1 : 0};
    return verb_write_report(&job->verb, design->cost ? &PRICED : &POINTS, &job->report, error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    design_report_free(&job->report);
    output_discard(&job->csv_file);
    design_free(&job->design);
    cluster_options_free(&job->cluster);
    design_file_free(&job->from);
    for (size_t i = 0; i < DESIGN_MOST_PROGRAMS; i++)
        free(job->words[i]);
    free(job->name);
}

const struct verb verb_sweep = {.line = &LINE,
                                .size = sizeof(struct job),
                                .prepare = prepare,
                                .run = run,
                                .report = write_report,
                                .free = clean_up};
