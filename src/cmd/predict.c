/* culprit predict: CPI due to long data misses by the hybrid analytical model, for one machine or
 * many, without simulating them. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/notes.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "model/predict_regions.h"
#include "report/predict_report.h"
#include "simulate/regions.h"
#include "study/trace_input.h"
#include "util/text.h"

struct request {
    int argc;
    struct input_options input;
    struct machine_options machine;
    struct predict_sweep sweep;
    struct predict_method methods[1 + PREDICT_REFINEMENTS]; /* the one asked for, then those */
    bool check;
    const char *regions; /* file; NULL: none */
    uint64_t warm_up;    /* instructions before each, at most */
    bool compensation_given, no_pending_given, parts_given;
    struct output_options output;
};

static void take_setting(struct argp_state *state, void *request, char *value) {
    options_add_setting(&((struct request *)request)->machine, state, value);
}

static void take_sweep(struct argp_state *state, void *request, char *value) {
    struct error error;
    if (!predict_sweep_add(&((struct request *)request)->sweep, value, &error))
        options_fail(state, "--sweep: %s", error.message);
}

static void take_compensation(struct argp_state *state, void *request, char *value) {
    static const char *const FIXED[] = {"oldest", "1/4", "1/2", "3/4", "youngest"};
    static const char *const NAMES[] = {[COMPENSATE_NONE] = "none",
                                        [COMPENSATE_FIXED] = "1/2",
                                        [COMPENSATE_DISTANCE] = "distance",
                                        [COMPENSATE_WINDOW] = "window"};
    struct predict_method *method = &((struct request *)request)->methods[0];
    method->fixed = 0.5;
    for (int i = COMPENSATE_NONE; i <= COMPENSATE_WINDOW; i++)
        if (!strcmp(value, NAMES[i])) {
            method->compensation = (enum hybrid_compensation)i;
            return;
        }
    for (int i = 0; i < 5; i++)
        if (!strcmp(value, FIXED[i])) {
            method->compensation = COMPENSATE_FIXED;
            method->fixed = i / 4.0;
            return;
        }
    options_fail(state,
                 "--compensation %s: window, distance, none, oldest, 1/4, 1/2, 3/4 or youngest",
                 value);
}

static void take_parts(struct argp_state *state, void *request, char *value) {
    struct predict_method *method = &((struct request *)request)->methods[0];
    method->parts = 0;
    for (const char *letter = value; *letter; letter++) {
        if (*letter < 'a' || *letter > 'c')
            options_fail(state, "--parts %s: letters of a, b and c", value);
        method->parts |= 1u << (*letter - 'a');
    }
}

static const char *const WINDOWS[] = {"plain", "swam", "swam-mlp", "sliding"};

#define REQUEST struct request
static const struct option_row OPTIONS[] = {
    HEADING(2, "For which machines:"),
    MACHINE_ROWS(machine.machine, take_setting, "chen-ooo"),
    TAKE("sweep", "FIGURE=VALUE,...", take_sweep,
         "Every combination of these values; may be repeated, or be several in one word. FIGURE: "
         "rob, mshr (0: unlimited), latency (of memory, cycles), prefetch (none, next_line, "
         "on_miss, tagged, stride)"),
    HEADING(3, "How to predict:"),
    CHOICE("windows", "KIND", methods[0].windows,
           "sliding (default; no windows, the reorder buffer slides), plain, swam or swam-mlp",
           WINDOWS),
    NO_FLAG("no-pending-hits", methods[0].pending_hits,
            "Of windows: take hits on blocks that are still on their way for hits like any",
            GIVEN(no_pending_given)),
    TAKE("compensation", "KIND", take_compensation,
         "Of windows: window (default), distance, none, or by a fixed part of the reorder buffer: "
         "oldest, 1/4, 1/2, 3/4, youngest",
         GIVEN(compensation_given)),
    TAKE("parts", "LETTERS", take_parts,
         "Of windows: parts of the analysis of prefetches, of a, b and c (default: abc)",
         GIVEN(parts_given)),
    FLAG("ignore-mshrs", methods[0].ignore_mshrs, "As if misses in flight were unlimited"),
    HEADING(4, "How good it is:"),
    FLAG("check", check,
         "Simulate every machine as well, with and without long data misses, and show how far the "
         "prediction and each refinement of the model are off; slow"),
    HEADING(5, "The whole run from regions of it:"),
    TEXT("regions", "LIST", regions,
         "Predict the regions of this list, captured by 'culprit trace --regions', and combine "
         "them"),
    REGIONS_WARM_UP_ROW(warm_up),
    OUTPUT_ROWS(6, output),
    SVG_ROW(output, "Draw the figures of a --sweep"),
    {0}};

