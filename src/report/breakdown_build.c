/* What a study of interaction costs measured, as the rows and notes of its report. */
#include <stdlib.h>

#include "program/program.h"
#include "report/breakdown_report.h"
#include "report/missing_names.h"
#include "report/trace_notes.h"

/* What the pieces of a program's graph tell. */
struct inspected_program {
    struct program *names;
    struct inspection_report report;
    struct thread_path_report path;
};

static bool inspect_program(const struct breakdown_report *report, const struct icost_study *study,
                            uint32_t number, struct error *error) {
    const struct icost_program *program = &study->programs[number];
    struct inspected_program *inspected = &report->inspected[number];
    struct breakdown_program *row = &report->own_programs[number];
    const struct inspection_request request = {
        .parts = program->pieces.choice.parts,
        .top = report->top,
        .threshold = report->threshold,
        .seconds = report->report.fixed ? 0 : program->pieces.seconds};
    if (!request.parts)
        return true;
    if (!(inspected->names = program_new()))
        return error_set(error, "out of memory for the critical path");
    row->inspection = &inspected->report;
    if (program->path) {
        row->path = &inspected->path;
        if (!thread_path_report_build(program->path, study->machine, report->top, inspected->names,
                                      &inspected->path, error))
            return false;
    }
    return inspection_report_build(&request, &program->pieces.inspection,
                                   trace_code(program->input.trace), inspected->names,
                                   &inspected->report, error);
}

static bool is_cut(const struct icost_program *program) {
    return program->input.trace && trace_is_cut(program->input.trace);
}

/* A row for each program that was measured. */
static bool fill_programs(struct breakdown_report *report, const struct icost_study *study,
                          struct error *error) {
    const uint32_t count = icost_measured(study);
    report->programs = report->own_programs = calloc(count, sizeof *report->own_programs);
    report->inspected = calloc(count, sizeof *report->inspected);
    if (!report->own_programs || !report->inspected)
        return error_set(error, "out of memory for the report");
    report->program_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct icost_program *program = &study->programs[i];
        struct breakdown_program *row = &report->own_programs[i];
        *row = (struct breakdown_program){
            .name = program->name,
            .label = program->label,
            .partial = study->request->watch->signal || is_cut(program),
            .simulations = program->simulations,
            .shotgun = program->ways[WAY_PROFILER].cycles ? &program->shotgun : NULL,
            .cycles = program->cycles,
            .threads = program->simulation.thread_count,
            .places = program->places};
        for (int way = 0; way < WAY_COUNT; way++) {
            row->ways[way] = program->ways[way].cycles ? &program->ways[way] : NULL;
            row->seconds[way] = report->report.fixed ? 0 : program->seconds[way];
        }
        if (!inspect_program(report, study, i, error))
            return false;
    }
    return true;
}

void breakdown_free_programs(struct breakdown_report *report) {
    for (uint32_t i = 0; report->inspected && i < report->program_count; i++) {
        inspection_report_free(&report->inspected[i].report);
        thread_path_report_free(&report->inspected[i].path);
        if (report->inspected[i].names)
            program_free(report->inspected[i].names);
    }
    free(report->inspected);
    free(report->own_programs);
}

/* Where functions are shown, why some have no names. */
static bool note_names(struct report *report, const struct icost_study *study) {
    if (!study->request->pieces->parts || !report->simulation)
        return true;
    struct program *names = program_new();
    bool good =
        names && missing_names_note_code(report, trace_code(study->programs[0].input.trace), names);
    program_free(names);
    return good;
}

static bool add_notes(struct breakdown_report *breakdown, const struct icost_study *study,
                      bool *unfollowed) {
    struct report *report = &breakdown->report;
    const struct icost_regions *estimate = &study->regions;
    const struct breakdown_regions regions = {.list = study->request->regions,
                                              .lost = &estimate->lost,
                                              .done = estimate->done,
                                              .count = estimate->count,
                                              .simulated = estimate->simulated,
                                              .instructions = estimate->list.instructions,
                                              .seconds = estimate->seconds};
    *unfollowed = false;
    if (report->partial &&
        !report_note(report, "PARTIAL: the run was cut short; this is what was done so far"))
        return false;
    for (uint32_t i = 0; i < study->count; i++)
        *unfollowed |=
            study->programs[i].input.trace && note_trace(report, study->programs[i].input.trace);
    return note_names(report, study) && breakdown_note(breakdown, regions.list ? &regions : NULL);
}

/* The categories that are made less or more, not taken away. */
static uint32_t changed(const struct categories *own) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < own->count; i++)
        if (own->list[i].change != CATEGORY_REMOVE)
            set |= 1u << i;
    return set;
}

static bool is_partial(const struct icost_study *study) {
    bool partial = study->request->watch->signal;
    for (uint32_t i = 0; i < study->count; i++)
        partial |= is_cut(&study->programs[i]);
    return partial;
}

bool breakdown_report_build(struct breakdown_report *report, const struct icost_study *study,
                            uint32_t top, bool *unfollowed, struct error *error) {
    const struct icost_study_request *request = study->request;
    *report = (struct breakdown_report){
        .report = {.verb = "icost",
                   .machine = study->machine,
                   .ideal = request->machine->ideal,
                   .partial = is_partial(study),
                   .fixed = request->input->fixed},
        .several = study->count > 1,
        .descriptions = study->descriptions,
        .focus = study->focus,
        .threshold = request->threshold,
        .largest = request->largest,
        .top = top,
        .changed = changed(&request->category->categories),
        .samples = {.length = request->shotgun->options.length,
                    .perfect = request->shotgun->design == SHOTGUN_PERFECT,
                    .from_file = request->shotgun->path},
        .checked = study->checked};
    if (study->count == 1 && study->programs[0].simulation.cycles)
        report->report.simulation = &study->programs[0].simulation;
    return fill_programs(report, study, error) &&
           ((breakdown_report_choose(report) && add_notes(report, study, unfollowed)) ||
            error_set(error, "out of memory for the report"));
}
