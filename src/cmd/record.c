/* culprit record: samples of one command, without privileges. */
#include "cmd/record.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/options.h"
#include "cmd/output.h"

enum { KEY_PID = 1024, KEY_TIME, KEY_STORE };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "What to record:", 1},
    {"pid", KEY_PID, "PID", 0, "A process that runs, its threads and later children; no command",
     1},
    {"time", KEY_TIME, "TIME", 0,
     "No longer than this (10s, 5min); a command then runs on to its end", 1},
    {NULL, 0, NULL, 0, "Where it goes:", 2},
    {"store", KEY_STORE, "FILE", 0, "The profile database (default: see culprit-epochs(1))", 2},
    {0}};

static void check(const struct record_request *request, const struct argp_state *state) {
    if (request->command && request->pid)
        options_fail(state, "--pid: either a process that runs or a command, not both");
    if (!request->command && !request->pid)
        options_fail(state, "what to record? (culprit record [OPTION...] -- COMMAND..., or "
                            "culprit record --pid PID)");
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct record_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->sampled;
        state->child_inputs[1] = &request->output;
        return 0;
    case KEY_PID: {
        uint64_t pid = options_count(state, "--pid", value);
        if (!pid || pid > INT32_MAX)
            options_fail(state, "--pid %s: no number of a process", value);
        request->pid = (pid_t)pid;
        return 0;
    }
    case KEY_TIME:
        request->seconds = options_duration(state, "--time", value);
        return 0;
    case KEY_STORE:
        request->store = options_file(state, "--store", value);
        return 0;
    case ARGP_KEY_ARG:
        request->command = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        check(request, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {
    {&live_argp, 0, NULL, 0}, {&report_argp, 0, NULL, 0}, {0}};
static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .children = CHILDREN,
    .args_doc = "[--] COMMAND...\n--pid PID",
    .doc = "Samples a command and its children while it runs, on this very machine, and saves the "
           "profile as an epoch of the profile database."
           "\vExample:\n  culprit record -- gzip -9 -c /bin/bash > /dev/null && culprit top\n\n"
           "It needs no privileges where kernel.perf_event_paranoid is at most 2, but then sees "
           "user code alone. The command keeps standard output and its exit status; 125 when "
           "culprit failed."};

int cmd_record(int argc, char **argv) {
    struct record_request request = {0};
    options_parse(&ARGP, argc, argv, &request);
    struct error error = {0}, late = {0};
    struct output output = {0};
    int status = request.command ? STATUS_BROKEN : STATUS_FAILED;
    if (!output_open_report(&output, &request.output, true, &error)) {
        print_error(&error);
        return status;
    }
    struct recording recording = {0};
    const struct recording_request what = {.watch = &verb_watch,
                                           .command = request.command,
                                           .pid = request.pid,
                                           .store = request.store,
                                           .events = request.sampled.events,
                                           .rate = request.sampled.rate,
                                           .seconds = request.seconds};
    interrupt_catch();
    bool good = record_run(&what, &recording, &status, &error);
    if (recording.session && (!record_report(&request, &recording, output.file, &late) ||
                              !output_close(&output, &late))) {
        print_error(&late);
        status = request.command ? STATUS_BROKEN : STATUS_FAILED;
        good = false;
    }
    if (error.message[0])
        print_error(&error);
    output_discard(&output);
    if (!good)
        return status;
    return request.command ? command_status(recording.exit) : 0;
}
