/* What `culprit icost --sensitivity` tells (interaction-cost paper Fig. 3). */
#pragma once

#include "report/report.h"
#include "simulate/sensitivity.h"

struct sensitivity_report {
    struct report report; /* verb, program, machine, ideal, partial, notes, next */
    const struct sensitivity *study;
    uint64_t instructions; /* of each run */
};

/* Cycles, and the speedup against the first value; at most 100 columns wide with up to eight values
 * of the second parameter, then wider. */
void sensitivity_text(const struct sensitivity_report *report, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool sensitivity_json(const struct sensitivity_report *report, FILE *file, struct error *error);
/* Speedup against the first parameter, a line for each value of the second. */
void sensitivity_svg(const struct sensitivity_report *report, FILE *out);
