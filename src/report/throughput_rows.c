/* What text, JSON and pictures of a throughput prediction share. */
#include <math.h>
#include <stdlib.h>

#include "report/throughput_report.h"
#include "util/array.h"

static bool alike(const struct throughput_core *a, const struct throughput_core *b) {
    return !any_where(model, THROUGHPUT_MODELS, a->ipc[model] != b->ipc[model]) && a->p == b->p &&
           a->latency == b->latency;
}

static bool same_programs(const struct throughput_report *report, uint32_t a, uint32_t b) {
    const uint32_t threads = report->result->threads;
    for (uint32_t program = 0; program < report->program_count; program++) {
        uint32_t more = 0, less = 0;
        for (uint32_t t = 0; t < threads; t++) {
            more += throughput_program(report, a * threads + t) == program;
            less += throughput_program(report, b * threads + t) == program;
        }
        if (more != less)
            return false;
    }
    return true;
}

bool throughput_rows(const struct throughput_report *report, struct throughput_rows *rows) {
    const struct throughput_result *result = report->result;
    *rows = (struct throughput_rows){.rows = calloc(result->cores, sizeof *rows->rows),
                                     .row_of = calloc(result->cores, sizeof *rows->row_of)};
    if (!rows->rows || !rows->row_of)
        return false;
    for (uint32_t c = 0; c < result->cores; c++) {
        const uint32_t row = (uint32_t)index_where(
            i, rows->count,
            alike(&result->by_core[rows->rows[i].first], &result->by_core[c]) &&
                same_programs(report, rows->rows[i].first, c));
        if (row == rows->count)
            rows->rows[rows->count++] = (struct throughput_row){.first = c};
        rows->row_of[c] = row;
        rows->rows[row].count++;
        rows->rows[row].simulated += report->simulated ? report->simulated->by_core[c] : NAN;
    }
    for (uint32_t row = 0; row < rows->count; row++)
        rows->rows[row].simulated /= rows->rows[row].count;
    return true;
}

void throughput_rows_free(struct throughput_rows *rows) {
    free(rows->rows);
    free(rows->row_of);
    *rows = (struct throughput_rows){0};
}

double throughput_error(double predicted, double simulated) {
    return simulated > 0 ? predicted / simulated - 1 : NAN;
}

double throughput_mean_error(const struct throughput_report *report, enum throughput_model model) {
    double sum = 0;
    uint32_t known = 0;
    const uint32_t count = report->search ? report->search->count : report->result->cores;
    for (uint32_t i = 0; i < count; i++) {
        const double error = report->search ? throughput_error(report->search->points[i].ipc[model],
                                                               report->search->points[i].simulated)
                             : report->simulated
                                 ? throughput_error(report->result->by_core[i].ipc[model],
                                                    report->simulated->by_core[i])
                                 : NAN;
        if (!isnan(error)) {
            sum += fabs(error);
            known++;
        }
    }
    return known ? sum / known : NAN;
}

double throughput_speedup(const struct throughput_report *report) {
    const double model = report->profile_seconds + report->model_seconds;
    return model > 0 && report->simulation_seconds > 0 ? report->simulation_seconds / model : NAN;
}
