/* culprit validate: how far an estimate from regions is off, and why. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "region/bbv_profile.h"
#include "region/kmeans.h"
#include "report/validation.h"
#include "study/validate.h"
#include "trace/region_capture.h"
#include "util/text.h"

enum { MAX_WARM_UPS = VALIDATION_MAX_TRIALS - 1 };

struct request {
    struct machine_options machine;
    const char *list, *full; /* NULL: a command is run */
    struct validate_run_request run;
    uint64_t warm_ups[MAX_WARM_UPS];
    uint32_t warm_up_count, jobs;
    struct output_options output;
};

/* ---- options ---- */

static void take_warm_ups(struct argp_state *state, void *given, char *value) {
    struct request *request = given;
    char *list = strdup(value), *rest = list, *word;
    request->warm_up_count = 0;
    while (rest && (word = strsep(&rest, ","))) {
        if (request->warm_up_count == MAX_WARM_UPS)
            options_fail(state, "--warm-up %s: at most %d lengths", value, MAX_WARM_UPS);
        request->warm_ups[request->warm_up_count++] =
            !strcmp(word, "all") ? UINT64_MAX : options_count(state, "--warm-up", word);
    }
    free(list);
}

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(1, "What to validate:"),
    COUNT("size", "N", run.slice, "Choose among slices of N instructions (default 10M)",
          .least = BBV_PROFILE_MIN_SIZE),
    COUNT("max-clusters", "N", run.max_regions, "Choose at most N regions (default 30)", .least = 1,
          .most = KMEANS_MAX_CLUSTERS),
    LIMIT_ROW(run.limit, "The first N instructions are the whole run"),
    STOP_ROW(run.stop),
    RERUN_ROW(run.rerun),
    NO_REPEATABLE_ROWS(run.repeatable),
    SEED_ROW(run.seed),
    HEADING(3, "How:"),
    TEXT("full", "TRACE", full,
         "With a list of regions: a trace of the whole run that they are of"),
    TAKE("warm-up", "N[,N...]", take_warm_ups,
         "Simulate regions alone after so many instructions of warm-up each (default 1M,10M,100M; "
         "'all': everything before them)"),
    JOBS_ROW(jobs, "regions"),
    {0}};

/* A list by its ending, unless it follows "--"; else the command begins here. */
static bool take_argument(struct argp_state *state, void *given, char *value) {
    struct request *request = given;
    size_t length = strlen(value);
    if (!options_quoted(state) && length > 4 && !strcmp(value + length - 4, ".csv")) {
        if (request->list)
            options_fail(state, "%s: one list at a time", value);
        request->list = value;
        return true;
    }
    if (request->list)
        options_fail(state, "%s: either a list or a command, not both", value);
    request->run.command = options_take_command(state);
    return true;
}

/* What is captured warms with the longest of the lengths. */
static void check(struct argp_state *state, void *given) {
    struct request *request = given;
    if (request->list && !request->full)
        options_fail(state, "%s: and a trace of the whole run? (--full TRACE.ctrace)",
                     request->list);
    if (!request->list && (!request->run.command || request->full))
        options_fail(state, "what to validate? (culprit validate [OPTION...] -- COMMAND..., or "
                            "culprit validate LIST.csv --full TRACE.ctrace)");
    if (request->run.stop && !request->run.limit)
        options_fail(state, "--stop: ends the command at --limit N, which is missing");
    request->run.warm_up = 0;
    for (uint32_t i = 0; i < request->warm_up_count; i++) {
        uint64_t length =
            request->warm_ups[i] == UINT64_MAX ? REGION_DEFAULT_WARM_UP : request->warm_ups[i];
        if (length > request->run.warm_up)
            request->run.warm_up = length;
    }
}

