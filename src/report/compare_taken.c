#include "report/compare_taken.h"

#include <string.h>

#include "query/compared_python.h"
#include "query/path_profile.h"
#include "report/trace_notes.h"

static void note_exit(struct compare_taken *taken, unsigned side, const struct trace_exit *exit) {
    taken->exits[side] = *exit;
    if (exit->known && exit->status && !exit->stopped)
        report_note(&taken->report->report, "%s: it ended with %s %d", taken->words[side],
                    exit->signaled ? "signal" : "status", exit->status);
}

static bool take_calls(struct compare_taken *taken, unsigned side,
                       const struct simulation *simulation, const struct code *code,
                       struct error *error) {
    if (!simulation->paths.count)
        return true;
    struct call_profile calls = {0};
    struct program *program = program_new();
    if (program)
        program_keep(program, taken->kept);
    const bool good =
        (program || error_set(error, "out of memory for the report")) &&
        (!taken->with_calls || (path_profile_read(&calls, simulation, code, program, error) &&
                                call_difference_add(&taken->calls, side, &calls, error))) &&
        compared_python_take(&taken->report->python[side], simulation, code, error);
    call_profile_free(&calls);
    if (program)
        program_free(program);
    return good;
}

bool compare_taken_run(void *context, unsigned side, const struct simulated_run *run,
                       struct error *error) {
    struct compare_taken *taken = context;
    const struct trace *trace = run->trace;
    const struct trace_exit exit = simulated_run_exit(run);
    taken->report->runs[side].limited = taken->limited || trace_is_cut(trace);
    if (run->input->command)
        note_exit(taken, side, &exit);
    taken->report->chosen = run->options.machine->chosen;
    return take_calls(taken, side, &run->simulation, trace_code(trace), error) &&
           compared_run_take(&taken->report->runs[side], trace_command(trace), &run->simulation,
                             trace_code(trace), run->options.machine, error);
}

bool compare_taken_matched(void *context, const struct matched_runs *matched, struct error *error) {
    struct compare_taken *taken = context;
    for (unsigned side = 0; side < 2; side++) {
        const struct trace *trace = matched->runs[side]->trace;
        const struct trace_exit exit = trace_exit_status(trace);
        taken->report->runs[side].limited = taken->limited || trace_is_cut(trace);
        if (matched->runs[side]->input->command)
            note_exit(taken, side, &exit);
        if (!take_calls(taken, side, &matched->simulations[side], matched->codes[side], error) ||
            !compared_run_take(&taken->report->runs[side], trace_command(trace),
                               &matched->simulations[side], matched->codes[side], matched->machine,
                               error))
            return false;
    }
    taken->report->chosen = matched->machine->chosen;
    taken->report->pairs =
        (struct compare_pairs){.count = matched->count, .half = matched->difference.half};
    return true;
}

bool compare_taken_layout(void *context, const struct layout_result *result, struct error *error) {
    struct compare_taken *taken = context;
    taken->report->runs[result->input].limited |= result->limited;
    taken->report->chosen = result->machine->chosen;
    if (!result->layout) {
        note_exit(taken, result->input, &result->exit);
        note_raced(&taken->report->report, result);
    }
    return compare_report_take_layout(taken->report, result->input, result->layout, result->command,
                                      result->simulation, result->code, result->machine, error);
}

/* Whether the commands have done what they are for: one that a signal ended has not, nor has one
 * that ended otherwise than the other. */
bool compare_taken_can_be_judged(const struct compare_taken *taken, struct error *error) {
    const struct trace_exit *exits = taken->exits;
    for (unsigned i = 0; i < 2; i++)
        if (exits[i].known && exits[i].signaled)
            return error_set(error, "%s: it ended with signal %d: --fail-above has no answer",
                             taken->words[i], exits[i].status);
    if (exits[0].known && exits[1].known && exits[0].status != exits[1].status)
        return error_set(error,
                         "%s ended with status %d, and %s with %d: --fail-above has no answer",
                         taken->words[0], exits[0].status, taken->words[1], exits[1].status);
    const struct compared_run *runs = taken->report->runs;
    return !strcmp(runs[0].machine, runs[1].machine) ||
           error_set(error, "%s before, %s after: --fail-above is of one machine", runs[0].machine,
                     runs[1].machine);
}
