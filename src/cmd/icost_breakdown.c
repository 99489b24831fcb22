/* culprit icost's breakdown, with the next useful command. */
#include <stdlib.h>

#include "cmd/icost.h"
#include "cmd/interrupt.h"
#include "program/program.h"
#include "report/missing_names.h"
#include "report/next.h"
#include "report/trace_notes.h"

static bool tell(void *context, const char *text) {
    (void)context;
    fprintf(stderr, "culprit: %s\n", text);
    return true;
}

bool icost_prepare(void *icost, struct error *error) {
    struct icost *job = icost;
    bool good;
    job->request.tell = tell;
    options_fix_machine(&job->input, &job->machine);
    job->request.extents = paths_begin(&job->paths, &job->path_options, false, &good, error);
    return good && icost_begin(&job->study, &job->request, error) &&
           verb_open_report(&job->verb, error) &&
           paths_prepare(&job->paths, &job->path_options, error);
}

bool icost_run(void *icost, struct error *error) {
    struct icost *job = icost;
    const struct icost_program *first = job->study.programs;
    const bool good =
        icost_read(&job->study, &job->verb.failed, error) && icost_simulate(&job->study, error);
    job->verb.measured = job->study.count && first->instructions;
    verb_command_ended(&job->verb, first->input.trace);
    return good;
}

/* ---- the report ---- */

static bool inspect_program(struct icost *job, uint32_t number, struct error *error) {
    const struct icost_program *program = &job->study.programs[number];
    struct icost_inspection *inspection = &job->inspections[number];
    const struct inspection_request request = {.parts = program->pieces.choice.parts,
                                               .top = job->verb.output.top,
                                               .threshold = job->request.threshold,
                                               .seconds =
                                                   job->input.fixed ? 0 : program->pieces.seconds};
    if (!request.parts)
        return true;
    if (!(inspection->names = program_new()))
        return error_set(error, "out of memory for the critical path");
    job->rows[number].inspection = &inspection->report;
    const struct code *code = trace_code(program->input.trace);
    if (program->path) {
        job->rows[number].path = &inspection->path;
        if (!thread_path_report_build(program->path, job->study.machine, job->verb.output.top,
                                      inspection->names, &inspection->path, error))
            return false;
    }
    return inspection_report_build(&request, &program->pieces.inspection, code, inspection->names,
                                   &inspection->report, error);
}

/* A row for each program that was measured. */
static bool fill_rows(struct icost *job, uint32_t count, struct error *error) {
    job->rows = calloc(count, sizeof *job->rows);
    job->inspections = calloc(count, sizeof *job->inspections);
    if (!job->rows || !job->inspections)
        return error_set(error, "out of memory for the report");
    for (uint32_t i = 0; i < count; i++) {
        const struct icost_program *program = &job->study.programs[i];
        struct breakdown_program *row = &job->rows[i];
        *row = (struct breakdown_program){
            .name = program->name,
            .label = program->label,
            .simulations = program->simulations,
            .shotgun = program->ways[WAY_PROFILER].cycles ? &program->shotgun : NULL,
            .cycles = program->cycles,
            .threads = program->simulation.thread_count,
            .places = program->places};
        for (int way = 0; way < WAY_COUNT; way++) {
            row->ways[way] = program->ways[way].cycles ? &program->ways[way] : NULL;
            row->seconds[way] = job->input.fixed ? 0 : program->seconds[way];
        }
        if (!inspect_program(job, i, error))
            return false;
    }
    return true;
}

/* Where functions are shown, why some have no names. */
static bool note_names(struct icost *job) {
    struct report *report = &job->report.report;
    if (!job->path.parts || !report->simulation)
        return true;
    struct program *names = program_new();
    bool good = names && missing_names_note_code(
                             report, trace_code(job->study.programs[0].input.trace), names);
    program_free(names);
    return good;
}

static char *next_of(const struct icost *job, bool unfollowed) {
    const struct icost_study_request *request = &job->request;
    const char *option = NULL;
    if (unfollowed && options_may_follow(&job->input))
        option = "--follow";
    else if (!job->report.report.partial && !job->multisim_given &&
             !breakdown_all_simulated(&job->report) && !job->category.categories.count &&
             !request->regions && !job->shotgun.path)
        option = "--multisim";
    return option ? next_with_option(option, job->verb.argc, job->verb.words) : NULL;
}

