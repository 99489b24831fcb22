/* culprit profilers: every profiler over one simulation, and its error against Oracle. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/run.h"
#include "options/exit_status.h"
#include "options/profiler_choice.h"
#include "report/comparison.h"
#include "report/missing_names.h"
#include "report/next.h"
#include "report/profiler_list.h"
#include "report/trace_notes.h"

enum { DEFAULT_SAMPLES = 200000, MAX_THREADS = 64 };

struct profilers {
    struct run run;
    struct profiler_choice choice;
    bool samples_given, period_given, seed_given;
    struct comparison comparison;
    struct path_errors path_errors;
};

static void begin(void *verb) {
    struct profilers *job = verb;
    run_begin(&job->run);
    job->run.study.profiles = job->choice.profiles;
    job->run.study.options.observe_commits = true;
    job->run.study.options.profile_threads = 1;
    job->choice.sampling.mode = SAMPLER_RANDOM;
}

/* ---- options ---- */

static void take_list(struct argp_state *state, void *request, char *list) {
    profiler_choice_add_list(state, &((struct profilers *)request)->choice, list);
}

static void take_show(struct argp_state *state, void *request, char *value) {
    (void)state, (void)request, (void)value;
    profiler_list_text(stdout);
    exit(fflush(stdout) == 0 ? 0 : STATUS_FAILED);
}

#define REQUEST struct profilers
static const struct option_row OPTIONS[] = {
    HEADING(4, "Which profilers, and what they sample:"),
    TAKE("profiler", "LIST", take_list,
         "Configurations, separated by commas: a name, or a name with settings of its own, as in "
         "TIP:period=1000 or TIP:random,seed=2 (samples=N, period=CYCLES, random, periodic, "
         "seed=N). May be repeated; default: all, see --list"),
    TAKE("list", NULL, take_show, "List the profilers"),
    COUNT("samples", "N", choice.sampling.samples,
          "Samples over the run, at least N and less than twice as many (default 200K)", .least = 1,
          .most = PROFILER_CHOICE_SAMPLES, GIVEN(samples_given)),
    COUNT("period", "CYCLES", choice.sampling.period,
          "A sample every so many cycles; 1: every cycle", .least = 1,
          .most = PROFILER_CHOICE_PERIOD, GIVEN(period_given)),
    VALUE("random", choice.sampling.mode, SAMPLER_RANDOM,
          "A random cycle of every period (the default)"),
    VALUE("periodic", choice.sampling.mode, SAMPLER_PERIODIC,
          "The last cycle of every period: it may keep step with a loop, as nothing in a simulated "
          "core disturbs it"),
    COUNT(
        "seed", "N", choice.sampling.seed,
        "Of the random choices (default 0), and with --repeatable of the command's random numbers "
        "(default 1)",
        GIVEN(seed_given)),
    PERCENT("floor", run.study.floor,
            "As many samples as it takes for this floor of the error of cycle stacks; simulates "
            "twice, a command from a temporary trace",
            .least = 1, .must = "a percentage from 0.01 to 100"),
    FLAG("systematic", choice.systematic,
         "Also the error that each profiler has when it samples every cycle"),
    COUNT("threads", "N", run.study.options.profile_threads,
          "Threads that the profilers run on (default 1)", .least = 1, .most = MAX_THREADS),
    {0}};

/* A trace that can be read once is no good for --floor. */
static void check_floor(const struct argp_state *state, const struct profilers *job) {
    struct stat file;
    const char *trace = job->run.input.trace;
    if (job->samples_given || job->period_given)
        options_fail(state, "--floor: it chooses the samples itself (leave out --samples and "
                            "--period)");
    if (trace && (!strcmp(trace, "-") || (stat(trace, &file) == 0 && !S_ISREG(file.st_mode))))
        options_fail(state,
                     "--floor: it reads the trace twice, and %s can be read once (save it "
                     "to a file first)",
                     trace);
}

static void check(struct argp_state *state, void *request) {
    struct profilers *job = request;
    if (job->run.study.floor > 0)
        check_floor(state, job);
    if (!job->samples_given && !job->run.study.floor)
        job->choice.sampling.samples = DEFAULT_SAMPLES;
    if (job->samples_given && job->period_given)
        options_fail(state, "--samples and --period: each says how often; give one of them");
    if (!job->run.input.command && !job->run.input.trace)
        options_fail(state, "what to simulate? (culprit profilers [OPTION...] -- COMMAND..., or "
                            "culprit profilers FILE.ctrace)");
    if (job->seed_given)
        job->run.input.seed = job->choice.sampling.seed;
    profiler_choice_make(state, &job->choice);
    job->run.study.options.profile_count = job->choice.all;
    job->run.path_options.no_python = true; /* its lines are no profiler's */
    job->run.study.options.profile_paths = path_options_any(&job->run.path_options);
}

