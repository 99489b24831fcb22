/* culprit record: samples of one command, without privileges. */
#include "cmd/record.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/options.h"
#include "cmd/output.h"

static void take_pid(struct argp_state *state, void *request, char *value) {
    uint64_t pid = options_count(state, "--pid", value);
    if (!pid || pid > INT32_MAX)
        options_fail(state, "--pid %s: no number of a process", value);
    ((struct record_request *)request)->pid = (pid_t)pid;
}

#define REQUEST struct record_request
static const struct option_row OPTIONS[] = {
    HEADING(1, "What to record:"),
    TAKE("pid", "PID", take_pid, "A process that runs, its threads and later children; no command"),
    DURATION("time", "TIME", seconds,
             "No longer than this (10s, 5min); a command then runs on to its end"),
    HEADING(2, "Where it goes:"),
    STORE_ROW(store),
    {0}};

static bool take_command(struct argp_state *state, void *request, char *value) {
    (void)value;
    ((struct record_request *)request)->command = options_take_command(state);
    return true;
}

static void check(struct argp_state *state, void *given) {
    const struct record_request *request = given;
    if (request->command && request->pid)
        options_fail(state, "--pid: either a process that runs or a command, not both");
    if (!request->command && !request->pid)
        options_fail(state, "what to record? (culprit record [OPTION...] -- COMMAND..., or "
                            "culprit record --pid PID)");
}

static const struct option_part PARTS[] = {{&live_group, offsetof(struct record_request, sampled)},
                                           {&report_group, offsetof(struct record_request, output)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = take_command, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\n--pid PID",
    .help = "Samples a command and its children while it runs, on this very machine, and saves the "
            "profile as an epoch of the profile database."
            "\vExample:\n  culprit record -- gzip -9 -c /bin/bash > /dev/null && culprit top\n\n"
            "It needs no privileges where kernel.perf_event_paranoid is at most 2, but then sees "
            "user code alone. The command keeps standard output and its exit status; 125 when "
            "culprit failed."};

int cmd_record(int argc, char **argv) {
    struct record_request request = {0};
    free(options_parse(&LINE, argc, argv, &request));
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
