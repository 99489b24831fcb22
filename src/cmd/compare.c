/* culprit compare: two builds of a program, or two runs of one, side by side. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "cmd/compare.h"
#include "cmd/explain.h"
#include "cmd/interrupt.h"
#include "options/exit_status.h"
#include "report/html_calls.h"
#include "trace/trace_name.h"
#include "util/command_path.h"

static bool prepare_side(struct compare_job *job, unsigned number, struct error *error) {
    struct compare_side *side = &job->sides[number];
    struct input_options *input = &job->run.inputs[number];
    if (side->report)
        return compare_report_read(&job->report, number, side->report, error);
    *input = job->input;
    if (trace_is_named(side->word)) {
        input->trace = side->word;
        input->fixed = false;
        return true;
    }
    if (!(side->command = compare_command(side->word, job->arguments, &side->copy)))
        return error_set(error, "out of memory for a command");
    input->command = side->command;
    return side->command[0] || error_set(error, "'%s' is no command", side->word);
}

/* The first may run for minutes before the second is looked for. */
static bool commands_are_there(struct compare_job *job, struct error *error) {
    char path[PATH_MAX];
    for (unsigned number = 0; number < 2; number++) {
        char *const *command = job->sides[number].command;
        const int reason = command ? command_find(command[0], path, sizeof path) : 0;
        if (!reason)
            continue;
        const int status = command_refused(command[0], reason, error);
        if (!job->judged)
            job->verb.failed = status;
        return false;
    }
    return true;
}

/* Every instruction under each layout. */
static bool prepare_layouts(struct compare_job *job, struct error *error) {
    struct layouts_run *layouts = &job->layouts;
    layouts->watch = &verb_watch;
    layouts->machines = &job->machines;
    layouts->inputs[0] = job->run.inputs[0];
    layouts->inputs[1] = job->run.inputs[1];
    layouts->relinks[0] = job->relinks[0];
    layouts->relinks[1] = job->relinks[1];
    job->report.relinked = job->relink_count > 0;
    layouts->input_count = 2;
    layouts->count = job->layout_count;
    layouts->threads = job->run.threads;
    layouts->ideal = job->run.ideal;
    layouts->over = UINT64_MAX;
    layouts->take = compare_taken_layout;
    layouts->context = &job->taken;
    return compare_report_lay_out(&job->report, job->layout_count, error);
}

/* Whole runs of commands, and whole traces. */
static bool may_have_regions(const struct compare_job *job) {
    const struct input_options *input = &job->input;
    for (unsigned side = 0; side < 2; side++)
        if (job->run.inputs[side].trace && input->limit)
            return false;
    return !input->skip && !input->from && !input->follow;
}

/* A page shows who called whom; of Python lines are told, which calls lead to. */
static bool prepare_calls(struct compare_job *job, struct error *error) {
    for (unsigned side = 0; side < 2; side++)
        job->python |= !job->no_python && input_runs_python(&job->run.inputs[side]);
    if (job->layout_count > 1 || (!job->python && !job->verb.output.html))
        return true;
    for (unsigned side = 0; side < 2; side++) {
        if (!(job->functions[side] = program_extents_new()))
            return error_set(error, "out of memory for call paths");
        job->extents[side] = program_extents_of(job->functions[side], false);
        job->run.extents[side] = &job->extents[side];
    }
    return true;
}

/* The machine of a report is simulated for the other side as well, where it is one that is found by
 * its name, and none was asked for. */
static void take_machine(struct compare_job *job) {
    char path[PATH_MAX];
    struct error ignored;
    for (unsigned side = 0; side < 2 && !job->machine.machine; side++) {
        const char *name = job->report.runs[side].machine;
        if (job->sides[side].report && !machine_is_path(name) &&
            machine_find(name, path, sizeof path, &ignored))
            job->machine.machine = name;
    }
}

