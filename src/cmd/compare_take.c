/* What culprit compare keeps of runs, as studies end them. */
#include "cmd/compare.h"
#include "cmd/explain.h"
#include "query/compared_python.h"
#include "query/path_profile.h"

static void note_exit(struct compare_job *job, unsigned side, const struct trace_exit *exit) {
    job->sides[side].exit = *exit;
    if (exit->known && exit->status && !exit->stopped)
        report_note(&job->report.report, "%s: it ended with %s %d", job->sides[side].word,
                    exit->signaled ? "signal" : "status", exit->status);
}

static bool take_calls(struct compare_job *job, unsigned side, const struct simulation *simulation,
                       const struct code *code, struct error *error) {
    if (!simulation->paths.count)
        return true;
    struct call_profile calls = {0};
    struct program *program = verb_program();
    const bool good =
        (program || error_set(error, "out of memory for the report")) &&
        (!job->verb.output.html || (path_profile_read(&calls, simulation, code, program, error) &&
                                    call_difference_add(&job->calls, side, &calls, error))) &&
        compared_python_take(&job->report.python[side], simulation, code, error);
    call_profile_free(&calls);
    if (program)
        program_free(program);
    return good;
}

bool compare_take(void *context, unsigned side, const struct simulated_run *run,
                  struct error *error) {
    struct compare_job *job = context;
    const struct trace *trace = run->trace;
    const struct trace_exit exit = simulated_run_exit(run);
    job->report.runs[side].limited = job->input.limit || trace_is_cut(trace);
    if (run->input->command)
        note_exit(job, side, &exit);
    return take_calls(job, side, &run->simulation, trace_code(trace), error) &&
           compared_run_take(&job->report.runs[side], trace_command(trace), &run->simulation,
                             trace_code(trace), run->options.machine, error);
}

bool compare_take_matched(void *context, const struct matched_runs *matched, struct error *error) {
    struct compare_job *job = context;
    for (unsigned side = 0; side < 2; side++) {
        const struct trace *trace = matched->runs[side]->trace;
        const struct trace_exit exit = trace_exit_status(trace);
        job->report.runs[side].limited = job->input.limit || trace_is_cut(trace);
        if (matched->runs[side]->input->command)
            note_exit(job, side, &exit);
        if (!take_calls(job, side, &matched->simulations[side], matched->codes[side], error) ||
            !compared_run_take(&job->report.runs[side], trace_command(trace),
                               &matched->simulations[side], matched->codes[side], matched->machine,
                               error))
            return false;
    }
    job->report.pairs =
        (struct compare_pairs){.count = matched->count, .half = matched->difference.half};
    return true;
}

bool compare_take_layout(void *context, const struct layout_result *result, struct error *error) {
    struct compare_job *job = context;
    job->report.runs[result->input].limited |= result->limited;
    if (!result->layout) {
        note_exit(job, result->input, &result->exit);
        note_raced(&job->report.report, result);
    }
    return compare_report_take_layout(&job->report, result->input, result->layout, result->command,
                                      result->simulation, result->code, result->machine, error);
}
