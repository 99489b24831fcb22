#include "query/variance.h"

#include <math.h>
#include <stdlib.h>

#include "util/order.h"

void variance_of(const double *values, size_t count, struct variance *variance) {
    *variance =
        (struct variance){.minimum = count ? values[0] : 0, .maximum = count ? values[0] : 0};
    for (size_t i = 0; i < count; i++) {
        variance->sum += values[i];
        variance->sets += values[i] > 0;
        variance->minimum = fmin(variance->minimum, values[i]);
        variance->maximum = fmax(variance->maximum, values[i]);
    }
    double squares = 0;
    variance->mean = count ? variance->sum / (double)count : 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - variance->mean) * (values[i] - variance->mean);
    variance->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    variance->range =
        variance->sum > 0 ? (variance->maximum - variance->minimum) / variance->sum : 0;
}

ORDER(by_range, struct variance_row, descending(a->variance.range, b->variance.range) ?:
           descending(a->variance.sum, b->variance.sum) ?: ascending(a->row, b->row))

bool variances_find(struct variances *variances, size_t top) {
    const size_t all = profile_table_count(variances->table), sets = variances->set_count;
    for (size_t i = 0; i < sets; i++)
        variances->total += profile_table_sum(variances->table, i);
    const double least = top ? VARIANCE_LEAST * variances->total : 0;
    if (!(variances->rows = malloc((all + 1) * sizeof *variances->rows)))
        return false;
    for (size_t i = 0; i < all; i++) {
        struct variance_row row = {.row = profile_table_row(variances->table, i)};
        variance_of(row.row->values, sets, &row.variance);
        if (row.variance.sum >= least)
            variances->rows[variances->count++] = row;
        else
            variances->small++;
    }
    qsort(variances->rows, variances->count, sizeof *variances->rows, by_range);
    if (top && variances->count > top) {
        variances->more = variances->count - top;
        variances->count = top;
    }
    return true;
}

void variances_free(struct variances *variances) {
    free(variances->rows);
}
