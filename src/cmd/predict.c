/* culprit predict: CPI due to long data misses by the hybrid analytical model, for one machine or
 * many, without simulating them. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "report/next.h"
#include "report/predict_report.h"
#include "report/trace_notes.h"
#include "study/predict_run.h"

struct job {
    struct verb_run verb;
    struct input_options input;
    struct machine_options machine;
    struct predict_sweep sweep;
    struct predict_method methods[1 + PREDICT_REFINEMENTS]; /* the one asked for, then those */
    bool check;
    bool compensation_given, no_pending_given, parts_given;

    struct machine_choice choice;
    struct machine *machines;
    struct predict_run run;
    struct predict_report report;
};

static void begin(void *verb) {
    struct job *job = verb;
    job->input.traces_allowed = true;
    job->machine.machine = "chen-ooo";
    job->run.watch = &verb_watch;
    job->run.input = &job->input;
    job->run.warm_up = UINT64_MAX;
    job->methods[0] = predict_refinements[PREDICT_REFINEMENTS - 1];
    memcpy(&job->methods[1], predict_refinements, sizeof predict_refinements);
}

static void take_sweep(struct argp_state *state, void *request, char *value) {
    struct error error;
    if (!predict_sweep_add(&((struct job *)request)->sweep, value, &error))
        options_fail(state, "--sweep: %s", error.message);
}

static struct predict_method *method_of(void *request) {
    return &((struct job *)request)->methods[0];
}

static void take_compensation(struct argp_state *state, void *request, char *value) {
    if (!predict_method_compensate(method_of(request), value))
        options_fail(state,
                     "--compensation %s: window, distance, none, oldest, 1/4, 1/2, 3/4 or youngest",
                     value);
}

static void take_parts(struct argp_state *state, void *request, char *value) {
    if (!predict_method_take_parts(method_of(request), value))
        options_fail(state, "--parts %s: letters of a, b and c", value);
}

static const char *const WINDOWS[] = {"plain", "swam", "swam-mlp", "sliding"};

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(2, "For which machines:"),
    MACHINE_ROWS(machine, "chen-ooo"),
    TAKE("sweep", "FIGURE=VALUE,...", take_sweep,
         "Every combination of these values; may be repeated, or be several in one word. FIGURE: "
         "rob, mshr (0: unlimited), latency (of memory, cycles), prefetch (none, next_line, "
         "on_miss, tagged, stride, or another of docs/machines.md)"),
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
         .may_be_empty = true, GIVEN(parts_given)),
    FLAG("ignore-mshrs", methods[0].ignore_mshrs, "As if misses in flight were unlimited"),
    HEADING(4, "How good it is:"),
    FLAG("check", check,
         "Simulate every machine as well, with and without long data misses, and show how far the "
         "prediction and each refinement of the model are off; slow"),
    HEADING(5, "The whole run from regions of it:"),
    TEXT("regions", "LIST", run.list,
         "Predict the regions of this list, captured by 'culprit trace --regions', and combine "
         "them"),
    REGIONS_WARM_UP_ROW(run.warm_up),
    OUTPUT_ROWS(6, verb.output),
    HTML_ROW(verb.output),
    SVG_ROW(verb.output, "Draw the figures of a --sweep"),
    {0}};

static void check_method(struct job *job, const struct argp_state *state) {
    struct predict_method *method = &job->methods[0];
    const char *of_windows = job->no_pending_given     ? "--no-pending-hits"
                             : job->compensation_given ? "--compensation"
                             : job->parts_given        ? "--parts"
                                                       : NULL;
    if (method->windows == WINDOWS_SLIDING && of_windows)
        options_fail(state, "%s: the reorder buffer slides (add --windows swam-mlp)", of_windows);
    if (method->windows != WINDOWS_SLIDING && !job->compensation_given)
        method->compensation = COMPENSATE_WINDOW;
}

static void check(struct argp_state *state, void *given) {
    struct job *job = given;
    options_check_output(state, &job->verb.output);
    check_method(job, state);
    options_check_regions(state, &job->input, job->run.list, job->run.warm_up, "predicted");
    if (!job->input.command && !job->input.trace && !job->run.list)
        options_fail(state, "what to predict? (culprit predict [OPTION...] -- COMMAND..., culprit "
                            "predict FILE.ctrace, or culprit predict --regions LIST)");
    if (job->verb.output.svg && job->sweep.axes == 0)
        options_fail(state, "--svg: it draws what varies (add --sweep)");
}

static const struct option_part PARTS[] = {{&input_group, offsetof(struct job, input)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace\n--regions LIST",
    .help = "Predicts the cycles per instruction that a machine loses to loads that miss its last "
            "cache, from the order of misses and who waits for whom, without simulating it: for "
            "any reorder buffer, memory latency, number of MSHRs and prefetcher, many at once.\v"
            "Example:\n  culprit predict --limit 20M --sweep rob=64,256 -- gzip -9c /bin/bash "
            ">gz\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    options_fix_machine(&job->input, &job->machine);
    const struct machine *machine;
    if (!input_choose_machine(&job->input, &job->machine, &job->choice, error) ||
        !(machine = machine_choice_of(&job->choice, ISA_X86_64, error)))
        return false;
    struct predict_options *options = &job->run.options;
    options->methods = job->methods;
    options->method_count = job->check ? 1 + PREDICT_REFINEMENTS : 1;
    options->check = job->check;
    if (!predict_sweep_build(&job->sweep, machine, &job->machines, &options->machine_count, error))
        return error_prefix(error, "--sweep");
    options->machines = job->machines;
    for (uint32_t i = 0; i < options->machine_count; i++) {
        struct hybrid_config config;
        if (!predict_config(&job->machines[i], &job->methods[0], &config, error))
            return false;
    }
    return verb_open_report(&job->verb, error);
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    const bool good = predict_run_go(&job->run, &job->verb.failed, error);
    job->verb.measured = job->run.prediction.instructions;
    verb_command_ended(&job->verb, job->run.trace.trace);
    return good;
}

REPORT_PICTURE(draw, predict_svg)
REPORT_FORMS(PREDICTION, predict_json, predict_text, NULL);
REPORT_FORMS(SWEPT, predict_json, predict_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    struct predict_report *report = &job->report;
    const struct predict_run *run = &job->run;
    const struct trace *trace = run->trace.trace;
    *report = (struct predict_report){
        .report = {.verb = "predict",
                   .program = predict_run_program(run),
                   .machine = &job->choice.candidates[0].machine,
                   .partial = run->prediction.interrupted || (trace && trace_is_cut(trace))},
        .sweep = &job->sweep,
        .machines = job->machines,
        .machine_count = run->options.machine_count,
        .methods = job->methods,
        .method_count = run->options.method_count,
        .checked = job->check,
        .prediction = &run->prediction,
        .regions = trace ? NULL : &run->estimated};
    if (trace)
        note_trace(&report->report, trace);
    else
        note_lost_regions(&report->report, run->list, &run->lost);
    predict_note(report, run->regions.instructions);
    if (!job->check)
        report->report.next = next_with_option("--check", job->verb.argc, job->verb.words);
    return verb_write_report(&job->verb, job->sweep.axes ? &SWEPT : &PREDICTION, report, error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    report_free(&job->report.report);
    predict_run_free(&job->run);
    free(job->machines);
}

const struct verb verb_predict = {.line = &LINE,
                                  .size = sizeof(struct job),
                                  .command = offsetof(struct job, input.command),
                                  .prepare = prepare,
                                  .run = run,
                                  .report = write_report,
                                  .free = clean_up};
