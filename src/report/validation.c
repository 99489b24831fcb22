/* Errors of the CPI are relative; all others are differences: a small rate in percent of itself
 * means nothing (PinPoints §4.3.1). */
#include "report/validation.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/table.h"
#include "util/text.h"

void marker_check(const struct region_list *list, struct marker_check *check) {
    *check = (struct marker_check){.in_order = true};
    const struct region *last = NULL;
    for (size_t i = 0; i < list->region_count; i++) {
        const struct region *region = &list->regions[i];
        if (!region->trace)
            continue;
        check->captured++;
        check->moved += region->skew != 0;
        if (llabs(region->skew) > llabs(check->largest)) {
            check->largest = region->skew;
            check->region = (uint32_t)i;
        }
        if (last && last->thread == region->thread &&
            (int64_t)region->first + region->skew < (int64_t)last->first + last->skew)
            check->in_order = false;
        last = region;
    }
    check->checked = check->captured > 0;
}

const struct validation_trial *validation_verdict(const struct validation *validation) {
    const struct validation_trial *best = validation->trial_count ? validation->trials : NULL;
    for (uint32_t i = 1; i < validation->trial_count; i++) {
        const struct validation_trial *trial = &validation->trials[i];
        if (trial->captured > best->captured ||
            (trial->captured == best->captured && trial->warm_up > best->warm_up))
            best = trial;
    }
    return best;
}

/* ---- notes ---- */

bool validation_add_worth(struct validation_report *report) {
    const struct validation *validation = report->validation;
    struct report *notes = &report->report;
    bool good = true;
    if (notes->partial)
        good &= report_note(notes, "PARTIAL: not every length of warm-up was tried");
    good &=
        report_note(notes,
                    "reference: a full simulation on the same machine description, %s in %s; "
                    "errors of the model itself are not in any figure above",
                    text_count(validation->instructions).s, text_duration(validation->seconds).s);
    if (report->hardware.known)
        good &= report_note(
            notes,
            "hardware counters of this machine, for comparison: CPI %.3f in user mode over %s "
            "instructions; that differs by the model's own error as well",
            (double)report->hardware.cycles / (double)report->hardware.instructions,
            text_count(report->hardware.instructions).s);
    else
        good &= report_note(notes, "no hardware counters were read");
    if (validation->list->instructions != validation->instructions)
        good &= report_note(notes,
                            "the list is of a run of %s instructions, the full trace has %s: part "
                            "of the error of choice may be that",
                            text_grouped(validation->list->instructions).s,
                            text_grouped(validation->instructions).s);
    if (validation->threads > 1)
        good &= report_note(notes,
                            "%" PRIu32 " guest threads: each on its own core without sharing, "
                            "cycles summed",
                            validation->threads);
    return good;
}

/* ---- text ---- */

static const char *metric_label(int metric) {
    static const char *const MISSES[] = {
        "branches", "L1I", "L1D", "L2 (and prefetches)", "LLC (and prefetches)", "ITLB", "DTLB"};
    if (metric >= METRIC_MISSES)
        return MISSES[metric - METRIC_MISSES];
    if (metric == METRIC_PARTS + PART_COMBINED)
        return "several events";
    if (metric > METRIC_PARTS)
        return psv_name((unsigned)(metric - METRIC_PARTS - 1));
    if (metric == METRIC_PARTS)
        return "Base";
    return metric == METRIC_CPI ? "CPI"
                                : commit_state_name((enum commit_state)(metric - METRIC_STATES));
}

static void put_row(struct table *table, const struct validation *validation, int metric) {
    double whole = validation->whole.values[metric], within = validation->within.values[metric];
    if (whole < 0.0005 && within < 0.0005)
        return;
    char label[64];
    snprintf(label, sizeof label, "   %s", metric_label(metric));
    table_cell(table, label);
    table_figure(table, "%.3f", whole);
    table_figure(table, "%.3f", within);
    table_figure(table, "%+.3f", text_shown(within - whole, 3));
    if (metric == METRIC_CPI)
        table_figure(table, "%+.2f %%", text_shown(100 * validation_error(within, whole), 2));
    else
        table_cell(table, "");
}

static void put_rows(struct table *table, const struct validation *validation, const char *title,
                     int first, int end) {
    table_line(table, title);
    for (int metric = first; metric < end; metric++)
        put_row(table, validation, metric);
}