static bool add_notes(struct icost *job) {
    struct report *report = &job->report.report;
    const struct icost_study *study = &job->study;
    const struct icost_regions *estimate = &study->regions;
    const struct breakdown_regions regions = {.list = job->request.regions,
                                              .lost = &estimate->lost,
                                              .done = estimate->done,
                                              .count = estimate->count,
                                              .simulated = estimate->simulated,
                                              .instructions = estimate->list.instructions,
                                              .seconds = estimate->seconds};
    bool unfollowed = false;
    if (report->partial &&
        !report_note(report, "PARTIAL: the run was cut short; this is what was done so far"))
        return false;
    if (study->count == 1 && study->programs[0].simulation.cycles)
        report->simulation = &study->programs[0].simulation;
    report->fixed = job->input.fixed;
    for (uint32_t i = 0; i < study->count; i++)
        unfollowed |=
            study->programs[i].input.trace && note_trace(report, study->programs[i].input.trace);
    report->next = next_of(job, unfollowed);
    return note_names(job) && breakdown_note(&job->report, regions.list ? &regions : NULL);
}

/* Who called whom, in the one run. */
static bool add_calls(struct icost *job, struct error *error) {
    const struct icost_program *program = &job->study.programs[0];
    if (!(job->names = program_new()))
        return error_set(error, "out of memory for the calls");
    return paths_report(&job->paths, &job->verb, &program->simulation,
                        trace_code(program->input.trace), job->names, &job->report.report, error);
}

/* The categories that are made less or more, not taken away. */
static uint32_t changed(const struct categories *own) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < own->count; i++)
        if (own->list[i].change != CATEGORY_REMOVE)
            set |= 1u << i;
    return set;
}

REPORT_PICTURE(draw, breakdown_svg)
REPORT_FORMS(BREAKDOWN, breakdown_json, breakdown_text, draw);

bool icost_report(void *icost, struct error *error) {
    struct icost *job = icost;
    const struct icost_study *study = &job->study;
    const uint32_t measured = icost_measured(study);
    struct breakdown_report *report = &job->report;
    bool partial = verb_watch.signal;
    for (uint32_t i = 0; i < study->count; i++)
        partial |= study->programs[i].input.trace && trace_is_cut(study->programs[i].input.trace);
    if (!measured)
        return error_set(error, "interrupted before anything was measured");
    if (!fill_rows(job, measured, error))
        return false;
    *report =
        (struct breakdown_report){.report = {.verb = "icost",
                                             .machine = study->machine,
                                             .ideal = job->machine.ideal,
                                             .partial = partial},
                                  .programs = job->rows,
                                  .program_count = measured,
                                  .several = study->count > 1,
                                  .descriptions = study->descriptions,
                                  .focus = study->focus,
                                  .threshold = job->request.threshold,
                                  .largest = job->request.largest,
                                  .top = job->verb.output.top,
                                  .changed = changed(&job->category.categories),
                                  .samples = {.length = job->shotgun.options.length,
                                              .perfect = job->shotgun.design == SHOTGUN_PERFECT,
                                              .from_file = job->shotgun.path},
                                  .checked = study->checked};
    if (!breakdown_report_choose(report) || !add_notes(job))
        return error_set(error, "out of memory for the report");
    if (job->request.extents && !add_calls(job, error))
        return false;
    return verb_write_report(&job->verb, &BREAKDOWN, report, error);
}

void icost_clean_up(void *icost) {
    struct icost *job = icost;
    breakdown_report_free(&job->report);
    for (uint32_t i = 0; job->inspections && i < icost_measured(&job->study); i++) {
        inspection_report_free(&job->inspections[i].report);
        thread_path_report_free(&job->inspections[i].path);
        if (job->inspections[i].names)
            program_free(job->inspections[i].names);
    }
    free(job->inspections);
    free(job->rows);
    paths_free(&job->paths);
    if (job->names)
        program_free(job->names);
    icost_free(&job->study);
    sensitivity_free(&job->sensitivity);
    categories_free(&job->category.categories);
}
