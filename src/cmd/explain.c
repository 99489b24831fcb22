/* culprit explain: the whole run of a command in bounded time, in plain words. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/run.h"

enum key { KEY_EXACT = 1024, KEY_WARM };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "How much to simulate:", 4},
    {"exact", KEY_EXACT, NULL, 0, "Every instruction, however long it takes", 0},
    {"warm", KEY_WARM, "N", 0,
     "Warm caches and predictors with N instructions before each window (default 4M)", 0},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state) {
    struct run_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->input;
        state->child_inputs[1] = &request->machine;
        state->child_inputs[2] = &request->output;
        state->child_inputs[3] = &request->output.by;
        return 0;
    case KEY_EXACT:
        request->sampling = sampling_everything();
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

static const struct argp_child CHILDREN[] = {{&input_argp, 0, NULL, 0},
                                             {&machine_argp, 0, NULL, 0},
                                             {&output_argp, 0, NULL, 0},
                                             {&grain_argp, 0, NULL, 0},
                                             {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[--] COMMAND...\nTRACE.ctrace",
    .doc = "Explains where the cycles of a command, or a trace, go: functions, source lines and "
           "instructions, and what each waited for.\v"
           "Example:\n  culprit explain -- gzip -9 -c /bin/bash > /dev/null\n\n"
           "Long runs are sampled: the first 50 million instructions are simulated, then windows "
           "of 250,000 in ever longer periods, 64 of each length; the report says what that adds "
           "to the error. The report goes to standard error, the command keeps standard "
           "output and its exit status; 125 when culprit failed.",
    .children = CHILDREN};

int cmd_explain(int argc, char **argv) {
    struct run_request request = {.verb = "explain",
                                  .argc = argc,
                                  .argv = argv,
                                  .sampling = sampling_default(),
                                  .plain = true};
    request.input.traces_allowed = true;
    options_parse(&ARGP, argc, argv, &request);
    return run_simulation(&request);
}