static void check_method(struct request *request, const struct argp_state *state) {
    struct predict_method *method = &request->methods[0];
    const char *of_windows = request->no_pending_given     ? "--no-pending-hits"
                             : request->compensation_given ? "--compensation"
                             : request->parts_given        ? "--parts"
                                                           : NULL;
    if (method->windows == WINDOWS_SLIDING && of_windows)
        options_fail(state, "%s: the reorder buffer slides (add --windows swam-mlp)", of_windows);
    if (method->windows != WINDOWS_SLIDING && !request->compensation_given)
        method->compensation = COMPENSATE_WINDOW;
}

static void check_regions(const struct request *request, const struct argp_state *state) {
    if (!request->regions && request->warm_up != UINT64_MAX)
        options_fail(state, "--warm-up: it is about regions (add --regions LIST)");
    if (!request->regions)
        return;
    options_check_regions(state, &request->input, "predicted");
}

static void check(struct argp_state *state, void *given) {
    struct request *request = given;
    options_check_output(state, &request->output);
    check_method(request, state);
    check_regions(request, state);
    if (!request->input.command && !request->input.trace && !request->regions)
        options_fail(state, "what to predict? (culprit predict [OPTION...] -- COMMAND..., culprit "
                            "predict FILE.ctrace, or culprit predict --regions LIST)");
    if (request->output.svg && request->sweep.axes == 0)
        options_fail(state, "--svg: it draws what varies (add --sweep)");
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct request, input)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace\n--regions LIST",
    .help = "Predicts the cycles per instruction that a machine loses to loads that miss its last "
            "cache, from the order of misses and who waits for whom, without simulating it: for "
            "any reorder buffer, memory latency, number of MSHRs and prefetcher, many at once.\v"
            "Example:\n  culprit predict --limit 20M --sweep rob=64,256 -- gzip -9c /bin/bash "
            ">gz\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

struct job {
    const struct request *request;
    struct machine_choice *choice;
    struct machine *machines;
    uint32_t machine_count;
    struct trace_input input;
    struct region_list list;
    struct regions_lost lost;
    struct predicted_regions regions;
    struct report_files files;
    struct hybrid_prediction prediction;
    struct predict_report report;
};

/* All that can be wrong with what is asked for, before a command starts. */
static bool prepare(struct job *job, struct error *error) {
    const struct request *request = job->request;
    if (!machine_choice_load(job->choice, &request->machine, error))
        return false;
    const struct machine *machine = &job->choice->candidates[0].machine;
    if (!predict_sweep_build(&request->sweep, machine, &job->machines, &job->machine_count, error))
        return error_prefix(error, "--sweep");
    for (uint32_t i = 0; i < job->machine_count; i++) {
        struct hybrid_config config;
        if (!predict_config(&job->machines[i], &request->methods[0], &config, error))
            return false;
    }
    return report_files_open(&job->files, &request->output, request->input.command, error);
}

static const char *program_of(const struct job *job) {
    return job->request->regions ? job->list.command : trace_command(job->input.trace);
}

static bool predict_input(struct job *job, const struct predict_options *options,
                          struct error *error) {
    const struct request *request = job->request;
    if (request->regions)
        return predict_regions(&job->list, request->regions, request->warm_up, options,
                               &job->regions, &job->prediction, error);
    return predict(job->input.trace, options, &job->prediction, error);
}

static bool run_model(struct job *job, struct error *error) {
    const struct request *request = job->request;
    const struct predict_options options = {.machines = job->machines,
                                            .machine_count = job->machine_count,
                                            .methods = request->methods,
                                            .method_count =
                                                request->check ? 1 + PREDICT_REFINEMENTS : 1,
                                            .check = request->check,
                                            .selection = job->input.selection,
                                            .progress = watch_progress,
                                            .progress_context = &verb_watch,
                                            .stop = &verb_watch.signal};
    const char *label = request->check ? "simulating" : "predicting";
    if (request->regions)
        watch_begin(&verb_watch, label, "instructions",
                    region_list_work(&job->list, request->warm_up));
    else
        watch_begin_within(&verb_watch, label, "instructions", request->input.limit);
    const bool good = predict_input(job, &options, error);
    watch_end(&verb_watch);
    if (!good || (!request->regions && !trace_input_end(&job->input, error)))
        return false;
    if (job->prediction.instructions == 0)
        return input_nothing(&verb_watch, &request->input, job->input.trace, "predicted", error);
    return job->prediction.machines[0].counts.accesses > 0 ||
           error_set(error,
                     "%s: none of the %s instructions loads or stores anything, so nothing "
                     "can miss",
                     program_of(job), text_count(job->prediction.instructions).s);
}

