/* culprit explain: the whole run of a command in bounded time, in plain words. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/explain_run.h"
#include "cmd/legend.h"
#include "trace/region_capture.h"

enum key {
    KEY_EXACT = 1024,
    KEY_REPEATABLE,
    KEY_NO_REPEATABLE,
    KEY_REGIONS,
    KEY_REGIONS_OVER,
    KEY_RERUN,
    KEY_SEED,
    KEY_SYSTEMATIC,
    KEY_WARM,
    KEY_WARM_UP
};

/* Many short regions tell more than few long ones that take as long to simulate: what follows on an
 * instruction is much like it. */
enum { REGIONS = 160, REGIONS_MOST = 10000 };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "How much to simulate:", 4},
    {"exact", KEY_EXACT, NULL, 0, "Every instruction, however long it takes", 0},
    {"regions", KEY_REGIONS, "N", 0,
     "Simulate N regions: more take longer and leave less error (default 160, and 640 when these "
     "leave more than 3 % open)",
     0},
    {"regions-over", KEY_REGIONS_OVER, "N", 0,
     "A run of more than N instructions is explained by representative regions of it, in a second "
     "run (default 200M)",
     0},
    {"warm-up", KEY_WARM_UP, "N", 0,
     "Warm caches and predictors with N instructions before each region (default 15M)", 0},
    {"rerun", KEY_RERUN, NULL, 0,
     "Run the command a second time even though it sets a timer or changes the world (writes or "
     "deletes files, "
     "talks to or starts other programs)",
     0},
    {"repeatable", KEY_REPEATABLE, NULL, 0,
     "Give the command the same random numbers in every run, which is the default", 0},
    {"no-repeatable", KEY_NO_REPEATABLE, NULL, 0,
     "Leave the command the kernel's random numbers; else it gets the same ones in every run, and "
     "keys that it makes are no secret",
     0},
    {"seed", KEY_SEED, "N", 0, "Which random numbers (default 1)", 0},
    {"systematic", KEY_SYSTEMATIC, NULL, 0, "One run, whatever its length, sampled systematically",
     0},
    {"warm", KEY_WARM, "N", 0,
     "Warm caches and predictors with N instructions before each window of systematic sampling "
     "(default 4M)",
     0},
    {0}};

static error_t set_regions(struct explain_request *explain, struct argp_state *state,
                           const char *value) {
    const uint64_t regions = options_count(state, "--regions", value);
    if (regions < 2 || regions > REGIONS_MOST)
        options_fail(state, "--regions %s: 2 to %d", value, REGIONS_MOST);
    explain->regions = (uint32_t)regions;
    explain->enough = true;
    return 0;
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct explain_request *explain = state->input;
    struct run_request *request = &explain->run;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->input;
        state->child_inputs[1] = &request->machine;
        state->child_inputs[2] = &request->output;
        state->child_inputs[3] = &request->output.by;
        state->child_inputs[4] = &request->save;
        state->child_inputs[5] = &request->input;
        state->child_inputs[6] = &request->output;
        return 0;
    case KEY_EXACT:
        request->sampling = sampling_everything();
        explain->over = UINT64_MAX;
        return 0;
    case KEY_REPEATABLE:
        request->input.repeatable = true;
        return 0;
    case KEY_NO_REPEATABLE:
        request->input.repeatable = false;
        return 0;
    case KEY_SEED:
        request->input.seed = options_count(state, "--seed", value);
        return 0;
    case KEY_SYSTEMATIC:
        explain->over = UINT64_MAX;
        return 0;
    case KEY_REGIONS:
        return set_regions(explain, state, value);
    case KEY_REGIONS_OVER:
        explain->over = options_count(state, "--regions-over", value);
        return 0;
    case KEY_RERUN:
        explain->rerun = true;
        return 0;
    case KEY_WARM_UP:
        explain->warm_up = options_count(state, "--warm-up", value);
        return 0;
    case KEY_WARM:
        request->sampling.warm = options_count(state, "--warm", value);
        return 0;
    case ARGP_KEY_END:
        if (request->output.legend && !request->input.command && !request->input.trace)
            legend_alone();
        if (!request->input.command && !request->input.trace)
            options_fail(state, "what to explain? (culprit explain [OPTION...] -- COMMAND..., or "
                                "culprit explain FILE.ctrace)");
        request->input.follow |=
            request->input.command && !request->input.no_follow && request->input.thread < 0;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {
    {&input_argp, 0, NULL, 0},  {&machine_argp, 0, NULL, 0},
    {&output_argp, 0, NULL, 0}, {&grain_argp, 0, NULL, 0},
    {&save_argp, 0, NULL, 0},   {&for_argp, 0, NULL, 0},
    {&legend_argp, 0, NULL, 0}, {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[--] COMMAND...\nTRACE.ctrace",
    .doc = "Explains where the cycles of a command, or a trace, go: functions, source lines and "
           "instructions, and what each waited for.\v"
           "Example:\n  culprit explain -- gzip -9 -c /bin/bash > /dev/null\n\n"
           "A run of up to 200 million instructions is simulated in full. Of a longer one "
           "representative regions are chosen (SimPoint) and simulated in a second run of the "
           "command. Processes that the command starts are included. A command that changes the "
           "world, "
           "or starts processes, is not run twice: it is sampled in its only "
           "run, the first 50 million instructions in full, then windows of 250,000 in ever longer "
           "periods, 64 of each length. The report says which it was. It goes to standard error, "
           "the command keeps standard output and its exit status; 125 when culprit failed.",
    .children = CHILDREN};

int cmd_explain(int argc, char **argv) {
    struct explain_request request = {.run = {.verb = "explain",
                                              .argc = argc,
                                              .argv = options_words(argc, argv),
                                              .sampling = sampling_default(),
                                              .plain = true},
                                      .over = 200000000,
                                      .regions = REGIONS,
                                      .warm_up = 15000000};
    request.run.input.traces_allowed = true;
    request.run.input.repeatable = true;
    request.run.input.seed = 1;
    request.run.output.words = request.run.argv;
    options_parse(&ARGP, argc, argv, &request);
    int status = run_explain(&request);
    free(request.run.argv);
    return status;
}
