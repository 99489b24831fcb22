/* Errors of the CPI are relative; all others are differences: a small rate in percent of itself
 * means nothing (PinPoints §4.1). */
#include "report/validation.h"

#include <inttypes.h>
#include <stdlib.h>

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

static double choice_error(const struct validation *validation) {
    return validation_error(validation->within.values[METRIC_CPI],
                            validation->whole.values[METRIC_CPI]);
}

static double cold_error(const struct validation *validation,
                         const struct validation_trial *trial) {
    return validation_error(trial->metrics.values[METRIC_CPI],
                            validation->within.values[METRIC_CPI]);
}

static double total_error(const struct validation *validation,
                          const struct validation_trial *trial) {
    return validation_error(trial->metrics.values[METRIC_CPI],
                            validation->whole.values[METRIC_CPI]);
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

static void print_row(const struct validation *validation, int metric, FILE *file) {
    double whole = validation->whole.values[metric], within = validation->within.values[metric];
    if (whole < 0.0005 && within < 0.0005)
        return;
    fprintf(file, "   %-24s %10.3f %10.3f %+10.3f", metric_label(metric), whole, within,
            within - whole);
    if (metric == METRIC_CPI)
        fprintf(file, "  %+.2f %%", 100 * validation_error(within, whole));
    fputc('\n', file);
}

static void print_rows(const struct validation *validation, const char *title, int first, int end,
                       FILE *file) {
    fprintf(file, "  %s\n", title);
    for (int metric = first; metric < end; metric++)
        print_row(validation, metric, file);
}

static void print_choice(const struct validation *validation, const char *bold, const char *plain,
                         FILE *file) {
    fprintf(file, "\n%s1 choice: what the regions took within the full run, for all of it%s\n",
            bold, plain);
    fprintf(file, "  %-25s %10s %10s %10s\n", "cycles per instruction", "whole run", "regions",
            "error");
    print_row(validation, METRIC_CPI, file);
    print_rows(validation, "by commit state", METRIC_STATES, METRIC_PARTS, file);
    print_rows(validation, "by event", METRIC_PARTS, METRIC_MISSES, file);
    print_rows(validation, "misses per 1000 instructions", METRIC_MISSES, METRIC_COUNT, file);
}

static void print_markers(const struct validation_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct marker_check *markers = &report->markers;
    const struct region_list *list = report->validation->list;
    fprintf(file, "\n%s2 markers: the regions found again in another run%s\n", page->bold,
            page->plain);
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

static void print_trial(const struct validation *validation, const struct validation_trial *trial,
                        FILE *file) {
    char name[64];
    if (trial->captured)
        snprintf(name, sizeof name, "as captured (%s)", text_quantity(trial->warmed).s);
    else if (trial->warm_up == UINT64_MAX)
        snprintf(name, sizeof name, "all (%s)", text_quantity(trial->warmed).s);
    else
        snprintf(name, sizeof name, "%s", text_count(trial->warm_up).s);
    uint32_t at = trial->largest;
    fprintf(file, "   %-24s %10.3f %+9.2f %% %+9.2f %%   %+.2f %% (region %" PRIu32 ")\n", name,
            trial->metrics.values[METRIC_CPI], 100 * cold_error(validation, trial),
            100 * total_error(validation, trial),
            100 * validation_error(trial->cpi[at], validation->cpi[at]),
            validation->list->regions[at].id);
}

static void print_trials(const struct validation *validation, const char *bold, const char *plain,
                         FILE *file) {
    fprintf(file, "\n%s3 cold start: each region by itself, after a warm-up%s\n", bold, plain);
    fprintf(file, "  %-25s %10s %11s %11s   %s\n", "instructions of warm-up", "CPI", "cold start",
            "in all", "farthest by cold start");
    for (uint32_t i = 0; i < validation->trial_count; i++)
        print_trial(validation, &validation->trials[i], file);
}

void validation_text(const struct validation_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct validation *validation = report->validation;
    const struct region_list *list = validation->list;
    const char *bold = page->bold, *plain = page->plain;
    char program[4096], machine[512], fitted[512];
    text_clean(program, sizeof program, report->report.program);
    text_clean(machine, sizeof machine, report->report.machine->name);
    unsigned columns = text_columns(program) < 88 ? text_columns(program) : 88;
    fprintf(file, "%s%s%s%s\n", bold, text_fit(fitted, sizeof fitted, program, columns, TEXT_LEFT),
            plain, report->report.partial ? " (partial)" : "");
    fprintf(file, "%zu region%s of %s slices (%s), %s of %s instructions, on machine %s\n",
            list->region_count, text_plural(list->region_count), text_count(list->slice_count).s,
            list->method, text_count(validation->simulated).s,
            text_count(validation->instructions).s, machine);
    const struct validation_trial *verdict = validation_verdict(validation);
    if (verdict)
        fprintf(file,
                "%sCPI off by %+.2f %% in all: %+.2f %% by choice of the regions, %+.2f %% by cold "
                "start%s\n",
                bold, 100 * total_error(validation, verdict), 100 * choice_error(validation),
                100 * (total_error(validation, verdict) - choice_error(validation)), plain);
    print_choice(validation, bold, plain, file);
    print_markers(report, page);
    print_trials(validation, bold, plain, file);
    report_text_foot(&report->report, page);
}