static const struct option_part PARTS[] = {{&machine_group, offsetof(struct request, machine)},
                                           {&report_group, offsetof(struct request, output)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = take_argument, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nLIST.csv --full TRACE.ctrace",
    .help = "Tells how far an estimate from regions is off, and which step is to blame: the choice "
            "of the regions, finding them again in another run, or the cold start of each."
            "\vExample:\n  culprit validate --limit 100M --size 1M -- gzip -9 -c /bin/bash > "
            "/dev/null\n\n"
            "The command is captured and simulated as a whole, which takes as long as 'culprit "
            "sim' does, and run a second time to find the regions again (unless it changes files "
            "and the like; the second time its output goes nowhere)."};

/* ---- the steps ---- */

struct work {
    const struct request *request;
    int argc;
    char **argv;
    struct machine_choice machines;
    const struct machine *machine;
    struct region_list list;
    struct validation validation;
    struct validation_report report;
    struct validate_run run;
    const char *full, *list_path; /* as given, or made by the run */
    struct output file;
};

static bool simulate(struct work *work, struct error *error) {
    const struct request *request = work->request;
    const struct validate_simulation simulation = {.watch = &verb_watch,
                                                   .machine = work->machine,
                                                   .ideal = request->machine.ideal,
                                                   .jobs = request->jobs,
                                                   .full = work->full,
                                                   .list_path = work->list_path,
                                                   .warm_ups = request->warm_ups,
                                                   .warm_up_count = request->warm_up_count};
    return validate_simulate(&simulation, &work->list, &work->validation, error);
}

static bool is_large(double error) {
    return error > 0.02 || error < -0.02;
}

/* Once more with another option; or, when all is well, the command explained. */
static char *next_of_command(const struct work *work, double choice, bool cold) {
    char *const *command = work->request->run.command;
    if (cold)
        return next_in_place("--warm-up 100M,300M", command, work->argc,
                             work->request->output.words);
    if (is_large(choice))
        return next_in_place("--max-clusters 60", command, work->argc, work->request->output.words);
    int first = (int)(command - work->argv) - 1;
    int count = work->argc - first;
    char **words = malloc((size_t)count * sizeof *words);
    if (!words)
        return NULL;
    memcpy(words, work->argv + first, (size_t)count * sizeof *words);
    words[0] = "culprit explain";
    char *next = next_with_option("--", count, words);
    free(words);
    return next;
}

/* What would lower the error most; of a list its next use. */
static char *next_step(const struct work *work) {
    const struct request *request = work->request;
    const struct validation *validation = &work->validation;
    const struct validation_trial *verdict = validation_verdict(validation);
    double whole = validation->whole.values[METRIC_CPI];
    double within = validation->within.values[METRIC_CPI];
    double choice = validation_error(within, whole);
    bool cold = verdict && is_large(validation_error(verdict->metrics.values[METRIC_CPI], within));
    char *text = NULL;
    int length;
    if (request->run.command)
        return next_of_command(work, choice, cold);
    if (cold)
        length = asprintf(&text, "culprit validate --warm-up all --full %s %s", request->full,
                          request->list);
    else if (is_large(choice))
        length = asprintf(&text, "culprit regions --max-clusters 60 -o %s FILE.bb", request->list);
    else if (work->report.markers.checked)
        length = asprintf(&text, "culprit sim --regions %s", request->list);
    else
        length = asprintf(&text, "culprit trace --regions %s -- COMMAND", request->list);
    return length < 0 ? NULL : text;
}

static bool write_report(struct work *work, struct error *error) {
    struct validation_report *report = &work->report;
    report->validation = &work->validation;
    report->report.verb = "validate";
    report->report.program = work->list.command;
    report->report.machine = work->machine;
    report->report.partial = verb_watch.signal != 0;
    marker_check(&work->list, &report->markers);
    report->markers_kept = work->run.kept[0] ? work->run.kept : NULL;
    report->markers_failed = work->run.failure[0] ? work->run.failure : NULL;
    report->hardware = work->run.hardware;
    if (!validation_add_worth(report))
        return error_set(error, "out of memory for the report");
    report->report.next = next_step(work);
    FILE *file = work->file.file;
    const struct page page = page_of(file);
    if (!work->request->output.json)
        validation_text(report, &page);
    else if (!validation_json(report, file, error))
        return false;
    return output_close(&work->file, error);
}

/* The list and the full trace, from files or from the command. Sets *status when it fails. */
static bool prepare(struct work *work, int *status, struct error *error) {
    const struct request *request = work->request;
    if (request->list) {
        work->full = request->full;
        work->list_path = request->list;
        return region_list_read(&work->list, request->list, error);
    }
    if (!validate_run_go(&work->run, &request->run, &work->list, status, error))
        return false;
    work->full = work->run.full;
    work->list_path = work->run.list_path;
    return true;
}

static bool run(struct work *work, int *status, struct error *error) {
    const struct request *request = work->request;
    *status = request->list ? STATUS_FAILED : STATUS_BROKEN;
    if (!machine_choice_load(&work->machines, &request->machine, error) ||
        !output_open_report(&work->file, &request->output, !request->list, error))
        return false;
    interrupt_catch();
    if (!prepare(work, status, error))
        return false;
    work->machine = machine_choice_of(&work->machines, work->list.isa, error);
    if (!work->machine || !simulate(work, error) || !write_report(work, error))
        return false;
    *status = request->list ? 0 : command_status(work->run.exit);
    return true;
}

int cmd_validate(int argc, char **argv) {
    struct request request = {.warm_ups = {1000000, 10000000, REGION_DEFAULT_WARM_UP},
                              .warm_up_count = 3,
                              .run = {.watch = &verb_watch,
                                      .slice = 10000000,
                                      .max_regions = 30,
                                      .repeatable = true,
                                      .seed = 1}};
    request.output.words = options_parse(&LINE, argc, argv, &request);
    struct work work = {.request = &request, .argc = argc, .argv = argv};
    struct error error = {0};
    int status;
    if (!run(&work, &status, &error))
        print_error(&error);
    report_free(&work.report.report);
    validation_free(&work.validation);
    region_list_free(&work.list);
    validate_run_free(&work.run);
    output_discard(&work.file);
    free(request.output.words);
    return verb_watch.signal ? 128 + verb_watch.signal : status;
}
