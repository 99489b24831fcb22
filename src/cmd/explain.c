/* culprit explain: the whole run of a command in bounded time, in plain words. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/explain_run.h"
#include "trace/region_capture.h"

enum key { KEY_EXACT = 1024, KEY_REGIONS_OVER, KEY_RERUN, KEY_SYSTEMATIC, KEY_WARM, KEY_WARM_UP };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "How much to simulate:", 4},
    {"exact", KEY_EXACT, NULL, 0, "Every instruction, however long it takes", 0},
    {"regions-over", KEY_REGIONS_OVER, "N", 0,
     "A run of more than N instructions is explained by representative regions of it, in a second "
     "run (default 200M)",
     0},
    {"warm-up", KEY_WARM_UP, "N", 0,
     "Warm caches and predictors with N instructions before each region (default 30M)", 0},
    {"rerun", KEY_RERUN, NULL, 0,
     "Run the command a second time even though it changes the world (writes or deletes files, "
     "talks to or starts other programs)",
     0},
    {"systematic", KEY_SYSTEMATIC, NULL, 0, "One run, whatever its length, sampled systematically",
     0},
    {"warm", KEY_WARM, "N", 0,
     "Warm caches and predictors with N instructions before each window of systematic sampling "
     "(default 4M)",
     0},
    {0}};

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
        return 0;
    case KEY_EXACT:
        request->sampling = sampling_everything();
        explain->over = UINT64_MAX;
        return 0;
    case KEY_SYSTEMATIC:
        explain->over = UINT64_MAX;
        return 0;
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
        if (!request->input.command && !request->input.trace)
            options_fail(state, "what to explain? (culprit explain [OPTION...] -- COMMAND..., or "
                                "culprit explain FILE.ctrace)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {
    {&input_argp, 0, NULL, 0}, {&machine_argp, 0, NULL, 0}, {&output_argp, 0, NULL, 0},
    {&grain_argp, 0, NULL, 0}, {&save_argp, 0, NULL, 0},    {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[--] COMMAND...\nTRACE.ctrace",
    .doc = "Explains where the cycles of a command, or a trace, go: functions, source lines and "
           "instructions, and what each waited for.\v"
           "Example:\n  culprit explain -- gzip -9 -c /bin/bash > /dev/null\n\n"
           "A run of up to 200 million instructions is simulated in full. Of a longer one "
           "representative regions are chosen (SimPoint) and simulated in a second run of the "
           "command. A command that changes the world is not run twice: it is sampled in its only "
           "run, the first 50 million instructions in full, then windows of 250,000 in ever longer "
           "periods, 64 of each length. The report says which it was. It goes to standard error, "
           "the command keeps standard output and its exit status; 125 when culprit failed.",
    .children = CHILDREN};

int cmd_explain(int argc, char **argv) {
    struct explain_request request = {.run = {.verb = "explain",
                                              .argc = argc,
                                              .argv = argv,
                                              .sampling = sampling_default(),
                                              .plain = true},
                                      .over = 200000000,
                                      .warm_up = 30000000};
    request.run.input.traces_allowed = true;
    options_parse(&ARGP, argc, argv, &request);
    return run_explain(&request);
}
