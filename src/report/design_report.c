#include "report/design_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/csv.h"
#include "util/file_name.h"
#include "util/order.h"

double design_point_cpi(const struct design_point *point) {
    return (double)point->result.cycles / (double)point->result.instructions;
}

bool design_report_front(const struct design_report *report, uint32_t number) {
    const struct design *design = report->design;
    const size_t each = design_configurations(design);
    return each && design_point_is_done(&design->points[number]) &&
           report->summary.front[number % each];
}

void design_point_name(const struct design *design, const struct design_point *point, char *name,
                       size_t size) {
    const char *machine =
        design->machines.count ? design->machines.values[point->machine] : point->machine_name;
    int length = snprintf(name, size, "%s", machine);
    for (size_t i = 0; i < design->axis_count && length >= 0 && (size_t)length < size; i++)
        if (design->axes[i].count > 1)
            length += snprintf(name + length, size - (size_t)length, " %s=%s", design->axes[i].key,
                               design_value(design, point, i));
}

/* ---- the order ---- */

static int compare(const void *first, const void *second, void *context) {
    const struct design_report *report = context;
    const uint32_t *a = first, *b = second;
    const struct design_point *points = report->design->points;
    const double *speeds = report->summary.speeds;
    const int cost =
        report->sort == DESIGN_BY_COST ? ascending(points[*a].cost, points[*b].cost) : 0;
    return ascending(points[*a].program, points[*b].program)
               ?: cost ?: descending(speeds[*a], speeds[*b]) ?: ascending(*a, *b);
}

bool design_report_build(struct design_report *report, struct error *error) {
    const struct design *design = report->design;
    if (!design_summary_find(design, &report->summary, error))
        return false;
    report->order = calloc(design->point_count + 1, sizeof *report->order);
    if (!report->order)
        return error_set(error, "out of memory for the report");
    for (uint32_t i = 0; i < design->point_count; i++)
        report->order[i] = i;
    if (report->sort != DESIGN_AS_GIVEN)
        qsort_r(report->order, design->point_count, sizeof *report->order, compare, report);
    return true;
}

void design_report_free(struct design_report *report) {
    design_summary_free(&report->summary);
    free(report->order);
    report_free(&report->report);
}

/* ---- comma-separated values ---- */

static void put_head(const struct design *design, FILE *file) {
    fputs("program,machine", file);
    for (size_t i = 0; i < design->axis_count; i++) {
        fputc(',', file);
        csv_put(file, design->axes[i].key);
    }
    fputs(",instructions,cycles,half_interval_95,cpi,speed,cost,front", file);
    for (int i = 0; i < COMPONENT_COUNT; i++)
        fprintf(file, ",%s", component_key((enum component)i));
    fputs(",state,failure\n", file);
}

static void put_number(FILE *file, double value) {
    fputc(',', file);
    if (isfinite(value))
        csv_put_number(file, value);
}

static void put_figures(const struct design_report *report, uint32_t number, FILE *file) {
    const struct design *design = report->design;
    const struct design_point *point = &design->points[number];
    const bool done = design_point_is_done(point);
    const double half = point->result.half_interval;
    put_number(file, done ? (double)point->result.instructions : NAN);
    put_number(file, done ? (double)point->result.cycles : NAN);
    put_number(file, done && half >= 0 ? half : NAN);
    put_number(file, done ? design_point_cpi(point) : NAN);
    put_number(file, done ? report->summary.speeds[number] : NAN);
    put_number(file, point->cost);
    fputs(!design->cost ? "," : design_report_front(report, number) ? ",yes" : ",no", file);
    for (int i = 0; i < COMPONENT_COUNT; i++)
        put_number(file, done ? (double)point->result.components[i] / CYCLE_UNITS : NAN);
}

void design_report_csv(const struct design_report *report, FILE *file) {
    static const char *const STATES[] = {[DESIGN_OPEN] = "missing",
                                         [DESIGN_DONE] = "done",
                                         [DESIGN_KEPT] = "done",
                                         [DESIGN_FAILED] = "failed"};
    const struct design *design = report->design;
    put_head(design, file);
    for (size_t i = 0; i < design->point_count; i++) {
        const struct design_point *point = &design->points[report->order[i]];
        csv_put(file, design->programs[point->program].name);
        fputc(',', file);
        csv_put(file, design->machines.count ? design->machines.values[point->machine]
                                             : point->machine_name);
        for (size_t axis = 0; axis < design->axis_count; axis++) {
            fputc(',', file);
            csv_put(file, design_value(design, point, axis));
        }
        put_figures(report, report->order[i], file);
        fprintf(file, ",%s,", STATES[point->state]);
        csv_put(file, point->state == DESIGN_FAILED ? point->failure.message : "");
        fputc('\n', file);
    }
}

/* ---- failures ---- */

enum { MOST_TOLD = 20 }; /* failures, in the notes */

void design_report_note_failures(struct design_report *report) {
    const struct design *design = report->design;
    struct report *notes = &report->report;
    size_t told = 0;
    for (size_t i = 0; i < design->program_count; i++) {
        const struct design_program *program = &design->programs[i];
        if (program->captured && program->capture.status)
            report_note(notes, "%s: it ended with status %d", program->name,
                        program->capture.status);
        if (program->captured && program->capture.cut)
            report_note(notes, "%s: the trace is cut short after %" PRIu64 " instructions",
                        program->name, program->capture.instructions);
        if (!program->captured && program->failure.message[0])
            report_note(notes, "%s: %s", program->name, program->failure.message);
    }
    for (size_t i = 0; i < design->point_count; i++) {
        const struct design_point *point = &design->points[i];
        char name[256];
        if (point->state != DESIGN_FAILED || !design->programs[point->program].captured ||
            told++ >= MOST_TOLD)
            continue;
        design_point_name(design, point, name, sizeof name);
        report_note(notes, "%s failed: %s", name, point->failure.message);
    }
    if (design->failed + design->simulated + design->kept < design->point_count || design->failed)
        report_note(notes, "what matters is told once all points are done");
    if (told > MOST_TOLD)
        report_note(notes, "%zu more points failed", told - MOST_TOLD);
    if (design->signal)
        report_note(notes, "interrupted: %zu of %zu points are missing",
                    design->point_count - design->simulated - design->kept - design->failed,
                    design->point_count);
}
