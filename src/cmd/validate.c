/* culprit validate: how far an estimate from regions is off, and why. */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/validate.h"
#include "region/bbv_profile.h"
#include "region/kmeans.h"
#include "trace/region_capture.h"

static void begin(void *verb) {
    struct validate_job *job = verb;
    const uint64_t warm_ups[] = {1000000, 10000000, REGION_DEFAULT_WARM_UP};
    memcpy(job->warm_ups, warm_ups, sizeof warm_ups);
    job->warm_up_count = 3;
    job->request =
        (struct validate_run_request){.watch = &verb_watch,
                                      .input = {.thread = -1, .repeatable = true, .seed = 1},
                                      .slice = 10000000,
                                      .max_regions = 30};
    validate_host_begin(&job->host);
}

/* ---- options ---- */

static void take_warm_ups(struct argp_state *state, void *given, char *value) {
    struct validate_job *job = given;
    char *list = strdup(value), *rest = list, *word;
    job->warm_up_count = 0;
    while (rest && (word = strsep(&rest, ","))) {
        if (job->warm_up_count == VALIDATE_MAX_WARM_UPS)
            options_fail(state, "--warm-up %s: at most %d lengths", value, VALIDATE_MAX_WARM_UPS);
        job->warm_ups[job->warm_up_count++] =
            !strcmp(word, "all") ? UINT64_MAX : options_count(state, "--warm-up", word);
    }
    free(list);
}

static void take_cluster(struct argp_state *state, void *verb, char *value) {
    options_take_cluster(state, &((struct validate_job *)verb)->cluster, value);
}

#define REQUEST struct validate_job
static const struct option_row OPTIONS[] = {
    HEADING(1, "What to validate:"),
    COUNT("size", "N", request.slice, "Choose among slices of N instructions (default 10M)",
          .least = BBV_PROFILE_MIN_SIZE, GIVEN(regions_given)),
    COUNT("max-clusters", "N", request.max_regions, "Choose at most N regions (default 30)",
          .least = 1, .most = KMEANS_MAX_CLUSTERS, GIVEN(regions_given)),
    LIMIT_ROW(request.input.limit, "The first N instructions are the whole run"),
    STOP_ROW(request.input.stop),
    RERUN_ROW(request.rerun),
    REPEATABLE_ROWS(request.input.fixed, request.input.variables, request.input.variable_count,
                    request.input.seed, request.input.seed_given),
    NO_REPEATABLE_ROW(request.input.repeatable),
    HEADING(3, "How:"),
    TEXT("full", "TRACE", full,
         "With a list of regions: a trace of the whole run that they are of"),
    TAKE("warm-up", "N[,N...]", take_warm_ups,
         "Simulate regions alone after so many instructions of warm-up each (default 1M,10M,100M; "
         "'all': everything before them, as 'sim --regions' does by default)",
         GIVEN(regions_given)),
    JOBS_ROW(jobs, "regions"),
    CLUSTER_ROW(take_cluster, "regions alone, of a list with --full; results lie in LIST.results"),
    HEADING(5, "Against this very machine:"),
    FLAG("host", host.wanted,
         "Compare the explanation of a command with what it takes here: user time in cycles of the "
         "measured clock, by procedure from live samples"),
    COUNT("runs", "N", host.runs, "Measure N runs, and N more with samples (default 5)", .least = 1,
          .most = HOST_RUNS_MOST, GIVEN(host.given)),
    EXPLAIN_REGIONS(host.explain.regions, host.explain.enough),
    COUNT("top", "N", host.top, "Rows of the table of procedures (default 10; 0: all)",
          GIVEN(host.given)),
    {0}};

/* A list by its ending, unless it follows "--"; else the command begins here. */
static bool take_argument(struct argp_state *state, void *given, char *value) {
    struct validate_job *job = given;
    size_t length = strlen(value);
    if (!options_quoted(state) && length > 4 && !strcmp(value + length - 4, ".csv")) {
        if (job->list)
            options_fail(state, "%s: one list at a time", value);
        job->list = value;
        return true;
    }
    if (job->list)
        options_fail(state, "%s: either a list or a command, not both", value);
    job->request.input.command = options_take_command(state);
    return true;
}

/* Natively a command runs to its end, and no regions are chosen before it is explained. */
static void check_host(struct argp_state *state, const struct validate_job *job) {
    if ((job->host.given || job->host.explain.enough) && !job->host.wanted)
        options_fail(state, "--runs, --regions, --top: only with --host");
    if (!job->host.wanted)
        return;
    if (job->full)
        options_fail(state, "--host: without --full, which goes with a list of regions");
    if (job->list || !job->request.input.command)
        options_fail(state, "--host: which command? (culprit validate --host [OPTION...] -- "
                            "COMMAND...)");
    if (job->request.input.limit || job->regions_given || job->jobs)
        options_fail(state, "--host: without --limit, --size, --max-clusters, --warm-up and "
                            "--jobs: the whole run is measured, and simulated as 'culprit "
                            "explain' does");
}