static const struct option_part PARTS[] = {
    {&input_group, offsetof(struct profilers, run.input)},
    {&machine_group, offsetof(struct profilers, run.machine)},
    {&output_group, offsetof(struct profilers, run.verb.output)},
    {&save_group, offsetof(struct profilers, run.save_options)},
    {&path_group, offsetof(struct profilers, run.path_options)},
    {&for_group, offsetof(struct profilers, run.input)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace",
    .help = "Runs every profiler over one simulation of a command, or of a trace, all sampling the "
            "same cycles, and reports how far each is from what every cycle says: its profile from "
            "Oracle's, its cycle stacks from the golden reference's.\v"
            "Example:\n  culprit profilers --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

/* ---- the report ---- */

/* What each profiler says, by its label. */
static bool save(struct profilers *job, struct report *report) {
    const struct simulation *simulation = &job->run.study.simulation;
    struct saved_event events[PROFILER_CHOICE_MAX] = {0};
    bool good = true;
    for (uint32_t i = 0; job->run.save_options.save && good && i < job->choice.count; i++) {
        const struct profile_result *result = &simulation->profiles[i].result;
        events[i] = (struct saved_event){.name = job->choice.labels[i], .period = result->period};
        good = (events[i].cells = pics_cells(result->pics, &events[i].cell_count));
    }
    if (good)
        run_save(&job->run, events, job->choice.count, report);
    for (uint32_t i = 0; i < job->choice.count; i++)
        free((struct pics_cell *)events[i].cells);
    return good;
}

/* Oracle's calls, and how far each profiler's are from them. */
static bool add_calls(struct profilers *job, const struct comparison_request *request,
                      struct error *error) {
    struct run *run = &job->run;
    const struct simulation *simulation = &run->study.simulation;
    const struct code *code = trace_code(run->study.trace);
    const struct paths_shown shown = options_paths_shown(&run->verb.output);
    if (!run->study.options.profile_paths || !simulation->paths.count)
        return true;
    if (!paths_report(&run->paths, &shown, simulation, code, run->program, &job->comparison.report,
                      error) ||
        !path_errors_build(&job->path_errors, &run->paths.profile, simulation, code, run->program,
                           request, error))
        return false;
    job->comparison.paths = &job->path_errors;
    return true;
}

REPORT_FORMS(COMPARISON, comparison_json, comparison_text, NULL);

static bool write_report(void *verb, struct error *error) {
    struct profilers *job = verb;
    struct run *run = &job->run;
    const struct trace *trace = run->study.trace;
    struct comparison *comparison = &job->comparison;
    struct report *report = &comparison->report;
    const struct comparison_request request = {.labels = (const char *const *)job->choice.labels,
                                               .count = job->choice.count,
                                               .top = run->verb.output.top};
    *report = (struct report){.verb = "profilers",
                              .program = trace_command(trace),
                              .machine = run->study.options.machine,
                              .ideal = run->machine.ideal,
                              .simulation = &run->study.simulation,
                              .partial = run_is_partial(run)};
    if (!run_make_program(run, error) ||
        !comparison_build(&request, &run->study.simulation, trace_code(trace), run->program,
                          comparison, error))
        return false;
    if (!comparison_add_worth(comparison))
        return error_set(error, "out of memory for the report");
    if (!add_calls(job, &request, error))
        return false;
    if (!save(job, report))
        verb_report_late(&run->verb,
                         &(struct error){.message = "--save: out of memory for the profile"});
    report->fixed = run->input.fixed;
    const bool unfollowed = note_trace(report, trace) && options_may_follow(&run->input);
    missing_names_note_code(report, trace_code(trace), run->program);
    if (unfollowed || !job->choice.systematic)
        report->next = next_with_option(unfollowed ? "--follow" : "--systematic", run->verb.argc,
                                        run->verb.words);
    return verb_write_report(&run->verb, &COMPARISON, comparison, error);
}

static void clean_up(void *verb) {
    struct profilers *job = verb;
    comparison_free(&job->comparison);
    path_errors_free(&job->path_errors);
    run_free(&job->run);
    profiler_choice_free(&job->choice);
}

const struct verb verb_profilers = {.line = &LINE,
                                    .size = sizeof(struct profilers),
                                    .command = offsetof(struct profilers, run.input.command),
                                    .prepare = run_prepare,
                                    .run = run_go,
                                    .report = write_report,
                                    .free = clean_up};
