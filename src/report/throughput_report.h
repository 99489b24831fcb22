/* What `culprit throughput` tells: one chip, or many (search). */
#pragma once

#include "model/throughput.h"
#include "model/throughput_check.h"
#include "model/throughput_search.h"
#include "report/report.h"

struct throughput_report {
    struct report report;      /* verb, program, machine, partial, notes, next */
    const char *const *labels; /* [program_count] */
    uint32_t program_count;
    const uint32_t *threads; /* [thread_count]: program of hardware thread h at h modulo count */
    uint32_t thread_count;
    const struct throughput_options *options;
    const struct throughput_result *result;       /* NULL: a search */
    const struct throughput_simulated *simulated; /* NULL: not checked */
    const struct throughput_search *search;       /* NULL: one chip */
    bool checked;
    double profile_seconds, model_seconds, simulation_seconds; /* processor time */
};

/* Adds to the notes what the figures rest on. `interrupted`: before all was simulated; `by_thread`:
 * threads were simulated one by one; `instructions`: profiled for it. */
void throughput_note(struct throughput_report *throughput, bool interrupted, bool by_thread,
                     uint64_t instructions);

/* Of one chip a row per core that differs, and per program what its threads miss and wait for; of
 * a search the IPC of every chip and the best. Checked: beside what was simulated. */
void throughput_text(const struct throughput_report *report, const struct page *page);
/* One object, with a newline (docs/json.md). */
bool throughput_json(const struct throughput_report *report, FILE *file, struct error *error);
/* Of one chip: each core that differs by every model. Of a search: a field for each chip. */
void throughput_svg(const struct throughput_report *report, FILE *out);

/* ---- pieces ---- */

/* Cores that run the same programs, and are predicted alike. */
struct throughput_rows {
    struct throughput_row {
        uint32_t first, count;
        double simulated; /* mean IPC; NAN */
    } * rows;
    uint32_t count;
    uint32_t *row_of; /* [cores] */
};
bool throughput_rows(const struct throughput_report *report, struct throughput_rows *rows);
void throughput_rows_free(struct throughput_rows *rows);

static inline uint32_t throughput_program(const struct throughput_report *report,
                                          uint32_t hardware_thread) {
    return report->threads[hardware_thread % report->thread_count];
}

/* Of a prediction, of what was simulated; NAN when that is nothing. */
double throughput_error(double predicted, double simulated);
/* Mean over cores, or over the chips of a search, of its absolute value. */
double throughput_mean_error(const struct throughput_report *report, enum throughput_model model);

/* How many times longer simulation took than profiles and models; NAN when one took no time. */
double throughput_speedup(const struct throughput_report *report);
