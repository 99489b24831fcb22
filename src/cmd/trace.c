/* culprit trace: captures a command into a file, or tells what a file holds. */
#include <stdio.h>
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
                                           .result = &job->file.result,
                                           .lost = &job->file.lost,
                                           .champsim = job->champsim,
                                           .addresses = !job->no_addresses,
                                           .good = good,
                                           .partial =
                                               verb_watch.signal || !good || job->file.result.cut};
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

static bool is_one_file(const char *one, const char *other) {
    struct stat status;
    return stat(one, &status) == 0 && S_ISREG(status.st_mode) && file_is_at(&status, other);
}

static bool prepare(void *verb, struct error *error) {
    struct trace_job *job = verb;
    const char *program = job->import ? job->import : job->input.command[0];
    job->path = job->output ? job->output : job->name;
    job->champsim = trace_makes_champsim(job);
    if (!job->output &&
        !file_name_from(program, NULL, job->champsim ? ".champsimtrace.xz" : ".ctrace", job->name))
        return error_set(error, "%s: makes no file name for the trace (give one with -o)", program);
    return !job->import || !is_one_file(job->import, job->path) ||
           error_set(error, "%s: the trace that is imported is read from there (-o FILE: another)",
                     job->path);
}

static bool record(void *verb, struct error *error) {
    struct trace_job *job = verb;
    job->file = (struct captured_file){.watch = &verb_watch,
                                       .input = &job->input,
                                       .import = job->import,
                                       .path = job->path,
                                       .champsim = job->champsim,
                                       .compress = job->compress,
                                       .no_addresses = job->no_addresses,
                                       .no_check = job->no_check,
                                       .check = job->check ? CHECK_ALL : CHECK_PARTS,
                                       .begin = job->import ? NULL : interrupt_await(&job->input)};
    const bool good = captured_file_go(&job->file, &job->verb.failed, error);
    job->verb.measured = job->file.result.instructions;
    job->verb.exit = job->file.result.exit;
    return good || (job->verb.measured && verb_report_late(&job->verb, error));
}

/* What a damaged file holds is told all the same. */
static bool check_all(void *verb, struct error *error) {
    struct trace_job *job = verb;
    job->checked = captured_file_check(&verb_watch, job->info, CHECK_ALL, NULL, error);
    if (!job->checked)
        verb_report_late(&job->verb, error);
    job->checked &= !verb_watch.signal;
    return true;
}

static bool tell(void *verb, struct error *error) {
    const struct trace_job *job = verb;
    return trace_info(job->info, job->checked, job->verb.output.json, stdout, error);
}

static const struct verb INFO = {.report = tell};
static const struct verb CHECKED_INFO = {.run = check_all, .report = tell};

static const struct verb *choose(void *verb) {
    const struct trace_job *job = verb;
    if (job->info)
        return job->check ? &CHECKED_INFO : &INFO;
    return job->regions ? &trace_regions : &verb_trace;
}

const struct verb verb_trace = {.line = &trace_line,
                                .size = sizeof(struct trace_job),
                                .command = offsetof(struct trace_job, input.command),
                                .choose = choose,
                                .prepare = prepare,
                                .run = record,
                                .report = print_result};
