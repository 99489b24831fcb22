#include "cmd/icost_run.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "program/program.h"

static bool tell(void *context, const char *text) {
    (void)context;
    fprintf(stderr, "culprit: %s\n", text);
    return true;
}

static bool inspect_program(struct icost *icost, uint32_t number, struct error *error) {
    const struct icost_program *program = &icost->study.programs[number];
    struct icost_inspection *inspection = &icost->inspections[number];
    const struct inspection_request request = {.parts = program->pieces.choice.parts,
                                               .top = icost->request->output.top,
                                               .threshold = icost->request->threshold,
                                               .seconds = program->pieces.seconds};
    if (!request.parts)
        return true;
    if (!(inspection->names = program_new()))
        return error_set(error, "out of memory for the critical path");
    icost->rows[number].inspection = &inspection->report;
    return inspection_report_build(&request, &program->pieces.inspection,
                                   trace_code(program->input.trace), inspection->names,
                                   &inspection->report, error);
}

/* A row for each program that was measured. */
static bool fill_rows(struct icost *icost, uint32_t count, struct error *error) {
    icost->rows = calloc(count, sizeof *icost->rows);
    icost->inspections = calloc(count, sizeof *icost->inspections);
    if (!icost->rows || !icost->inspections)
        return error_set(error, "out of memory for the report");
    for (uint32_t i = 0; i < count; i++) {
        const struct icost_program *program = &icost->study.programs[i];
        struct breakdown_program *row = &icost->rows[i];
        *row = (struct breakdown_program){
            .name = program->name,
            .label = program->label,
            .simulations = program->simulations,
            .shotgun = program->ways[WAY_PROFILER].cycles ? &program->shotgun : NULL};
        for (int way = 0; way < WAY_COUNT; way++) {
            row->ways[way] = program->ways[way].cycles ? &program->ways[way] : NULL;
            row->seconds[way] = program->seconds[way];
        }
        if (!inspect_program(icost, i, error))
            return false;
    }
    return true;
}

static bool write_report(struct icost *icost, struct error *error) {
    const struct icost_request *request = icost->request;
    bool partial = verb_watch.signal;
    const struct icost_study *study = &icost->study;
    const uint32_t measured = icost_measured(study);
    for (uint32_t i = 0; i < study->count; i++)
        partial |= study->programs[i].input.trace && trace_is_cut(study->programs[i].input.trace);
    if (!measured)
        return error_set(error, "interrupted before anything was measured");
    if (!fill_rows(icost, measured, error))
        return false;
    icost->report = (struct breakdown_report){.report = {.verb = "icost",
                                                         .machine = study->machine,
                                                         .ideal = request->machine.ideal,
                                                         .partial = partial},
                                              .programs = icost->rows,
                                              .program_count = measured,
                                              .descriptions = study->descriptions,
                                              .focus = study->focus,
                                              .threshold = request->threshold,
                                              .largest = request->largest,
                                              .top = request->output.top,
                                              .changed = icost_changed(request),
                                              .checked = study->checked};
    if (!breakdown_report_choose(&icost->report) || !icost_note(icost, partial))
        return error_set(error, "out of memory for the report");
    const struct page page = page_of(icost->files.report.file);
    if (!request->output.json)
        breakdown_text(&icost->report, &page);
    else if (!breakdown_json(&icost->report, icost->files.report.file, error))
        return false;
    if (request->output.svg)
        breakdown_svg(&icost->report, icost->files.picture.file);
    return report_files_close(&icost->files, error);
}

static int run_steps(struct icost *icost, struct error *error) {
    struct icost_request *request = icost->request;
    icost->what = (struct icost_study_request){
        .watch = &verb_watch,
        .input = &request->input,
        .machine = &request->machine,
        .regions = request->regions.list_count ? request->regions.lists[0] : NULL,
        .warm_up = request->regions.warm_up,
        .shotgun = &request->shotgun,
        .pieces = &request->path,
        .category = &request->category,
        .focus = request->focus,
        .threshold = request->threshold,
        .largest = request->largest,
        .multisim = request->multisim,
        .jobs = request->jobs,
        .tell = tell};
    struct icost_study *study = &icost->study;
    bool live = request->input.command;
    int failed = live ? STATUS_BROKEN : STATUS_FAILED;
    if (!icost_begin(study, &icost->what, error) ||
        !report_files_open(&icost->files, &request->output, live, error))
        return failed;
    interrupt_catch();
    if (!icost_read(study, &failed, error) || !icost_simulate(study, error) ||
        !write_report(icost, error))
        return verb_watch.signal && !(study->count && study->programs[0].instructions)
                   ? 128 + verb_watch.signal
                   : failed;
    return live                ? command_status(trace_exit_status(study->programs[0].input.trace))
           : verb_watch.signal ? 128 + verb_watch.signal
                               : 0;
}

static void free_rows(struct icost *icost) {
    for (uint32_t i = 0; icost->inspections && i < icost_measured(&icost->study); i++) {
        inspection_report_free(&icost->inspections[i].report);
        if (icost->inspections[i].names)
            program_free(icost->inspections[i].names);
    }
    free(icost->inspections);
    free(icost->rows);
}

int icost_breakdown(struct icost_request *request) {
    struct icost icost = {.request = request};
    struct error error = {0};
    int status = run_steps(&icost, &error);
    if (error.message[0])
        print_error(&error);
    breakdown_report_free(&icost.report);
    free_rows(&icost);
    icost_free(&icost.study);
    report_files_discard(&icost.files);
    return status;
}
