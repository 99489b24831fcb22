/* How much procedures differ between sets of samples (DCPI §3.3, Fig. 3). */
#pragma once

#include "query/profile_table.h"

/* Of a row's values over all sets; in a set without samples of it the value is 0. */
struct variance {
    double sum, mean, minimum, maximum;
    double deviation; /* standard deviation, of a sample of sets: divided by N − 1 */
    double range;     /* (maximum − minimum) / sum; 0 of nothing */
    size_t sets;      /* that have any */
};
void variance_of(const double *values, size_t count, struct variance *variance);

struct variance_row {
    const struct profile_row *row;
    struct variance variance;
};

struct variances {
    const struct profile_table *table; /* a column for each set */
    size_t set_count;

    double total;              /* of all rows and sets */
    struct variance_row *rows; /* by range, largest first */
    size_t count, small;       /* rows; left out as they have less than VARIANCE_LEAST */
    size_t more;               /* left out as they are behind the `top` */
};

#define VARIANCE_LEAST 0.01 /* of all values: what is smaller varies by chance */

/* Of table and set_count: `top` rows; 0: all, also those with less than VARIANCE_LEAST. False: out
 * of memory. variances_free() either way. */
bool variances_find(struct variances *variances, size_t top);
void variances_free(struct variances *variances);
