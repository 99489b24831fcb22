#include "query/profile_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/host_spread.h"
#include "util/order.h"

const char *const diff_measure_names[DIFF_MEASURES] = {"share", "count", "rate"};

double diff_sigmas(double before, double after, const double scales[2], double whole) {
    double common = (before + after) / (1 / scales[0] + 1 / scales[1]);
    double square = common * (1 - common / whole) * (scales[0] + scales[1]);
    return square > 0 ? (after * scales[1] - before * scales[0]) / sqrt(square) : 0;
}

static bool find_scales(struct profile_diff *diff, struct error *error) {
    for (int side = 0; side < 2; side++) {
        const struct profile_set *set = &diff->sets[side];
        double sum = profile_table_sum(diff->table, (size_t)side);
        diff->scales[side] = 1;
        if (diff->measure == DIFF_SHARE && !(sum > 0))
            return error_set(error,
                             "%s has no such samples, of which shares could be compared "
                             "(--compare count)",
                             set->label);
        if (diff->measure == DIFF_SHARE)
            diff->scales[side] = 100 / sum;
        if (diff->measure == DIFF_RATE && !(set->seconds > 0))
            return error_set(error,
                             "%s has no length, by which a rate could be told (--compare "
                             "share)",
                             set->label);
        if (diff->measure == DIFF_RATE)
            diff->scales[side] = 1 / set->seconds;
    }
    return true;
}

static int by_change(const void *left, const void *right) {
    const struct diff_row *a = left, *b = right;
    double first = fabs(a->change), second = fabs(b->change);
    return descending(first, second) ?: ascending(a->row, b->row);
}

bool profile_diff_find(struct profile_diff *diff, struct error *error) {
    if (!find_scales(diff, error))
        return false;
    const double whole = diff->measure == DIFF_SHARE ? 100 : INFINITY, *scales = diff->scales;
    diff->sampled = !strcmp(diff->events[0].unit, "samples");
    diff->count = profile_table_count(diff->table);
    if (!(diff->rows = malloc((diff->count + 1) * sizeof *diff->rows)))
        return error_set(error, "out of memory for the report");
    for (size_t i = 0; i < diff->count; i++) {
        const struct profile_row *row = profile_table_row(diff->table, i);
        const double *values = row->values;
        diff->rows[i] =
            (struct diff_row){.row = row,
                              .change = values[1] * scales[1] - values[0] * scales[0],
                              .sigmas = diff_sigmas(values[0], values[1], scales, whole),
                              .interval = NAN};
        diff->beyond += fabs(diff->rows[i].sigmas) > DIFF_NOISE;
    }
    qsort(diff->rows, diff->count, sizeof *diff->rows, by_change);
    return true;
}

void profile_diff_hosts(struct profile_diff *diff, const struct host_matrix matrices[2]) {
    const bool rate = diff->measure == DIFF_RATE;
    const struct host_side sides[2] = {{&matrices[0], rate}, {&matrices[1], rate}};
    for (size_t i = 0; diff->measure != DIFF_COUNT && i < diff->count; i++) {
        struct diff_row *row = &diff->rows[i];
        const struct host_change change = host_change_of(sides, row->row);
        diff->hosts = change.hosts;
        diff->paired = change.paired;
        row->interval = change.interval * (rate ? 1 : 100);
        diff->beyond_hosts += fabs(row->change) > row->interval;
    }
}

void profile_diff_free(struct profile_diff *diff) {
    free(diff->rows);
}

bool profile_diff_read_hosts(const struct profile_diff *diff,
                             const struct profile_table_options *rows, struct program *program,
                             struct host_matrix matrices[2], bool *read, struct error *error) {
    *read = diff->sets[0].hosts > 1 && diff->sets[1].hosts > 1 && diff->measure != DIFF_COUNT &&
            rows->by <= PROFILE_BY_LINE;
    for (int i = 0; *read && i < 2; i++)
        if (!host_matrix_read(&matrices[i], &diff->sets[i], diff->events[i].name, rows, program,
                              error))
            return false;
    return true;
}
