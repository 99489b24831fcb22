/* culprit record: samples of one command, without privileges. */
#include "study/record.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/verb.h"
#include "options/live_options.h"
#include "report/recording.h"

struct job {
    struct verb_run verb;
    struct live_options sampled;
    char **command; /* NULL: --pid */
    pid_t pid;
    const char *store; /* NULL: the default one */
    bool off_cpu;
    double seconds; /* 0: as long as it runs */
    struct recording recording;
};

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(1, "What to record:"),
    COUNT("pid", "PID", pid, "A process that runs, its threads and later children; no command",
          .least = 1, .must = "no number of a process"),
    FLAG("off-cpu", off_cpu,
         "Also how long threads wait, and where: blocked (event off-cpu) or for a processor "
         "(run-queue), with their callers; implies --stacks"),
    DURATION("time", "TIME", seconds,
             "No longer than this (10s, 5min); a command then runs on to its end"),
    HEADING(2, "Where it goes:"),
    STORE_ROW(store),
    {0}};

static bool take_command(struct argp_state *state, void *request, char *value) {
    (void)value;
    ((struct job *)request)->command = options_take_command(state);
    return true;
}

static void check(struct argp_state *state, void *given) {
    struct job *job = given;
    if (job->off_cpu)
        live_options_take_stacks(&job->sampled);
    if (job->command && job->pid)
        options_fail(state, "--pid: either a process that runs or a command, not both");
    if (!job->command && !job->pid)
        options_fail(state, "what to record? (culprit record [OPTION...] -- COMMAND..., or "
                            "culprit record --pid PID)");
}

static const struct option_part PARTS[] = {{&live_group, offsetof(struct job, sampled)},
                                           {&report_group, offsetof(struct job, verb.output)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = take_command, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\n--pid PID",
    .help = "Samples a command and its children while it runs, on this very machine, and saves the "
            "profile as an epoch of the profile database."
            "\vExamples:\n  culprit record -- gzip -9 -c /bin/bash > /dev/null && culprit top\n"
            "  culprit record --stacks --pid 1234 --time 10s && culprit top --tree\n"
            "  culprit record --off-cpu -- make && culprit top --tree --event off-cpu\n\n"
            "It needs no privileges where kernel.perf_event_paranoid is at most 2, but then sees "
            "user code alone. The command keeps standard output and its exit status; 125 when "
            "culprit failed."};

/* Of a process that runs, too, the report goes to standard error. */
static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    job->verb.measured = true;
    return report_files_open(&job->verb.files, &job->verb.output, true, error);
}

static bool run(void *verb, struct error *error) {
    struct job *job = verb;
    const struct recording_request request = {.watch = &verb_watch,
                                              .command = job->command,
                                              .pid = job->pid,
                                              .store = job->store,
                                              .events = job->sampled.events,
                                              .rate = job->sampled.rate,
                                              .seconds = job->seconds,
                                              .no_symbols = job->sampled.no_symbols,
                                              .stack_bytes = (uint32_t)job->sampled.stack_bytes,
                                              .off_cpu = job->off_cpu,
                                              .slicing = job->sampled.slicing};
    interrupt_catch_all();
    const bool good = record_run(&request, &job->recording, &job->verb.failed, error);
    job->verb.observes = true;
    job->verb.exit = job->command ? job->recording.exit : (struct trace_exit){.known = true};
    return good || (job->recording.session && verb_report_late(&job->verb, error));
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    FILE *file = job->verb.files.report.file;
    if (!job->recording.session)
        return true;
    const struct page page = output_page(&job->verb.files.report);
    return job->verb.output.json ? recording_json(&job->recording, file, error)
                                 : recording_text(&job->recording, job->store, &page, error);
}

const struct verb verb_record = {.line = &LINE,
                                 .size = sizeof(struct job),
                                 .command = offsetof(struct job, command),
                                 .prepare = prepare,
                                 .run = run,
                                 .report = write_report};
