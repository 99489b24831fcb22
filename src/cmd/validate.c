/* culprit validate: how far an estimate from regions is off, and why. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/machine_choice.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "report/validation.h"
#include "util/progress.h"
#include "util/text.h"

enum { MAX_WARM_UPS = 16, MAX_JOBS = 1024 };

enum key { KEY_FULL = 1024, KEY_WARM_UP, KEY_JOBS, KEY_JSON, KEY_OUTPUT };

struct request {
    struct machine_options machine;
    const char *list, *full;
    uint64_t warm_ups[MAX_WARM_UPS];
    uint32_t warm_up_count, jobs;
    bool json;
    const char *output;
};

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "What to compare:", 1},
    {"full", KEY_FULL, "TRACE", 0, "A trace of the whole run that the regions are of", 0},
    {"warm-up", KEY_WARM_UP, "N[,N...]", 0,
     "Simulate regions alone after so many instructions of warm-up each (default 0,1M,10M; 'all': "
     "everything before them)",
     0},
    {"jobs", KEY_JOBS, "N", 0, "N regions at once (default: as many as processors)", 0},
    {NULL, 0, NULL, 0, "Report:", 3},
    {"json", KEY_JSON, NULL, 0, "One JSON object (docs/json.md) in place of the text", 0},
    {"output", KEY_OUTPUT, "FILE", 0, "Write the report to FILE", 0},
    {0}};

/* ---- options ---- */

static void take_warm_ups(struct request *request, struct argp_state *state, const char *value) {
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

static error_t parse(int key, char *value, struct argp_state *state) {
    struct request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->machine;
        return 0;
    case KEY_FULL:
        request->full = value;
        return 0;
    case KEY_WARM_UP:
        take_warm_ups(request, state, value);
        return 0;
    case KEY_JOBS: {
        uint64_t jobs = options_count(state, "--jobs", value);
        if (!jobs || jobs > MAX_JOBS)
            options_fail(state, "--jobs %s: from 1 to %d", value, MAX_JOBS);
        request->jobs = (uint32_t)jobs;
        return 0;
    }
    case KEY_JSON:
        request->json = true;
        return 0;
    case KEY_OUTPUT:
        request->output = value;
        return 0;
    case ARGP_KEY_ARG:
        if (request->list)
            options_fail(state, "%s: one list at a time", value);
        request->list = value;
        return 0;
    case ARGP_KEY_END:
        if (!request->list || !request->full)
            options_fail(state, "what to validate? (culprit validate LIST --full TRACE.ctrace)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {{&machine_argp, 0, NULL, 0}, {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "LIST --full TRACE.ctrace",
    .doc = "Tells how far an estimate from regions is off, and which step is to blame: the choice "
           "of the regions, finding them again in another run, or the cold start of each."
           "\vExample:\n  culprit trace -o gzip.ctrace -- gzip -9 -c /bin/bash > /dev/null && "
           "culprit bbv -o gzip.bb gzip.ctrace && culprit regions -o gzip.csv gzip.bb && culprit "
           "validate gzip.csv --full gzip.ctrace\n\n"
           "The full trace is simulated as a whole, which takes as long as 'culprit sim' does.",
    .children = CHILDREN};

/* ---- the steps ---- */

struct work {
    const struct request *request;
    struct machine_choice machines;
    const struct machine *machine;
    struct region_list list;
    struct validation validation;
    struct validation_report report;
    struct output file;
    struct progress progress;
};

static void show_progress(void *context, uint64_t instructions) {
    progress_update(context, instructions);
}

static struct validation_options options_of(struct work *work) {
    return (struct validation_options){.machine = work->machine,
                                       .ideal = work->request->machine.ideal,
                                       .jobs = work->request->jobs,
                                       .stop = &interrupt_signal,
                                       .progress = show_progress,
                                       .progress_context = &work->progress};
}

static bool simulate_full(struct work *work, struct error *error) {
    const struct validation_options options = options_of(work);
    progress_start(&work->progress, stderr, "the whole run", "instructions",
                   work->list.instructions);
    bool good =
        validation_full(&work->validation, &work->list, work->request->full, &options, error);
    progress_finish(&work->progress);
    return good;
}

/* `trace` NULL: from the regions' own. */
static bool simulate_alone(struct work *work, const char *trace, uint64_t warm_up,
                           struct error *error) {
    const struct validation_options options = options_of(work);
    progress_start(&work->progress, stderr, "regions alone", "instructions", 0);
    bool good =
        validation_alone(&work->validation, trace, work->request->list, warm_up, &options, error);
    progress_finish(&work->progress);
    return good;
}

/* Lengths of warm-up that were not reached are left out of the report. */
static bool try_warm_ups(struct work *work, struct error *error) {
    const struct request *request = work->request;
    for (uint32_t i = 0; i < request->warm_up_count; i++)
        if (!simulate_alone(work, request->full, request->warm_ups[i], error))
            return false;
    bool captured = work->list.region_count > 0;
    for (size_t i = 0; i < work->list.region_count; i++)
        captured &= work->list.regions[i].trace != NULL;
    return !captured || simulate_alone(work, NULL, UINT64_MAX, error);
}

/* What would lower the error most. */
static char *next_step(const struct work *work) {
    const struct request *request = work->request;
    const struct validation *validation = &work->validation;
    const struct validation_trial *verdict = validation_verdict(validation);
    double whole = validation->whole.values[METRIC_CPI];
    double within = validation->within.values[METRIC_CPI];
    char *text = NULL;
    int length;
    if (verdict && verdict->warm_up != UINT64_MAX &&
        validation_error(verdict->metrics.values[METRIC_CPI], within) > 0.02)
        length = asprintf(&text, "culprit validate --warm-up all --full %s %s", request->full,
                          request->list);
    else if (validation_error(within, whole) > 0.02 || validation_error(within, whole) < -0.02)
        length = asprintf(&text, "culprit regions --threshold 1 -o %s FILE.bb", request->list);
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
    report->report.partial = interrupt_signal != 0;
    marker_check(&work->list, &report->markers);
    if (!validation_add_worth(report))
        return error_set(error, "out of memory for the report");
    report->report.next = next_step(work);
    FILE *file = work->file.file;
    if (!work->request->json)
        validation_text(report, text_use_colour(file), file);
    else if (!validation_json(report, file, error))
        return false;
    return output_close(&work->file, error);
}

static bool run(struct work *work, struct error *error) {
    const struct request *request = work->request;
    if (!machine_choice_load(&work->machines, &request->machine, error) ||
        !region_list_read(&work->list, request->list, error) ||
        !output_open(&work->file, "--output", request->output, stdout, error))
        return false;
    work->machine = machine_choice_of(&work->machines, work->list.isa, error);
    interrupt_catch();
    if (!work->machine || !simulate_full(work, error))
        return false;
    return (try_warm_ups(work, error) || interrupt_signal) && write_report(work, error);
}

int cmd_validate(int argc, char **argv) {
    struct request request = {.warm_ups = {0, 1000000, 10000000}, .warm_up_count = 3};
    options_parse(&ARGP, argc, argv, &request);
    struct work work = {.request = &request};
    struct error error = {0};
    bool good = run(&work, &error);
    if (!good)
        print_error(&error);
    report_free(&work.report.report);
    validation_free(&work.validation);
    region_list_free(&work.list);
    output_discard(&work.file);
    return interrupt_signal ? 128 + interrupt_signal : good ? 0 : STATUS_FAILED;
}
