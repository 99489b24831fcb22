#include "cmd/path_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/verb.h"
#include "program/python_layout.h"
#include "report/call_report.h"
#include "trace/trace.h"
#include "util/command_path.h"

enum { PATH_BYTES = 4096 };

#define REQUEST struct path_options
static const struct option_row OPTIONS[] = {
    HEADING(12, "Who called whom:"),
    FLAG("tree", tree, "Procedures below their callers, with what they called and alone"),
    TEXT("callers", "PROCEDURE", procedure,
         "The callers of this procedure, with what it called; without a name, of the procedures "
         "that took most, --top of them",
         .optional = true, GIVEN(callers)),
    FLAG("inlined", inlined,
         "Functions that the compiler inlined have frames of their own, where debug information "
         "tells of them; slower"),
    PERCENT("least", least, "Frames of at least this share of all (1)", GIVEN(least_given)),
    WRITTEN_FILE("folded", "FILE", folded,
                 "Write the cycles of each call stack there, by event, for flame graphs",
                 .not_again = true),
    {0}};

static const struct option_row MORE_OPTIONS[] = {
    FLAG("python", python,
         "Lines and functions of Python (CPython 3.11 to 3.13) first, wherever it runs (default: "
         "where the command is one of Python)",
         .group = 12),
    FLAG("no-python", no_python, "Not even there", .group = 12),
    HEADING(13, "Which data:"),
    FLAG("data", data,
         "The variables, heap blocks by who allocated them, stack frames and files whose misses "
         "took the cycles"),
    {0}};

static void begin(void *request) {
    ((struct path_options *)request)->least = 0.01;
}

void path_options_check(const struct argp_state *state, const struct path_options *options,
                        enum report_by by) {
    if (by == BY_PATH && (options->tree || options->callers))
        options_fail(state, "--by path: the same chains as of %s, as rows: one of them",
                     options->tree ? "--tree" : "--callers");
}

bool path_options_data(const struct path_options *options, enum report_by by) {
    return options->data || by == BY_OBJECT;
}

bool path_options_any(const struct path_options *options) {
    return options->tree || options->callers || options->folded || options->python;
}

static bool is_python(const char *path) {
    struct executable executable;
    struct error ignored;
    char *real = realpath(path, NULL);
    const bool named = python_may_be_in(real ? real : path);
    free(real);
    return named || (executable_identify(path, &executable, &ignored) &&
                     executable.kind == EXECUTABLE_SCRIPT &&
                     (python_may_be_in(executable.interpreter) ||
                      strstr(executable.interpreter_argument, "python")));
}

static bool runs_python(const char *name) {
    char path[PATH_BYTES];
    return strchr(name, '/') ? is_python(name)
                             : !command_find(name, path, sizeof path) && is_python(path);
}

/* Of a trace it is the first word of its command. */
static bool trace_runs_python(const char *path) {
    struct stat status;
    struct error ignored;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    struct trace *trace = trace_open(path, &ignored);
    char *command = trace ? strdup(trace_command(trace)) : NULL;
    trace_close(trace);
    if (command)
        command[strcspn(command, " ")] = 0;
    const bool runs = command && runs_python(command);
    free(command);
    return runs;
}

bool input_runs_python(const struct input_options *input) {
    return input->command ? runs_python(input->command[0])
                          : input->trace && trace_runs_python(input->trace);
}

void path_options_look(struct path_options *options, const struct input_options *input) {
    options->python_found |= !options->no_python && input_runs_python(input);
    options->python |= options->python_found;
}

static void check(struct argp_state *state, void *request) {
    const struct path_options *options = request;
    if (options->tree && options->callers)
        options_fail(state, "--tree and --callers: one at a time");
    if (options->inlined && !options->tree && !options->callers && !options->folded)
        options_fail(state, "--inlined: it is about --tree, --callers and --folded");
    if (options->least_given && !options->tree && !options->callers)
        options_fail(state, "--least: it is about --tree and --callers");
}