/* What is captured warms with the longest of the lengths. */
static void check(struct argp_state *state, void *given) {
    struct validate_job *job = given;
    options_check_repeatable(state, &job->request.input);
    check_host(state, job);
    if (job->list && !job->full)
        options_fail(state, "%s: and a trace of the whole run? (--full TRACE.ctrace)", job->list);
    if (!job->list && (!job->request.input.command || job->full))
        options_fail(state, "what to validate? (culprit validate [OPTION...] -- COMMAND..., or "
                            "culprit validate LIST.csv --full TRACE.ctrace)");
    if (job->cluster.wanted && !job->list)
        options_fail(state, "--cluster: nodes simulate regions of a list, cut out of a trace that "
                            "they see (culprit validate LIST.csv --full TRACE.ctrace)");
    if (job->request.input.stop && !job->request.input.limit)
        options_fail(state, "--stop: ends the command at --limit N, which is missing");
    job->request.warm_up = 0;
    for (uint32_t i = 0; i < job->warm_up_count; i++) {
        uint64_t length =
            job->warm_ups[i] == UINT64_MAX ? REGION_DEFAULT_WARM_UP : job->warm_ups[i];
        if (length > job->request.warm_up)
            job->request.warm_up = length;
    }
}

static const struct option_part PARTS[] = {
    {&machine_group, offsetof(struct validate_job, machine)},
    {&report_group, offsetof(struct validate_job, verb.output)},
    {&html_group, offsetof(struct validate_job, verb.output)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_argument, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\n--host [--] COMMAND...\nLIST.csv --full TRACE.ctrace",
    .help =
        "Tells how far an estimate from regions is off, and which step is to blame: the choice "
        "of the regions, finding them again in another run, or the cold start of each. Or, with "
        "--host, how far the simulation is from this very machine, and in which procedures."
        "\vExample:\n  culprit validate --limit 100M --size 1M -- gzip -9 -c /bin/bash > "
        "/dev/null\n  culprit validate --host -- gzip -9 -c /usr/bin/perl > /dev/null\n\n"
        "The command is captured and simulated as a whole, which takes as long as 'culprit "
        "sim' does, and run a second time to find the regions again (unless it changes files "
        "and the like; the second time its output goes nowhere). With --host it is explained "
        "first, then run 5 times natively, and 5 times with samples."};

/* ---- the steps ---- */

REPORT_FORMS(VALIDATION, validation_json, validation_text, NULL);

static bool write_report(void *verb, struct error *error) {
    struct validate_job *job = verb;
    struct validation_report *report = &job->report;
    const struct validate_run *run = &job->run;
    report->validation = &job->validation;
    report->report.verb = "validate";
    report->report.program = job->regions.command;
    report->report.partial = verb_watch.signal != 0;
    marker_check(&job->regions, &report->markers);
    report->markers_kept = run->kept[0] ? run->kept : NULL;
    report->markers_failed = run->failure[0] ? run->failure : NULL;
    report->hardware = run->hardware;
    if (!validation_add_worth(report))
        return error_set(error, "out of memory for the report");
    const struct validation_asked asked = {.list = job->list,
                                           .full = job->full,
                                           .command = job->request.input.command,
                                           .argc = job->verb.argc,
                                           .argv = job->verb.argv,
                                           .words = job->verb.words};
    report->report.next = validation_next(report, &asked);
    return verb_write_report(&job->verb, &VALIDATION, report, error);
}

static bool prepare(void *verb, struct error *error) {
    struct validate_job *job = verb;
    return (!job->cluster.wanted || cluster_is_here(error)) &&
           input_choose_machine(&job->request.input, &job->machine, &job->machines, error) &&
           verb_open_report(&job->verb, error);
}

/* The list and the full trace are from files or from the command. */
static bool run(void *verb, struct error *error) {
    struct validate_job *job = verb;
    const struct machine **machine = &job->report.report.machine;
    if (job->list
            ? !region_list_read(&job->regions, job->list, error)
            : !validate_run_go(&job->run, &job->request, &job->regions, &job->verb.failed, error))
        return false;
    if (!(*machine = machine_choice_of(&job->machines, job->regions.isa, error)))
        return false;
    const struct region_tasks tasks = {.watch = &verb_watch,
                                       .cluster = &job->cluster,
                                       .version = CULPRIT_VERSION,
                                       .options = &job->machine,
                                       .machine = *machine,
                                       .ideal = job->machine.ideal,
                                       .jobs = job->jobs,
                                       .isa = job->regions.isa};
    const struct validate_simulation simulation = {.watch = &verb_watch,
                                                   .machine = *machine,
                                                   .ideal = job->machine.ideal,
                                                   .jobs = job->cluster.wanted ? 0 : job->jobs,
                                                   .cluster = job->cluster.wanted ? &tasks : NULL,
                                                   .full = job->list ? job->full : job->run.full,
                                                   .list_path =
                                                       job->list ? job->list : job->run.list_path,
                                                   .warm_ups = job->warm_ups,
                                                   .warm_up_count = job->warm_up_count};
    const bool good = validate_simulate(&simulation, &job->regions, &job->validation, error);
    if (!verb_watch.signal)
        job->verb.exit = job->run.exit;
    return good;
}

static void clean_up(void *verb) {
    struct validate_job *job = verb;
    report_free(&job->report.report);
    validation_free(&job->validation);
    region_list_free(&job->regions);
    validate_run_free(&job->run);
    cluster_options_free(&job->cluster);
}

static const struct verb *choose(void *verb) {
    return ((struct validate_job *)verb)->host.wanted ? &verb_validate_host : &verb_validate;
}

const struct verb verb_validate = {.line = &LINE,
                                   .size = sizeof(struct validate_job),
                                   .command = offsetof(struct validate_job, request.input.command),
                                   .choose = choose,
                                   .prepare = prepare,
                                   .run = run,
                                   .report = write_report,
                                   .free = clean_up};
