/* culprit icost --sensitivity: the machines of the study are made, and so checked, before the
 * command starts, where its architecture is known by then; its trace is captured, then simulated on
 * each. */
#include "cmd/icost.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "report/sensitivity_report.h"
#include "report/trace_notes.h"
#include "study/temporary.h"
#include "study/trace_input.h"
#include "util/text.h"

struct job {
    struct icost_request *request;
    struct machine_choice *machines;
    struct report_files files;
    char *folder;
    struct trace_input input;
    const struct machine *machine;
    struct sensitivity_report report;
};

static bool prepare(struct job *job, struct error *error) {
    const struct icost_request *request = job->request;
    return machine_choice_load(job->machines, &request->machine, error) &&
           report_files_open(&job->files, &request->output, request->input.command, error) &&
           (job->folder = temporary_folder(&verb_watch.temporaries, error));
}

static bool simulate(struct job *job, struct error *error) {
    struct sensitivity *study = &job->request->study;
    const struct multisim_options options = {.trace = job->input.path,
                                             .selection = job->input.again,
                                             .jobs = job->request->jobs,
                                             .progress = watch_progress,
                                             .progress_context = &verb_watch,
                                             .stop = &verb_watch.signal};
    watch_begin(&verb_watch, "simulating", "instructions", 0);
    bool good = multisim(&options, study->runs, study->run_count, error);
    watch_end(&verb_watch);
    uint32_t done = 0;
    for (uint32_t i = 0; i < study->run_count; i++) {
        done += study->runs[i].done;
        if (study->runs[i].done)
            job->report.instructions = study->runs[i].instructions;
    }
    job->report.report.partial = done < study->run_count || trace_is_cut(job->input.trace);
    if (good && !done)
        return error_set(error, "interrupted before anything was simulated");
    return good &&
           (job->report.instructions ||
            input_nothing(&verb_watch, &job->request->input, job->input.trace, "simulated", error));
}

static bool write_report(struct job *job, struct error *error) {
    const struct icost_request *request = job->request;
    struct sensitivity_report *report = &job->report;
    report->study = &request->study;
    report->report.verb = "icost";
    report->report.program = trace_command(job->input.trace);
    report->report.machine = job->machine;
    report->report.ideal = request->machine.ideal;
    note_trace(&report->report, job->input.trace);
    report_note(&report->report,
                "%u simulations of the same trace, each from empty caches, TLBs "
                "and predictors",
                request->study.run_count);
    report_add_limits(&report->report);
    const struct page page = page_of(job->files.report.file);
    if (!request->output.json)
        sensitivity_text(report, &page);
    else if (!sensitivity_json(report, job->files.report.file, error))
        return false;
    if (request->output.svg)
        sensitivity_svg(report, job->files.picture.file);
    return report_files_close(&job->files, error);
}

static int run_steps(struct job *job, struct error *error) {
    struct icost_request *request = job->request;
    bool live = request->input.command;
    int failed = live ? STATUS_BROKEN : STATUS_FAILED;
    if (!prepare(job, error))
        return failed;
    interrupt_catch();
    if (!trace_input_open(&job->input, &verb_watch, &request->input, 0, job->folder, &failed,
                          error) ||
        !(job->machine = machine_choice_of(job->machines, trace_isa(job->input.trace), error)))
        return failed;
    if (!sensitivity_build(&request->study, job->machine, request->machine.ideal, error)) {
        error_prefix(error, "--sensitivity");
        return failed;
    }
    if (!trace_input_read(&job->input, request->input.limit, error) || !simulate(job, error) ||
        !write_report(job, error))
        return failed;
    return live                ? command_status(trace_exit_status(job->input.trace))
           : verb_watch.signal ? 128 + verb_watch.signal
                               : 0;
}

int icost_sensitivity(struct icost_request *request) {
    struct machine_choice machines = {0};
    struct job job = {.request = request, .machines = &machines};
    struct error error = {0};
    int status = run_steps(&job, &error);
    if (error.message[0])
        print_error(&error);
    report_free(&job.report.report);
    trace_input_close(&job.input);
    temporary_remove(&verb_watch.temporaries, job.folder);
    report_files_discard(&job.files);
    return status;
}