static void check_more(struct argp_state *state, void *request) {
    const struct path_options *options = request;
    if (options->python && options->no_python)
        options_fail(state, "--python and --no-python: one of them");
}

const struct option_group path_more_group = {.options = MORE_OPTIONS, .end = check_more};
const struct option_group path_group = {.options = OPTIONS, .begin = begin, .end = check};

const struct path_extents *paths_begin(struct paths *paths, const struct path_options *options,
                                       bool wanted, bool *good, struct error *error) {
    *good = true;
    if (!wanted && !path_options_any(options))
        return NULL;
    if (!paths->functions && !(paths->functions = program_extents_new())) {
        *good = error_set(error, "out of memory for call paths");
        return NULL;
    }
    paths->extents = program_extents_of(paths->functions, options->inlined);
    paths->names = program_extents_names(paths->functions);
    return &paths->extents;
}

bool paths_prepare(struct paths *paths, const struct path_options *options, struct error *error) {
    paths->options = options;
    return !options->folded ||
           output_open(&paths->folded, "--folded", options->folded, NULL, error);
}

static bool write_folded(struct paths *paths, struct error *error) {
    return !paths->folded.file || ((call_report_folded(&paths->profile, paths->folded.file) ||
                                    error_set(error, "out of memory for folded stacks")) &&
                                   output_close(&paths->folded, error));
}

/* The run is over, and worth a report also without what was asked for. */
static bool note_missing(const struct paths *paths, struct report *report, bool *missing) {
    struct error why;
    const char *procedure = paths->options->procedure;
    *missing = procedure && call_profile_find(&paths->profile, procedure, &why) == UINT32_MAX;
    return !*missing || report_note(report, "--callers %s", why.message);
}

bool paths_report(struct paths *paths, struct verb_run *verb, const struct simulation *simulation,
                  const struct code *code, struct program *program, struct report *report,
                  struct error *error) {
    const struct path_options *options = paths->options;
    const struct output_options *output = &verb->output;
    struct error late;
    if (!options) /* of regions, which have none */
        return true;
    if (options->python && simulation->paths.count) {
        if (!python_rows_build(&simulation->paths, code, output->top, &paths->python))
            return error_set(error, "out of memory for the lines of Python");
        report->python = &paths->python;
        if (!options->python_found && !paths->python.line_total &&
            !report_note(report, "--python: no Python was run of which lines are known (CPython "
                                 "3.11 to 3.13, x86-64)"))
            return error_set(error, "out of memory for the report");
    }
    const bool flat = output->by == BY_PATH, tree = options->tree || options->callers || flat;
    if (!simulation->paths.count || (!tree && !options->folded && !output->html))
        return true;
    if (!path_profile_read(&paths->profile, simulation, code, program, error))
        return false;
    if (!write_folded(paths, &late))
        verb_report_late(verb, &late);
    bool missing;
    if (!note_missing(paths, report, &missing))
        return error_set(error, "out of memory for the report");
    if (!tree || missing)
        return true;
    paths->report = (struct call_report){.profile = &paths->profile,
                                         .inlined = options->inlined,
                                         .least = flat ? 0 : options->least,
                                         .flat = flat && !options->tree && !options->callers,
                                         .rows = output->top};
    if (options->callers && !call_report_find_callers(&paths->report, options->procedure,
                                                      output->top, !output->json, error))
        return false;
    report->calls = &paths->report;
    return call_report_note_paths(report, &simulation->paths) ||
           error_set(error, "out of memory for the report");
}

const struct call_profile *paths_profile(const struct paths *paths) {
    return paths->profile.frames.count ? &paths->profile : NULL;
}

void paths_free(struct paths *paths) {
    output_discard(&paths->folded);
    call_report_free_callers(&paths->report);
    call_profile_free(&paths->profile);
    python_rows_free(&paths->python);
    program_extents_free(paths->functions);
}