bool compare_prepare_pair(struct compare_job *job, struct error *error) {
    job->report.report.verb = "compare";
    job->report.top = job->verb.output.top;
    job->run.watch = &verb_watch;
    job->run.machines = &job->machines;
    job->run.threads = (struct together_request){TOGETHER_REGIONS};
    job->run.ideal = job->machine.ideal;
    job->run.take = compare_taken_run;
    job->run.take_matched = compare_taken_matched;
    job->run.context = &job->taken;
    job->taken = (struct compare_taken){.report = &job->report,
                                        .words = {job->sides[0].word, job->sides[1].word},
                                        .limited = job->input.limit,
                                        .with_calls = job->verb.output.html,
                                        .kept = &verb_watch.kept};
    if (!prepare_side(job, 0, error) || !prepare_side(job, 1, error) ||
        !commands_are_there(job, error))
        return false;
    take_machine(job);
    options_fix_machine(&job->input, &job->machine);
    if (job->full || !may_have_regions(job))
        job->run.over = 0;
    return input_choose_machine(&job->run.inputs[0], &job->machine, &job->machines, error) &&
           input_choose_machine(&job->run.inputs[1], &job->machine, &job->machines, error) &&
           prepare_calls(job, error) && (job->layout_count < 2 || prepare_layouts(job, error));
}

static bool prepare(void *verb, struct error *error) {
    struct compare_job *job = verb;
    if (job->judged)
        job->verb.failed = STATUS_BROKEN;
    return compare_prepare_pair(job, error) && verb_open_report(&job->verb, error);
}

/* After an interrupt, of fewer layouts. */
static bool run_layouts(struct compare_job *job, struct error *error) {
    struct layouts_run *layouts = &job->layouts;
    const bool good = layouts_run_go(layouts, error);
    job->verb.measured = good;
    job->verb.ended_by = layouts->signal;
    if (layouts->failed && !job->judged)
        job->verb.failed = layouts->failed;
    if (good && layouts->signal)
        report_note(&job->report.report, "interrupted after %" PRIu32 " of %" PRIu32 " layouts",
                    layouts->taken[1], layouts->count);
    return good;
}

bool compare_run_pair(struct compare_job *job, struct error *error) {
    if (job->layout_count > 1)
        return run_layouts(job, error);
    const bool good = compare_run_go(&job->run, error);
    job->verb.measured = good;
    if (job->run.failed && !job->judged)
        job->verb.failed = job->run.failed;
    if (job->run.obstacle)
        report_note(&job->report.report, "every instruction was simulated, not regions: %s",
                    job->run.obstacle);
    return good;
}

static bool run(void *verb, struct error *error) {
    return compare_run_pair(verb, error);
}

static void judge(struct compare_job *job) {
    struct error error = {0};
    job->verb.exit = (struct trace_exit){
        .known = true, .status = compare_is_slower(&job->report, 100 * job->fail_above)};
    if (!compare_taken_can_be_judged(&job->taken, &error))
        verb_report_late(&job->verb, &error);
}

#define PUT_MARKDOWN(report_, page_) compare_report_markdown(report_, (page_)->file)
REPORT_FORMS(COMPARED, compare_report_json, compare_report_text, NULL);
REPORT_FORMS(MARKDOWN, compare_report_json, PUT_MARKDOWN, NULL);

static bool write_report(void *verb, struct error *error) {
    struct compare_job *job = verb;
    if (!compare_report_build(&job->report, error))
        return false;
    if (job->judged)
        judge(job);
    return verb_write_report(&job->verb, job->markdown ? &MARKDOWN : &COMPARED, &job->report,
                             error) &&
           html_calls_write(&job->verb.files.html, &job->taken.calls, error);
}

void compare_clean_up_pair(struct compare_job *job) {
    compare_report_free(&job->report);
    call_difference_free(&job->taken.calls);
    for (unsigned i = 0; i < 2; i++) {
        program_extents_free(job->functions[i]);
        free(job->sides[i].command);
        free(job->sides[i].copy);
    }
}

static void clean_up(void *verb) {
    compare_clean_up_pair(verb);
}

static const struct verb *choose(void *verb) {
    return ((struct compare_job *)verb)->suite ? &compare_suite : &verb_compare;
}

const struct verb verb_compare = {.line = &compare_line,
                                  .size = sizeof(struct compare_job),
                                  .choose = choose,
                                  .prepare = prepare,
                                  .run = run,
                                  .report = write_report,
                                  .free = clean_up};