static void print_choice(const struct validation *validation, const struct page *page) {
    static const struct table_column COLUMNS[] = {{"  cycles per instruction", TABLE_WORD, 0, 0, 0},
                                                  {"whole run", TABLE_FIGURE, 2, 0, 0},
                                                  {"regions", TABLE_FIGURE, 2, 0, 0},
                                                  {"error", TABLE_FIGURE, 2, 0, 0},
                                                  {"", TABLE_FIGURE, 2, 0, 0}};
    page_heading(page, "1 choice: what the regions took within the full run, for all of it", "");
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    put_row(table, validation, METRIC_CPI);
    put_rows(table, validation, "  by commit state", METRIC_STATES, METRIC_PARTS);
    put_rows(table, validation, "  by event", METRIC_PARTS, METRIC_MISSES);
    put_rows(table, validation, "  misses per 1000 instructions", METRIC_MISSES, METRIC_COUNT);
    table_end(table);
}

static void print_markers(const struct validation_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct marker_check *markers = &report->markers;
    const struct region_list *list = report->validation->list;
    page_heading(page, "2 markers: the regions found again in another run", "");
    if (report->markers_failed)
        page_wrap(page, report->markers_failed, NULL, "  ", "  ");
    if (!markers->checked && !report->markers_failed)
        page_wrap(page,
                  report->markers_kept ? report->markers_kept
                                       : "the list was not captured (culprit trace --regions)",
                  NULL, "  not tried: ", "  ");
    if (!markers->checked)
        return;
    fprintf(file, "  %" PRIu32 " of %zu regions reached, %s\n", markers->captured,
            list->region_count, markers->in_order ? "in order" : "NOT in order");
    if (markers->moved)
        fprintf(file,
                "  %" PRIu32 " began elsewhere than profiled, region %" PRIu32 " most: by %+" PRId64
                " instructions\n",
                markers->moved, list->regions[markers->region].id, markers->largest);
    else
        fprintf(file, "  all began where they were profiled, to the instruction\n");
}

static void put_trial(struct table *table, const struct validation *validation,
                      const struct validation_trial *trial) {
    uint32_t at = trial->largest;
    if (trial->captured)
        table_figure(table, "   as captured (%s)", text_quantity(trial->warmed).s);
    else if (trial->warm_up == UINT64_MAX)
        table_figure(table, "   all (%s)", text_quantity(trial->warmed).s);
    else
        table_figure(table, "   %s", text_count(trial->warm_up).s);
    table_figure(table, "%.3f", trial->metrics.values[METRIC_CPI]);
    table_figure(table, "%+.2f %%",
                 text_shown(100 * validation_cpi_error(&trial->metrics, &validation->within), 2));
    table_figure(table, "%+.2f %%",
                 text_shown(100 * validation_cpi_error(&trial->metrics, &validation->whole), 2));
    table_figure(table, "%+.2f %%",
                 text_shown(100 * validation_error(trial->cpi[at], validation->cpi[at]), 2));
    table_figure(table, "region %" PRIu32, validation->list->regions[at].id);
}

static void print_trials(const struct validation *validation, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"  instructions of warm-up", TABLE_WORD, 0, 0, 0},
        {"CPI", TABLE_FIGURE, 2, 0, 0},
        {"cold start", TABLE_FIGURE, 2, 0, 0},
        {"in all", TABLE_FIGURE, 2, 0, 0},
        {"farthest", TABLE_FIGURE, 2, 0, 0},
        {"", TABLE_WORD, 1, 0, 0}};
    page_heading(page, "3 cold start: each region by itself, after a warm-up", "");
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (uint32_t i = 0; i < validation->trial_count; i++)
        put_trial(table, validation, &validation->trials[i]);
    table_end(table);
}

void validation_text(const struct validation_report *report, const struct page *page) {
    const struct validation *validation = report->validation;
    const struct region_list *list = validation->list;
    page_title(page, report->report.program, report->report.partial);
    page_print(page, "%zu region%s of %s slice%s (%s), %s of %s instructions, on machine %s",
               list->region_count, text_plural(list->region_count), text_count(list->slice_count).s,
               text_plural(list->slice_count), list->method, text_count(validation->simulated).s,
               text_count(validation->instructions).s, report->report.machine->name);
    report_text_chosen(&report->report.machine->chosen, page);
    const struct validation_trial *verdict = validation_verdict(validation);
    fputs(page->bold, page->file);
    if (verdict) {
        const double total = validation_cpi_error(&verdict->metrics, &validation->whole);
        const double choice = validation_cpi_error(&validation->within, &validation->whole);
        page_print(page,
                   "CPI off by %+.2f %% in all: %+.2f %% by choice of the regions, %+.2f %% by "
                   "cold start",
                   text_shown(100 * total, 2), text_shown(100 * choice, 2),
                   text_shown(100 * (total - choice), 2));
    }
    fputs(page->plain, page->file);
    print_choice(validation, page);
    print_markers(report, page);
    print_trials(validation, page);
    report_text_foot(&report->report, page);
}