static void note_regions(struct report *report, const struct job *job) {
    note_lost_regions(report, job->request->regions, &job->lost);
    report_note(report, "estimated from %u of %u regions: %s of %s instructions", job->regions.done,
                job->regions.count, text_count(job->regions.instructions).s,
                text_count(job->list.instructions).s);
    report_note(report, "what comes before a region in its trace warms its caches; what a program "
                        "reuses after longer may count as a miss");
}

static void add_notes(struct job *job) {
    struct report *report = &job->report.report;
    const struct hybrid_prediction *prediction = &job->prediction;
    if (job->request->regions)
        note_regions(report, job);
    else
        note_trace(report, job->input.trace);
    report_note(report, "hybrid analytical model; %saccesses take effect in program order",
                job->request->regions ? "" : "caches are empty at the start, ");
    if (job->request->check)
        report_note(report,
                    "simulated: cycles on the cycle-level core less those with last-level misses "
                    "ideal; branches and instruction fetch ideal in both");
    else
        report_note(report,
                    "%s: %s instructions in %s, of which caches and model %s (--check "
                    "compares with a simulation)",
                    job->machine_count == 1 ? "one machine" : "all machines",
                    text_count(prediction->instructions).s, text_duration(prediction->seconds).s,
                    text_duration(prediction->model_seconds).s);
    report_note(report, "taken for granted: what waits for no miss goes on at full width; where it "
                        "is slower, more of a miss hides behind it and less is lost");
    report_note(report,
                "not modelled: what else takes time (computing, branches, instruction "
                "fetch, translation), %slimits of memory bandwidth, the kernel",
                job->request->methods[0].windows == WINDOWS_SLIDING ? "" : "a full store queue, ");
}

static bool write_report(struct job *job, struct error *error) {
    const struct request *request = job->request;
    struct predict_report *report = &job->report;
    *report = (struct predict_report){
        .report = {.verb = "predict",
                   .program = program_of(job),
                   .machine = &job->choice->candidates[0].machine,
                   .partial = job->prediction.interrupted ||
                              (!request->regions && trace_is_cut(job->input.trace))},
        .sweep = &request->sweep,
        .machines = job->machines,
        .machine_count = job->machine_count,
        .methods = request->methods,
        .method_count = request->check ? 1 + PREDICT_REFINEMENTS : 1,
        .checked = request->check,
        .prediction = &job->prediction,
        .regions = request->regions ? &job->regions : NULL};
    add_notes(job);
    if (!request->check)
        report->report.next = next_with_option("--check", request->argc, request->output.words);
    const struct page page = page_of(job->files.report.file);
    if (!request->output.json)
        predict_text(report, &page);
    else if (!predict_json(report, job->files.report.file, error))
        return false;
    if (request->output.svg)
        predict_svg(report, job->files.picture.file);
    return report_files_close(&job->files, error);
}

static bool open_input(struct job *job, int *failed, struct error *error) {
    const struct request *request = job->request;
    return request->regions
               ? region_list_read(&job->list, request->regions, error) &&
                     region_list_do_without(&job->list, request->regions, &job->lost, error)
               : trace_input_open(&job->input, &verb_watch, &request->input, 0, NULL, failed,
                                  error);
}

static int run_steps(struct job *job, struct error *error) {
    const struct request *request = job->request;
    const bool live = request->input.command;
    int failed = live ? STATUS_BROKEN : STATUS_FAILED;
    if (!prepare(job, error))
        return failed;
    interrupt_catch();
    if (!open_input(job, &failed, error) || !run_model(job, error) || !write_report(job, error))
        return verb_watch.signal && !job->prediction.instructions ? 128 + verb_watch.signal
                                                                  : failed;
    return live                ? command_status(trace_exit_status(job->input.trace))
           : verb_watch.signal ? 128 + verb_watch.signal
                               : 0;
}

int cmd_predict(int argc, char **argv) {
    struct request request = {.argc = argc,
                              .machine.machine = "chen-ooo",
                              .warm_up = UINT64_MAX,
                              .methods[0] = predict_refinements[PREDICT_REFINEMENTS - 1]};
    struct machine_choice choice = {0};
    struct job job = {.request = &request, .choice = &choice};
    struct error error = {0};
    memcpy(&request.methods[1], predict_refinements, sizeof predict_refinements);
    request.input.traces_allowed = true;
    request.output.words = options_parse(&LINE, argc, argv, &request);
    const int status = run_steps(&job, &error);
    if (error.message[0])
        print_error(&error);
    report_free(&job.report.report);
    hybrid_prediction_free(&job.prediction);
    trace_input_close(&job.input);
    region_list_free(&job.list);
    report_files_discard(&job.files);
    free(job.machines);
    free(request.output.words);
    return status;
}
