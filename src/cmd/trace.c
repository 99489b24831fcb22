/* culprit trace: captures a command into a file, or tells what a file holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/trace.h"
#include "report/captured_report.h"
#include "report/trace_info.h"
#include "util/file_name.h"

/* What went wrong comes first: the summary is of what there is all the same. */
static bool print_result(void *verb, struct error *error) {
    struct trace_job *job = verb;
    const bool good = !job->verb.late.message[0];
    const struct captured_report report = {.path = job->path,
                                           .result = &job->result,
                                           .lost = &job->lost,
                                           .champsim = job->champsim,
                                           .addresses = !job->no_addresses,
                                           .good = good,
                                           .partial = verb_watch.signal || !good};
    if (!good) {
        print_error(&job->verb.late);
        error->message[0] = job->verb.late.message[0] = 0; /* told */
    }
    if (!job->verb.output.json)
        captured_text(&report, stderr);
    else if (!captured_json(&report, stderr, error))
        return false;
    return good;
}

/* What was written can be read again. Not of a pipe, nor after an interrupt. */
static bool check(const struct trace_job *job, struct error *error) {
    struct stat status;
    if (job->no_check || verb_watch.signal || !strcmp(job->path, "-") ||
        stat(job->path, &status) != 0 || !S_ISREG(status.st_mode))
        return true;
    watch_begin(&verb_watch, "checking", "instructions", job->result.instructions);
    const struct watcher watcher = watcher_of(&verb_watch);
    bool good = trace_check(job->path, &watcher, error);
    watch_end(&verb_watch);
    return good || error_prefix(error, "what was written cannot be read again");
}

static bool prepare(void *verb, struct error *error) {
    struct trace_job *job = verb;
    const char *program = job->import ? job->import : job->input.command[0];
    job->path = job->output ? job->output : job->name;
    job->champsim = trace_makes_champsim(job);
    return job->output ||
           file_name_from(program, NULL, job->champsim ? ".champsimtrace.xz" : ".ctrace",
                          job->name) ||
           error_set(error, "%s: makes no file name for the trace (give one with -o)", program);
}

/* From a command, or from a file, into ChampSim's format. */
static bool write_champsim(struct trace_job *job, const struct capture_options *options,
                           struct error *error) {
    const uint32_t thread = job->import && job->input.thread > 0 ? (uint32_t)job->input.thread : 0;
    struct trace *trace = job->import ? trace_open(job->import, error)
                                      : trace_capture(options, &job->verb.failed, error);
    const struct watcher watcher = watcher_of(&verb_watch);
    const bool good = trace && trace_write_champsim(trace, thread, job->path, &watcher,
                                                    &job->result, &job->lost, error);
    trace_close(trace);
    return good;
}

static bool capture(struct trace_job *job, struct error *error) {
    const struct watcher watcher = watcher_of(&verb_watch);
    struct capture_options options = {0};
    if (!job->import) {
        options = input_capture(&verb_watch, &job->input);
        options.addresses = !job->no_addresses;
        options.begin = interrupt_await(&job->input);
        options.stop = &verb_watch.signal;
    }
    if (job->champsim)
        return write_champsim(job, &options, error);
    if (job->import)
        return trace_import(job->import, job->path, job->compress, &watcher, &job->result, error);
    return trace_record(&options, job->path, job->compress, &watcher, &job->result,
                        &job->verb.failed, error);
}

static bool record(void *verb, struct error *error) {
    struct trace_job *job = verb;
    struct capture_result *result = &job->result;
    watch_begin_within(&verb_watch, job->import ? "reading" : "capturing", "instructions",
                       job->input.limit);
    bool good = capture(job, error);
    watch_end(&verb_watch);
    if (good && !result->instructions)
        good =
            error_set(error, "no instruction was captured%s",
                      verb_watch.signal ? " before the interrupt" : ": the command executed none");
    good = good && check(job, error);
    job->verb.measured = result->instructions;
    job->verb.exit = result->exit;
    return good || (result->instructions && verb_report_late(&job->verb, error));
}

static bool tell(void *verb, struct error *error) {
    const struct trace_job *job = verb;
    return trace_info(job->info, job->verb.output.json, stdout, error);
}

static const struct verb INFO = {.report = tell};

static const struct verb *choose(void *verb) {
    const struct trace_job *job = verb;
    return job->info ? &INFO : job->regions ? &trace_regions : &verb_trace;
}

const struct verb verb_trace = {.line = &trace_line,
                                .size = sizeof(struct trace_job),
                                .command = offsetof(struct trace_job, input.command),
                                .choose = choose,
                                .prepare = prepare,
                                .run = record,
                                .report = print_result};
