/* Programs held against their baselines: what `culprit gate` tells, and writes for systems that
 * build and test. */
#pragma once

#include <limits.h>

#include "report/baseline.h"
#include "report/compare_report.h"

enum gate_verdict {
    GATE_UNKNOWN, /* why: the error */
    GATE_PASSED,
    GATE_SLOWER, /* beyond the limit */
    GATE_WRITTEN /* to the baseline */
};

struct gate_entry {
    const char *name;
    enum gate_verdict verdict;
    struct error error;
    bool compared; /* `compare` is built: not where nothing could be, or nothing was there */
    struct compare_report compare;
    size_t bytes; /* written */
};

struct gate_report {
    const char *path; /* of the baseline */
    double limit;     /* percent */
    struct gate_entry *entries;
    size_t count;
    char *accept; /* the command by which the baseline would be written anew; NULL: none */
};

/* How many entries have a verdict. */
size_t gate_count(const struct gate_report *report, enum gate_verdict verdict);
const char *gate_word(enum gate_verdict verdict); /* "slower" */

void gate_report_text(const struct gate_report *report, const struct page *page);
bool gate_report_json(const struct gate_report *report, FILE *file, struct error *error);
void gate_report_markdown(const struct gate_report *report, FILE *file);
/* JUnit's XML: a case for each entry. */
bool gate_report_junit(const struct gate_report *report, FILE *file);
/* "::error file=row.c,line=88::...": lines that hosted systems show beside a changed line. */
void gate_report_annotations(const struct gate_report *report, FILE *file);
/* GitLab's report of code quality. */
bool gate_report_code_quality(const struct gate_report *report, FILE *file, struct error *error);

/* ---- pieces ---- */

/* What is said of an entry in a sentence; to be freed, NULL: out of memory. */
char *gate_sentence(const struct gate_report *report, const struct gate_entry *entry);
/* The line of a change that there is in the later build, as a path below the working directory;
 * false: it lies in none that is there. */
bool gate_source(const struct compared_change *change, char path[PATH_MAX], uint32_t *line);
