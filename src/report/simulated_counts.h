/* What a simulation counted, as counters of a processor would have: the first page of `culprit stat
 * --simulated`. Counts are those of the whole run, in full or estimated. */
#pragma once

#include "report/levels.h"
#include "report/report.h"

struct simulated_count {
    const char *key;  /* in reports: "l1d_misses" */
    const char *name; /* as `perf stat` has it, where it has one */
    uint64_t count;
    const char *of; /* what `share` is of; NULL: nothing is told beside it */
    double share;   /* of that: 0 to 1; or a rate, as `of` says */
    bool rate;
};

enum { SIMULATED_COUNTS = 24 };
struct simulated_counts {
    const struct report *report;
    const struct levels *levels;
    struct simulated_count items[SIMULATED_COUNTS];
    uint32_t count;
    double seconds;     /* of the machine's time */
    double half_cycles; /* half of the 95 % interval of `cycles`; 0: exact; −1: not known */
};

/* Of a report with levels; both outlive it. */
void simulated_counts_fill(const struct report *report, const struct levels *levels,
                           struct simulated_counts *counts);
void simulated_counts_text(const struct simulated_counts *counts, const struct page *page);
/* docs/json.md */
bool simulated_counts_json(const struct simulated_counts *counts, FILE *file, struct error *error);
