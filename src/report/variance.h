/* How much procedures differ between sets of samples: what `culprit variance` tells (DCPI §3.3,
 * Fig. 3). */
#ifndef CULPRIT_REPORT_VARIANCE_H
#define CULPRIT_REPORT_VARIANCE_H

#include "report/profile_set.h"
#include "report/profile_table.h"

/* Of a row's values over all sets; in a set without samples of it the value is 0. */
struct variance {
    double sum, mean, minimum, maximum;
    double deviation; /* standard deviation, of a sample of sets: divided by N − 1 */
    double range;     /* (maximum − minimum) / sum; 0 of nothing */
    size_t sets;      /* that have any */
};
void variance_of(const double *values, size_t count, struct variance *variance);

struct variance_report {
    struct report report; /* verb, notes and next; the rest is not used */
    const struct profile_set *sets;
    const struct profile_event *events; /* of each set */
    size_t set_count;
    enum profile_by by;
    const struct profile_table *table;
    size_t top; /* rows shown; 0: all, also those with less than LEAST of the sum */

    struct variance_row *rows; /* by range, largest first */
    size_t count, small;       /* rows shown; left out as they have less than LEAST */
    size_t more;               /* left out for --top */
};

#define VARIANCE_LEAST 0.01 /* of all values: what is smaller varies by chance */

/* False: out of memory. variance_free() either way. */
bool variance_build(struct variance_report *report);
void variance_free(struct variance_report *report);

/* Of the row shown `index`-th, by set; NULL: there is none. */
const double *variance_values(const struct variance_report *report, size_t index);

void variance_text(const struct variance_report *report, const struct page *page);
bool variance_json(const struct variance_report *report, FILE *file, struct error *error);

#endif
