/* The variance of all cycles is the sum of the covariances of each function's cycles with them, and
 * that of a function's the sum of those of its components: what each contributes, by which they are
 * ranked. A contribution below 0 makes the others less than they would be. */
#include "report/layouts_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_report.h"
#include "util/array.h"
#include "util/order.h"

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for layouts");
}

bool layouts_report_begin(struct layouts_report *report, uint32_t count, struct error *error) {
    report->count = count;
    report->layouts = calloc(count, sizeof *report->layouts);
    return report->layouts || no_memory(error);
}

/* ---- one layout ---- */

ORDER(by_place, struct layout_function,
      strcmp(a->image, b->image) ?: ascending(a->offset, b->offset) ?: strcmp(a->name, b->name))

static void add_units(struct layout_sum *sum, uint64_t units, uint64_t all) {
    sum->sum += units;
    sum->product += (unsigned __int128)units * all;
}

static const char *keep(struct arena *names, const char *text) {
    return arena_copy(names, text, strlen(text));
}

static struct layout_function *function_of(struct layouts_report *report,
                                           const struct report_row *row, uint64_t offset) {
    char text[ROW_TEXT_BYTES + 64];
    struct layout_function wanted = {
        .image = row->image,
        .offset = offset,
        .name = row->function ? row->function
                              : compared_name_function(text, sizeof text, row->image,
                                                       !row->is_outside, row->offset),
        .least = UINT64_MAX,
        .line = row->line};
    struct layout_function *found =
        report->known ? bsearch(&wanted, report->functions, report->known, sizeof wanted, by_place)
                      : NULL;
    for (size_t i = report->known; !found && report->relinked && i < report->function_count; i++)
        if (by_place(&wanted, &report->functions[i]) == 0)
            found = &report->functions[i];
    if (found)
        return found;
    wanted.image = keep(&report->names, wanted.image);
    wanted.name = keep(&report->names, wanted.name);
    wanted.file = row->file ? keep(&report->names, row->file) : NULL;
    if (!wanted.image || !wanted.name || (row->file && !wanted.file) ||
        !array_push(report->functions, report->capacity, report->function_count, wanted))
        return NULL;
    return &report->functions[report->function_count - 1];
}

static bool add_function(struct layouts_report *report, const struct report_row *row,
                         uint64_t offset, uint64_t all) {
    struct layout_function *function = function_of(report, row, offset);
    uint64_t components[COMPONENT_COUNT];
    if (!function)
        return false;
    stack_components(&row->stack, components);
    function->seen++;
    function->least = row->units < function->least ? row->units : function->least;
    function->most = row->units > function->most ? row->units : function->most;
    add_units(&function->all, row->units, all);
    for (int i = 0; i < COMPONENT_COUNT; i++)
        add_units(&function->components[i], components[i], all);
    return true;
}

static bool add_functions(struct layouts_report *report, const struct report_rows *rows,
                          struct report_row *row) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        all += rows->groups[i].units;
    add_units(&report->total, all, all);
    for (uint32_t i = 0; i < rows->count; i++) {
        rows_get(rows, i, row);
        if (!add_function(report, row, report->relinked ? 0 : rows->groups[i].offset, all))
            return false;
    }
    if (report->function_count)
        qsort(report->functions, report->function_count, sizeof *report->functions, by_place);
    report->known = report->function_count;
    return true;
}

bool layouts_report_take(struct layouts_report *report, uint32_t layout, const char *command,
                         const struct simulation *simulation, const struct code *code,
                         const struct machine *machine, struct error *error) {
    struct program *program = program_new();
    struct report_row *row = malloc(sizeof *row);
    struct report_rows rows = {0};
    report->machine = machine;
    if (!report->title)
        report->title = strdup(command);
    bool good = (program && row && report->title) || no_memory(error);
    good = good && rows_build(BY_FUNCTION, 0, simulation, code, program, &rows, error);
    if (good && !add_functions(report, &rows, row))
        good = no_memory(error);
    if (good)
        report->layouts[layout] = layout_cycles_of(simulation);
    rows_free(&rows);
    free(row);
    if (program)
        program_free(program);
    return good;
}

/* ---- all of them ---- */

/* `count` times the covariance with all units, times `count`. */
static double covariance(const struct layouts_report *report, const struct layout_sum *sum) {
    const __int128 count = report->spread.count;
    return (double)(count * (__int128)sum->product -
                    (__int128)sum->sum * (__int128)report->total.sum);
}

static void find_share(const struct layouts_report *report, double variance,
                       struct layout_function *function) {
    double most = 0;
    function->component = COMPONENT_EXECUTE;
    if (function->seen < report->spread.count)
        function->least = 0;
    if (variance <= 0)
        return;
    function->share = covariance(report, &function->all) / variance;
    for (int i = 0; i < COMPONENT_COUNT; i++) {
        const double part = covariance(report, &function->components[i]) / variance;
        const double along = function->share < 0 ? -part : part;
        if (along <= most)
            continue;
        most = along;
        function->component = i;
    }
}

ORDER(by_share, struct layout_function,
      descending(fabs(a->share), fabs(b->share)) ?: by_place(a, b))

bool layouts_report_build(struct layouts_report *report, struct error *error) {
    if (!layout_spread_of(report->layouts, report->count, &report->spread))
        return no_memory(error);
    const double variance = covariance(report, &report->total);
    for (size_t i = 0; i < report->function_count; i++) {
        find_share(report, variance, &report->functions[i]);
        report->varied += report->functions[i].least != report->functions[i].most;
    }
    if (report->function_count)
        qsort(report->functions, report->function_count, sizeof *report->functions, by_share);
    report->shown = report->top && report->top < report->varied ? report->top : report->varied;
    if (report->spread.half_interval > 0 &&
        !report_note(&report->report,
                     "each is an estimate of the same regions, ± %s %%, which all layouts have "
                     "in common",
                     text_percent(report->spread.half_interval, report->spread.median).s))
        return no_memory(error);
    return true;
}

void layouts_report_free(struct layouts_report *report) {
    report_free(&report->report);
    arena_free(&report->names);
    free(report->functions);
    free(report->layouts);
    free(report->title);
}
