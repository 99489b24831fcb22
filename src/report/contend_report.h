/* What `culprit contend` tells. */
#pragma once

#include "model/contend.h"
#include "report/report.h"

struct contend_report {
    struct report report;      /* verb, program, machine, partial, notes, next */
    const char *const *labels; /* of programs */
    const struct contend_program *programs;
    uint32_t program_count, thread_count;
    const struct contend_check *check; /* NULL: not simulated */
    const struct contend_options *options;
};

/* Adds to the notes what the figures rest on. `check`: also of an interrupted one; NULL: none was
 * asked for. `instructions`: profiled for it, in so many seconds of processor time. */
void contend_note(struct contend_report *contend, const struct contend_check *check,
                  uint64_t instructions, double seconds);

/* Each program's fate in words, then tables: misses of the shared cache and, where threads share
 * cores, of the L1D, and cycles; simulated ones beside them when checked. */
void contend_text(const struct contend_report *report, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool contend_json(const struct contend_report *report, FILE *file, struct error *error);
/* Misses of the shared cache, alone and extra, a bar for each program; a second one simulated. */
void contend_svg(const struct contend_report *report, FILE *out);

/* ---- pieces ---- */

/* "L2", "LLC" */
static inline const char *contend_cache_name(const struct contend_report *report) {
    return report->report.machine->llc.present ? "LLC" : "L2";
}
static inline const struct contend_program *contend_checked(const struct contend_report *report,
                                                            uint32_t program) {
    return report->check ? &report->check->programs[program] : NULL;
}

/* What a program is like alone, in a line. */
void locality_text(const struct locality *locality, const struct machine *machine, FILE *file);
