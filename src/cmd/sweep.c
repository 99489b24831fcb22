/* culprit sweep: programs on machines with all combinations of settings. */
#include "cmd/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "options/exit_status.h"
#include "trace/trace_name.h"
#include "util/text.h"

/* ---- before anything runs ---- */

static bool split_command(struct sweep_job *job, size_t number, struct error *error) {
    char *text = job->from.programs[number].command, *rest = NULL;
    struct design_program *program = &job->programs[number];
    size_t count = 0;
    if (trace_is_named(text) && !strchr(text, ' ')) {
        program->input.trace = text;
        return true;
    }
    char **words = job->words[number] = calloc(strlen(text) / 2 + 2, sizeof *words);
    if (!words)
        return error_set(error, "out of memory for a command");
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    program->input.command = words;
    return true;
}

static bool read_file(struct sweep_job *job, struct error *error) {
    struct design *design = &job->design;
    struct design_file *from = &job->from;
    if (!design_file_read(from, job->file, error))
        return false;
    if (!from->program_count)
        return error_set(error, "%s: there is no [program NAME] in it", job->file);
    if (from->machines && !design->machines.count &&
        !design_add_machines(design, from->machines, error))
        return error_prefix(error, "%s: machine", job->file);
    for (size_t i = 0; i < from->setting_count; i++)
        if (!design_add_setting(design, from->settings[i], error))
            return error_prefix(error, "%s: [set]", job->file);
    if (!design->cost)
        design->cost = from->cost;
    design->program_count = from->program_count;
    for (size_t i = 0; i < from->program_count; i++) {
        job->programs[i] =
            (struct design_program){.name = from->programs[i].name, .input = job->input};
        if (!split_command(job, i, error))
            return false;
    }
    return true;
}

static bool take_command(struct sweep_job *job, struct error *error) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    char **words = job->input.command;
    for (size_t i = 0; file && words && words[i]; i++)
        fprintf(file, "%s%s", i ? " " : "", words[i]);
    if (file && !words)
        fputs(job->input.trace, file);
    job->name = file ? text_printer_end(&printer) : NULL;
    job->programs[0] = (struct design_program){.name = job->name, .input = job->input};
    job->design.program_count = 1;
    return job->name || error_set(error, "out of memory for a command");
}

static bool prepare(void *verb, struct error *error) {
    struct sweep_job *job = verb;
    job->design.programs = job->programs;
    if (!(job->file ? read_file(job, error) : take_command(job, error)))
        return false;
    if (!job->design.cost && (job->verb.output.svg || job->sort == DESIGN_BY_COST))
        return error_set(error, "%s: of what costs? (add --cost FORMULA)",
                         job->verb.output.svg ? "--svg" : "--sort cost");
    if (job->cluster.wanted && !cluster_is_here(error))
        return false;
    return design_prepare(&job->design, error) && verb_open_report(&job->verb, error) &&
           (!job->csv || output_open(&job->csv_file, "--csv", job->csv, NULL, error));
}

static bool run(void *verb, struct error *error) {
    struct sweep_job *job = verb;
    int exec_status = 0;
    if (!design_go(&job->design, &exec_status, error)) {
        if (exec_status == STATUS_CANNOT_RUN || exec_status == STATUS_NOT_FOUND)
            job->verb.failed = exec_status;
        return false;
    }
    job->verb.measured = true;
    job->verb.ended_by = job->design.signal;
    return true;
}

/* ---- the report ---- */

enum { MOST_TOLD = 20 }; /* failures, in the notes */

static void note_failures(struct sweep_job *job) {
    const struct design *design = &job->design;
    struct report *report = &job->report.report;
    size_t told = 0;
    for (size_t i = 0; i < design->program_count; i++) {
        const struct design_program *program = &design->programs[i];
        if (program->captured && program->capture.status)
            report_note(report, "%s: it ended with status %d", program->name,
                        program->capture.status);
        if (!program->captured && program->failure.message[0])
            report_note(report, "%s: %s", program->name, program->failure.message);
    }
    for (size_t i = 0; i < design->point_count; i++) {
        const struct design_point *point = &design->points[i];
        char name[256];
        if (point->state != DESIGN_FAILED || !design->programs[point->program].captured ||
            told++ >= MOST_TOLD)
            continue;
        design_point_name(design, point, name, sizeof name);
        report_note(report, "%s failed: %s", name, point->failure.message);
    }
    if (design->failed + design->simulated + design->kept < design->point_count || design->failed)
        report_note(report, "what matters is told once all points are done");
    if (told > MOST_TOLD)
        report_note(report, "%zu more points failed", told - MOST_TOLD);
    if (design->signal)
        report_note(report, "interrupted: %zu of %zu points are missing",
                    design->point_count - design->simulated - design->kept - design->failed,
                    design->point_count);
}

REPORT_PICTURE(draw, design_report_svg)
REPORT_FORMS(POINTS, design_report_json, design_report_text, NULL);
REPORT_FORMS(PRICED, design_report_json, design_report_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct sweep_job *job = verb;
    const struct design *design = &job->design;
    job->report.design = design;
    job->report.sort = job->sort;
    job->report.report.verb = "sweep";
    if (!design_report_build(&job->report, error))
        return false;
    note_failures(job);
    if (job->csv) {
        design_report_csv(&job->report, job->csv_file.file);
        if (!output_close(&job->csv_file, error))
            return false;
    }
    if (design->late.message[0])
        verb_report_late(&job->verb, &design->late);
    if (!design->signal)
        job->verb.exit = (struct trace_exit){.known = true, .status = design->failed ? 1 : 0};
    return verb_write_report(&job->verb, design->cost ? &PRICED : &POINTS, &job->report, error);
}

static void clean_up(void *verb) {
    struct sweep_job *job = verb;
    design_report_free(&job->report);
    output_discard(&job->csv_file);
    design_free(&job->design);
    cluster_options_free(&job->cluster);
    design_file_free(&job->from);
    for (size_t i = 0; i < DESIGN_MOST_PROGRAMS; i++)
        free(job->words[i]);
    free(job->name);
}

const struct verb verb_sweep = {.line = &sweep_line,
                                .size = sizeof(struct sweep_job),
                                .prepare = prepare,
                                .run = run,
                                .report = write_report,
                                .free = clean_up};
