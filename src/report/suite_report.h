/* Several pairs of builds compared: a row for each, and the geometric mean of how the cycles
 * changed (Fleming and Wallace 1986). */
#pragma once

#include "report/compare_report.h"

struct suite_row {
    const char *name;
    const struct compare_report *report; /* built; NULL: it could not be compared */
    const char *failure;                 /* why not */
};

struct suite_report {
    struct report report; /* verb, notes and next; the rest is not used */
    const struct suite_row *rows;
    size_t count;
};

void suite_report_text(const struct suite_report *report, const struct page *page);
void suite_report_markdown(const struct suite_report *report, FILE *file);
bool suite_report_json(const struct suite_report *report, FILE *file, struct error *error);
