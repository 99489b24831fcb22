/* culprit sim: simulates a command or a trace on a machine, every instruction. */
#include <stdlib.h>
#include <string.h>

#include "attribute/tracers.h"
#include "cmd/cmd.h"
#include "cmd/run.h"
#include "report/kanata.h"

enum key { KEY_KANATA = 1024, KEY_KANATA_FROM, KEY_KANATA_CYCLES, KEY_TAP };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "Pipeline picture:", 4},
    {"kanata", KEY_KANATA, "FILE", 0, "Write a window of cycles for the Konata viewer", 0},
    {"kanata-from", KEY_KANATA_FROM, "CYCLE", 0, "It begins at this cycle (default 0)", 0},
    {"kanata-cycles", KEY_KANATA_CYCLES, "N", 0, "It lasts N cycles (default 1000, at most 100K)",
     0},
    {NULL, 0, NULL, 0, "What the core shows, as files:", 5},
    {"tap", KEY_TAP, "KIND:FILE[,SETTING...]", 0,
     "Write a trace; may be repeated. KIND: binary, csv (a line per commit), life (a line per "
     "µop), "
     "calls (cycles by call stack, folded for flame graphs), counters (a line per interval), bbv "
     "(basic block vectors for SimPoint), tip, tea (samples, for 'culprit samples'). SETTING: "
     "start=TRIGGER, stop=TRIGGER, interval=N. "
     "TRIGGER: cycle:N, insn:N, 0xADDRESS, 0xADDRESS:N (its N-th execution)",
     0},
    {0}};

static void add_tracer(struct run_request *request, struct argp_state *state, const char *text) {
    struct error error = {"out of memory"};
    if (!request->tracers)
        request->tracers = tracers_new(tracer_kinds);
    if (!request->tracers || !tracers_add(request->tracers, text, &error))
        options_fail(state, "--tap %s: %s", text, error.message);
}

/* What the next useful command does not repeat, lest it write over a file: this option. */
static void leave_out(const struct run_request *request, const struct argp_state *state,
                      const char *value) {
    int last = state->next - 1;
    if (state->argv[last] == value) /* "--tap", "VALUE"; else "--tap=VALUE" */
        request->argv[last - 1] = NULL;
    request->argv[last] = NULL;
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct run_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->input;
        state->child_inputs[1] = &request->machine;
        state->child_inputs[2] = &request->output;
        state->child_inputs[3] = &request->output.by;
        return 0;
    case KEY_KANATA:
        leave_out(request, state, value);
        request->kanata = value;
        return 0;
    case KEY_KANATA_FROM:
        leave_out(request, state, value);
        request->kanata_window = "--kanata-from";
        request->kanata_from = options_count(state, "--kanata-from", value);
        return 0;
    case KEY_KANATA_CYCLES:
        leave_out(request, state, value);
        request->kanata_window = "--kanata-cycles";
        request->kanata_cycles = options_count(state, "--kanata-cycles", value);
        if (!request->kanata_cycles || request->kanata_cycles > KANATA_MAX_CYCLES)
            options_fail(state, "--kanata-cycles %s: from 1 to %d", value, KANATA_MAX_CYCLES);
        return 0;
    case KEY_TAP:
        leave_out(request, state, value);
        add_tracer(request, state, value);
        return 0;
    case ARGP_KEY_END:
        if (request->kanata_window && !request->kanata)
            options_fail(state, "%s: it says which cycles to write, not where (add --kanata FILE)",
                         request->kanata_window);
        if (!request->input.command && !request->input.trace)
            options_fail(state, "what to simulate? (culprit sim [OPTION...] -- COMMAND..., or "
                                "culprit sim FILE.ctrace)");
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
    .doc = "Simulates a command, or a trace, on a machine: every cycle goes to the instruction "
           "that caused it, with what happened to it (Oracle and TEA's golden reference).\v"
           "Example:\n  culprit sim --limit 50M -- gzip -9 -c /bin/bash > /dev/null\n\n"
           "The report goes to standard error, the command keeps standard output and its exit "
           "status; 125 when culprit failed.",
    .children = CHILDREN};

int cmd_sim(int argc, char **argv) {
    struct run_request request = {.verb = "sim",
                                  .argc = argc,
                                  .argv = calloc((size_t)argc + 1, sizeof *argv),
                                  .sampling = sampling_everything(),
                                  .kanata_cycles = 1000};
    if (!request.argv) {
        print_error(&(struct error){"out of memory"});
        return STATUS_BROKEN;
    }
    memcpy(request.argv, argv, (size_t)argc * sizeof *argv);
    request.input.traces_allowed = true;
    options_parse(&ARGP, argc, argv, &request);
    int status = run_simulation(&request);
    free(request.argv);
    return status;
}
