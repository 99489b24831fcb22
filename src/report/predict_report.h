/* What `culprit predict` tells (hybrid analytical model). */
#pragma once

#include "model/predict_regions.h"
#include "model/predict_sweep.h"
#include "report/report.h"

struct predict_report {
    struct report report; /* verb, program, machine, partial, notes, next */
    const struct predict_sweep *sweep;
    const struct machine *machines; /* that were predicted */
    uint32_t machine_count;
    const struct predict_method *methods; /* the one asked for; when checked, the refinements too */
    uint32_t method_count;
    bool checked;
    const struct hybrid_prediction *prediction;
    const struct predicted_regions *regions; /* of which the run was estimated; NULL: all of it */
};

/* Adds to the notes what the figures rest on. `whole`: instructions of the run that regions were
 * taken of. */
void predict_note(struct predict_report *predict, uint64_t whole);

/* A row per machine; of a single machine what the figure is made of. Checked: beside what was
 * simulated, and how far each refinement is off, on average over machines. */
void predict_text(const struct predict_report *report, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool predict_json(const struct predict_report *report, FILE *file, struct error *error);
/* CPI by the first figure that varies, a line for each combination of the others; dashed: what was
 * simulated. */
void predict_svg(const struct predict_report *report, FILE *out);

/* ---- pieces ---- */

static inline const struct hybrid_result *predict_result(const struct predict_report *report,
                                                         uint32_t machine, uint32_t method) {
    return &report->prediction->results[machine * report->method_count + method];
}
/* How far a method is off, of what was simulated; NAN where that is nothing. */
double predict_error(const struct predict_report *report, uint32_t machine, uint32_t method);
/* Mean over machines of the absolute value. */
double predict_mean_error(const struct predict_report *report, uint32_t method);

/* "SWAM-MLP windows, pending hits, window compensation" */
struct method_text {
    char s[160];
} predict_method_text(const struct predict_method *method, bool prefetching);
